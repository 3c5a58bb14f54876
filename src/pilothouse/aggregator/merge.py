"""One discovery document of several servers: which groups and versions there are, in the order of their priorities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pilothouse.aggregator.apiservice import APIService, by_group
from pilothouse.discovery.model import STALE, Group, Version
from pilothouse.kit.record import record

OWN_GROUP: Final = "apiregistration.k8s.io"  # has no API service: this room itself serves it, before all others
Key = tuple[str, str]  # group, version


@record
class Merged:
    """The groups in the order of /apis (core first), and the names of all but core in that of the aggregated form."""

    groups: tuple[Group, ...]
    aggregated_order: tuple[str, ...]


def merge(services: Iterable[APIService], local: Iterable[Group], remote: Mapping[Key, Version]) -> Merged:
    """`remote`: what extension servers said, also if that was a while ago (then it is marked as stale)."""
    own = {(group.name, version.name): version for group in local for version in group.versions}
    first: list[Group] = []
    rest: list[Group] = []
    orders: list[tuple[int, str]] = []
    for group in local:
        if group.name in ("", OWN_GROUP):
            first.append(group)
    first.sort(key=lambda group: group.name)
    for name, listed in by_group(services):
        if name in ("", OWN_GROUP):
            continue
        versions = tuple(_version(service, own, remote) for service in listed)
        rest.append(Group(name, versions))
        orders.append((-max(service.group_priority for service in listed), name))
    named = [group.name for group in first if group.name]
    return Merged((*first, *rest), (*named, *(name for _, name in sorted(orders))))


def _version(service: APIService, own: Mapping[Key, Version], remote: Mapping[Key, Version]) -> Version:
    found = (own if service.service is None else remote).get(service.key)
    return found or Version(service.version, (), STALE, has_page=False)
