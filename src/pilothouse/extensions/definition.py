"""A custom resource definition as the rest of this room sees it: parsed once, frozen, comparable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from typing import Any, Final

from pilothouse.kit.record import record

Object = dict[str, Any]

NAMES_ACCEPTED: Final = "NamesAccepted"
ESTABLISHED: Final = "Established"
TERMINATING: Final = "Terminating"
CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STABILITY: Final = {None: 2, "beta": 1, "alpha": 0}


@record
class Names:
    plural: str = ""
    singular: str = ""
    kind: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


@record
class ScalePaths:
    """JSON paths of what a Scale shows, as the definition has them (`.spec.replicas`)."""

    replicas: str
    status_replicas: str
    selector: str = ""


@record
class Version:
    """One version. `schema`: its openAPIV3Schema; `columns` and `selectable` as the definition has them."""

    name: str
    served: bool
    storage: bool
    schema: Object = field(hash=False)
    status: bool = False
    scale: ScalePaths | None = None
    deprecated: bool = False
    warning: str = ""
    columns: tuple[Object, ...] = field(default=(), hash=False)
    selectable: tuple[str, ...] = ()


@record
class Definition:
    """`wanted` are the names that it asks for, `names` those it was given. `conditions`: type -> status."""

    name: str
    uid: str
    group: str
    namespaced: bool
    wanted: Names
    names: Names
    versions: tuple[Version, ...]
    conversion: Object = field(hash=False)
    conditions: dict[str, str] = field(hash=False)

    def is_true(self, condition: str) -> bool:
        return self.conditions.get(condition) == "True"

    @property
    def answers(self) -> bool:
        """Whether its objects can be asked for."""
        return self.is_true(NAMES_ACCEPTED) or self.is_true(ESTABLISHED)

    @property
    def storage(self) -> Version:
        """The version in which objects are kept."""
        return next((version for version in self.versions if version.storage), self.versions[0])

    @property
    def served(self) -> list[Version]:
        """Served versions, the preferred one first."""
        return by_preference(version for version in self.versions if version.served)

    def key_prefix(self) -> str:
        """Where its objects are stored."""
        return f"/registry/{self.group}/{self.wanted.plural}/"


# By group and version, with the versions that are served under that name.
Served = dict[tuple[str, str], list[tuple[Definition, Version]]]


def parse(obj: Object) -> Definition:
    """Of a stored definition, which was validated when it was written."""
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    return Definition(
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        group=spec["group"],
        namespaced=spec.get("scope") == "Namespaced",
        wanted=names_of(spec.get("names") or {}),
        names=names_of(status.get("acceptedNames") or {}),
        versions=tuple(_version(one) for one in spec.get("versions") or ()),
        conversion=spec.get("conversion") or {},
        conditions={one.get("type", ""): one.get("status", "") for one in status.get("conditions") or ()},
    )


def names_of(value: Object) -> Names:
    return Names(
        plural=value.get("plural", ""),
        singular=value.get("singular", ""),
        kind=value.get("kind", ""),
        list_kind=value.get("listKind", ""),
        short_names=tuple(value.get("shortNames") or ()),
        categories=tuple(value.get("categories") or ()),
    )


def _version(value: Object) -> Version:
    parts = value.get("subresources") or {}
    scale = parts.get("scale")
    return Version(
        name=value["name"],
        served=bool(value.get("served")),
        storage=bool(value.get("storage")),
        schema=(value.get("schema") or {}).get("openAPIV3Schema") or {},
        status=parts.get("status") is not None,
        scale=_scale(scale) if scale is not None else None,
        deprecated=bool(value.get("deprecated")),
        warning=value.get("deprecationWarning") or "",
        columns=tuple(value.get("additionalPrinterColumns") or ()),
        selectable=tuple(one["jsonPath"] for one in value.get("selectableFields") or ()),
    )


def _scale(value: Object) -> ScalePaths:
    return ScalePaths(value["specReplicasPath"], value["statusReplicasPath"], value.get("labelSelectorPath") or "")


def version_rank(name: str) -> tuple[int, int, int, str]:
    """Sorts versions, the preferred one last: v10, v2, v1, v2beta1, v1alpha2, then other words by name."""
    found = _VERSION.fullmatch(name)
    if found is None:
        return -1, 0, 0, "".join(chr(0x10FFFF - ord(sign)) for sign in name) + chr(0x10FFFF)
    return _STABILITY[found[2]], int(found[1]), int(found[3] or 0), ""


def by_preference(versions: Iterable[Version]) -> list[Version]:
    return sorted(versions, key=lambda version: version_rank(version.name), reverse=True)


def deprecation(definition: Definition, version: Version) -> str:
    """What is told to everyone who uses the version; "" where it is not deprecated."""
    if not version.deprecated:
        return ""
    if version.warning:
        return version.warning
    kind = definition.names.kind or definition.wanted.kind
    text = f"{definition.group}/{version.name} {kind} is deprecated"
    for other in definition.served:
        if not other.deprecated and version_rank(other.name) > version_rank(version.name):
            return f"{text}; use {definition.group}/{other.name} {kind}"
    return text
