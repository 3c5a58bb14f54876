"""Priority classes: how important pods are to the scheduler."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.shared.fields import given
from pilothouse.machinery.rules import Field, at, defaults, immutable, on_create, one_of, rules
from pilothouse.registry.behaviour import Behaviour, Object

_RESERVED: Final = "system-"
_SYSTEM: Final = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_HIGHEST: Final = 1000000000
_POLICIES: Final = ("PreemptLowerPriority", "Never")

_fill = defaults({"preemptionPolicy": "PreemptLowerPriority"})


def _unlike_system_class(name: str, value: Object) -> str:
    """How a class differs from the system's own of that name."""
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value.get("value") != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    if value.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


def _value(value: Object, field: Field) -> None:
    name = value["metadata"].get("name", "")
    if name.startswith(_RESERVED):
        why = _unlike_system_class(name, value)
        if why:
            head = f"priority class names with '{_RESERVED}' prefix are reserved for system use only."
            field.forbidden("metadata.name", f"{head} error: {why}")
    elif value.get("value", 0) > _HIGHEST:
        field.forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")


def _same_value(value: Object, field: Field) -> None:
    if field.updating and value.get("value") != field.root_old.get("value"):
        field.forbidden("value", "may not be changed in an update.")


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        on_create(_value),
        on_create(at("preemptionPolicy", given, one_of(*_POLICIES))),
        _same_value,
        at("preemptionPolicy", immutable),
    ),
)
