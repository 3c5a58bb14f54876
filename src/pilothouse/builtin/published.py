"""The facts of the built-in resources in the neutral words of discovery.

Which versions are served is the caller's decision: `served_by_default` is what an original with default flags does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pilothouse.builtin.facts import GroupFacts, ResourceFacts, SubresourceFacts
from pilothouse.discovery.model import Group, Resource, Subresource, Version

Served = Callable[[ResourceFacts], bool]


def served_by_default(resource: ResourceFacts) -> bool:
    return resource.default


def discovery_groups(groups: Iterable[GroupFacts], resources: Iterable[ResourceFacts], served: Served) -> list[Group]:
    """The groups that have a served resource, in the order of /apis, core first."""
    by_version: dict[tuple[str, str], list[Resource]] = {}
    for resource in resources:
        if served(resource):
            by_version.setdefault((resource.group, resource.version), []).append(_resource(resource))
    found = []
    for group in groups:
        versions = tuple(
            Version(version.version, tuple(by_version[group.name, version.version]))
            for version in group.versions
            if (group.name, version.version) in by_version
        )
        if versions:
            found.append(Group(group.name, versions))
    return found


def _resource(resource: ResourceFacts) -> Resource:
    return Resource(
        name=resource.plural,
        singular=resource.singular,
        kind=resource.kind,
        namespaced=resource.namespaced,
        verbs=resource.verbs,
        short_names=resource.short_names,
        categories=resource.categories,
        storage_version_hash=resource.storage_version_hash,
        subresources=tuple(_part(resource, part) for part in resource.subresources),
    )


def _part(resource: ResourceFacts, part: SubresourceFacts) -> Subresource:
    if (part.group, part.version) == (resource.group, resource.version):
        return Subresource(part.name, part.kind, part.verbs)
    return Subresource(part.name, part.kind, part.verbs, part.group, part.version)
