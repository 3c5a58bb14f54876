"""Storage versions: what each server of a cluster says about the version in which it stores a resource."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, each_once, on_create, rules
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


def _server_name(value: Object, field: Field) -> None:
    name = value.get("apiServerID", "")
    field.all_invalid("apiServerID", name, names.label(name))


def _decodable(value: Object, field: Field) -> None:
    version = value.get("encodingVersion", "")
    if version not in (value.get("decodableVersions") or ()):
        why = f"decodableVersions must include encodingVersion {version}"
        field.invalid("decodableVersions", value.get("decodableVersions"), why)


def _common(value: Object, field: Field) -> None:
    """All servers store in one version, or there is no common one."""
    versions = {one.get("encodingVersion", "") for one in value.get("storageVersions") or ()}
    said = value.get("commonEncodingVersion")
    actual = versions.pop() if len(versions) == 1 else None
    if said == actual:
        return
    why = f"the actual common encoding version is {actual}" if actual is not None else _NO_COMMON
    field.invalid("commonEncodingVersion", said, why)


def _type(value: Object, field: Field) -> None:
    if not value.get("type"):
        field.required("type")


def _verdict(value: Object, field: Field) -> None:
    status = value.get("status", "")
    if status not in _STATUSES:
        field.not_supported("status", status, _STATUSES)
    if not value.get("reason"):
        field.required("reason")


behaviour: Final = Behaviour(
    validate=rules(on_create(_name)),
    parts={
        "status": Part(
            validate=rules(
                at("status.storageVersions", each_once("apiServerID", _server_name, then=_decodable)),
                at("status", _common),
                at("status.conditions", each_once("type", _type, then=_verdict)),
            )
        )
    },
)
