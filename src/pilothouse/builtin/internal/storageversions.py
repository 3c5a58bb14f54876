"""Storage versions: what each server of a cluster says about the version in which it stores a resource."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, on_create, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

_STATUSES: Final = ("False", "True", "Unknown")
_NO_COMMON: Final = (
    "should be nil if servers do not agree on the encoding version, or if there is no server reporting the supported "
    "versions yet"
)


def _name(value: Object, field: Field) -> None:
    """The name is the group and the resource."""
    name = value["metadata"].get("name", "")
    group, dot, resource = name.rpartition(".")
    if not dot or not group or not resource:
        field.invalid("metadata.name", name, "name must be in the form of <group>.<resource>")


def _servers(value: Sequence[Object], field: Field) -> None:
    seen: set[str] = set()

    def server(one: Object, inner: Field) -> None:
        name, version = one.get("apiServerID", ""), one.get("encodingVersion", "")
        inner.all_invalid("apiServerID", name, names.label(name))
        if name in seen:
            inner.duplicate("apiServerID", name)
        seen.add(name)
        if version not in (one.get("decodableVersions") or ()):
            why = f"decodableVersions must include encodingVersion {version}"
            inner.invalid("decodableVersions", one.get("decodableVersions"), why)

    field.each("", server, value)


def _common(value: Object, field: Field) -> None:
    """All servers store in one version, or there is no common one."""
    versions = {one.get("encodingVersion", "") for one in value.get("storageVersions") or ()}
    said = value.get("commonEncodingVersion")
    actual = versions.pop() if len(versions) == 1 else None
    if said == actual:
        return
    why = f"the actual common encoding version is {actual}" if actual is not None else _NO_COMMON
    field.invalid("commonEncodingVersion", said, why)


def _conditions(value: Sequence[Object], field: Field) -> None:
    seen: set[str] = set()

    def condition(one: Object, inner: Field) -> None:
        kind, status = one.get("type", ""), one.get("status", "")
        if not kind:
            inner.required("type")
        if kind in seen:
            inner.duplicate("type", kind)
        seen.add(kind)
        if status not in _STATUSES:
            inner.not_supported("status", status, _STATUSES)
        if not one.get("reason"):
            inner.required("reason")

    field.each("", condition, value)


behaviour: Final = Behaviour(
    validate=rules(on_create(_name)),
    parts={
        "status": Part(
            validate=rules(
                at("status.storageVersions", _servers),
                at("status", _common),
                at("status.conditions", _conditions),
            )
        )
    },
)
