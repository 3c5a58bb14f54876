"""CSI nodes: which storage drivers run on a node, and how many volumes they can attach there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.storage.parameters import driver_name
from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, at, each_once, not_negative, required, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_PACKAGE: Final = "k8s.io/api/storage/v1"
_LONGEST_ID: Final = 256


def _no_status(new: Object, old: Object | None, context: Context) -> None:
    """The status belongs to a feature that is off."""
    new["status"] = {}


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    _no_status(new, old, context)
    new["spec"]["drivers"] = new["spec"].get("drivers") or None  # as an empty list is kept


def _id(value: str, field: Field) -> None:
    if len(value) > _LONGEST_ID:
        field.invalid("", value, f"must be {_LONGEST_ID} characters or less")


def _topology_keys(value: Object, field: Field) -> None:
    """Told at the driver, not at the key."""
    keys: Sequence[str] = value.get("topologyKeys") or ()
    seen: set[str] = set()
    once = len(set(keys)) == len(keys)
    for _, key in field.doubtful(keys, names.are_qualified_names) if once else field.numbered(keys):
        if key in seen:
            field.duplicate("", key)
            continue
        seen.add(key)
        if not key:
            field.required("")
        field.all_invalid("", key, names.qualified_name(key))


_drivers: Final = each_once(
    "name",
    lambda value, field: field.within("name", driver_name, value.get("name", "")),
    at("nodeID", required, _id),
    at("allocatable.count", not_negative),
    _topology_keys,
)


def _same_drivers(value: Sequence[Object], field: Field) -> None:
    """A driver stays what it was on this node; only what it can attach may change."""
    if not field.updating:
        return
    before = {driver.get("name", ""): driver for driver in field.root_old["spec"].get("drivers") or ()}
    for driver in value:
        old = before.get(driver.get("name", ""))
        if old is not None and any(old.get(name) != driver.get(name) for name in ("nodeID", "topologyKeys")):
            field.invalid("", internal("CSINodeDriver", driver, _PACKAGE), IMMUTABLE)


behaviour: Final = Behaviour(
    heeds_empty=("spec.drivers",),
    prepare=_prepare,
    validate=rules(at("spec.drivers", _drivers, _same_drivers)),
    parts={"status": Part(prepare=_no_status)},
)
