"""An API service as the rest of this room sees it: which version of which group, how important, and who serves it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pilothouse.kit.record import record

MANAGED_LABEL: Final = "kube-aggregator.kubernetes.io/automanaged"
ON_START: Final = "onstart"  # made at start where it is missing, and left alone then
ALWAYS: Final = "true"  # kept as it should be
AVAILABLE: Final = "Available"
_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STABILITY: Final = {None: 2, "beta": 1, "alpha": 0}


class ServiceReference(NamedTuple):
    """A Service and the port of it that is meant."""

    namespace: str
    name: str
    port: int


@record
class APIService:
    """`service` None: this server serves it itself. `authorities`: PEM, b"" for those of the system.

    `managed`: the value of the label that says who keeps it.
    """

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: ServiceReference | None = None
    authorities: bytes = b""
    careless: bool = False
    managed: str = ""
    condition: tuple[str, str, str] = ("", "", "")  # status, reason, message of Available

    @property
    def available(self) -> bool:
        return self.condition[0] == "True"

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.version


def parse(obj: dict[str, Any]) -> APIService:
    """Of an object that was validated when it was stored."""
    spec = obj.get("spec") or {}
    metadata = obj["metadata"]
    found = spec.get("service")
    reference = None
    condition = condition_of(obj)
    if found is not None:
        reference = ServiceReference(found.get("namespace", ""), found.get("name", ""), found.get("port") or 443)
    return APIService(
        name=metadata["name"],
        group=spec.get("group", ""),
        version=spec.get("version", ""),
        group_priority=spec.get("groupPriorityMinimum", 0),
        version_priority=spec.get("versionPriority", 0),
        service=reference,
        authorities=_bytes(spec.get("caBundle") or ""),
        careless=bool(spec.get("insecureSkipTLSVerify")),
        managed=(metadata.get("labels") or {}).get(MANAGED_LABEL, ""),
        condition=(condition.get("status", ""), condition.get("reason", ""), condition.get("message", "")),
    )


def same_registration(one: APIService, other: APIService) -> bool:
    """Whether they differ in nothing but their condition and who keeps them."""
    return replace(one, condition=other.condition, managed=other.managed) == other


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b"-"  # trusts nobody


def condition_of(obj: dict[str, Any]) -> dict[str, Any]:
    """The condition Available, {} where there is none."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == AVAILABLE:
            return dict(condition)
    return {}


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Sorts versions with the newest stable one last: v10, v2, v1, v2beta1, v1alpha2, then other words by name."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return -1, 0, 0, "".join(chr(0x10FFFF - ord(letter)) for letter in version) + chr(0x10FFFF)
    return _STABILITY[match[2]], int(match[1]), int(match[3] or 0), ""


def by_group(services: Iterable[APIService]) -> list[tuple[str, list[APIService]]]:
    """Groups by the highest priority that one of their versions asks for; on a tie by that version's name.

    Within a group: the versions by their priority, then the newest first.
    """
    groups: dict[str, list[APIService]] = {}
    for service in sorted(services, key=lambda service: (-service.group_priority, service.name)):
        groups.setdefault(service.group, []).append(service)
    for versions in groups.values():
        versions.sort(key=lambda service: (service.version_priority, version_rank(service.version)), reverse=True)
    return list(groups.items())
