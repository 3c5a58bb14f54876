"""Taints of devices: why nobody, or not everybody, may use them."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field
from pilothouse.registry.behaviour import Object

_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")


def stamp(taint: Object, now: str) -> None:
    """A taint that does not say since when is from now."""
    if taint and not taint.get("timeAdded"):
        taint["timeAdded"] = now


def taint(value: Object, field: Field) -> None:
    key, text = value.get("key", ""), value.get("value", "")
    field.all_invalid("key", key, names.qualified_name(key))
    if text:
        field.all_invalid("value", text, names.label_value(text))


def declared_taint(value: Object, field: Field) -> None:
    """The second half of the rules."""
    effect = value.get("effect", "")
    if effect not in _EFFECTS:
        field.outside("effect", effect, _EFFECTS)
