"""Storage version migrations: a resource's objects are to be written again in the version of today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.shared.conditions import conditions
from pilothouse.machinery.rules import IMMUTABLE, Field, at, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

# A verdict, and how the original calls it.
_FINAL: Final = (("Succeeded", "Success"), ("Failed", "Failed"))


def _resource(value: Object, field: Field) -> None:
    if not (value.get("resource") or {}).get("resource"):
        field.required("resource.resource", "resource is required to be set")


def _same_spec(value: Object, field: Field) -> None:
    if field.updating and value != field.root_old["spec"]:
        resource = value.get("resource") or {}
        shown = {"Resource": {"group": resource.get("group", ""), "resource": resource.get("resource", "")}}
        field.invalid("", shown, IMMUTABLE)


def _true(items: Sequence[Object] | None, kind: str) -> bool:
    return any(one.get("type") == kind and one.get("status") == "True" for one in items or ())


def _one_way(value: Object, field: Field) -> None:
    """A resource version is given once, and a verdict stays."""
    old = field.root_old["status"]
    before: Any = old.get("resourceVersion")
    if before and value.get("resourceVersion", "") != before:
        field.invalid("resourceVersion", value.get("resourceVersion", ""), IMMUTABLE)
    items = value.get("conditions")
    if items:
        field.within("conditions", conditions, items)
    if all(_true(items, kind) for kind, _ in _FINAL):
        why = "Both success and failed conditions cannot be true at the same time"
        field.invalid("conditions", items, why)
    if _true(items, "Running") and any(_true(items, kind) for kind, _ in _FINAL):
        why = "Running condition cannot be true when success or failed condition is true"
        field.invalid("conditions", items, why)
    for kind, name in _FINAL:
        if _true(old.get("conditions"), kind) and not _true(items, kind):
            field.invalid("conditions", items, f"{name} condition cannot be set to false once it is true")


behaviour: Final = Behaviour(
    validate=rules(at("spec", _resource), at("spec", _same_spec)),
    parts={"status": Part(validate=rules(at("status", _one_way)))},
)
