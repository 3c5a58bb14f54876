"""Device taint rules: taints for devices that an administrator, not the driver, gives."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.resource import taints, words
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.machinery.rules import Field, at, defaults, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_MOST_CONDITIONS: Final = 8


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """Another effect is there since now, where the client does not say since when."""
    taint, before = new["spec"].get("taint") or {}, ((old or {}).get("spec") or {}).get("taint") or {}
    same_time = taint.get("timeAdded") == before.get("timeAdded")
    if before and taint and same_time and taint.get("effect") != before.get("effect"):
        taint["timeAdded"] = None
    taints.stamp(taint, format_time(context.now))


def _undated(taint: dict[str, Any]) -> None:
    """The time is a default, and so the writer's; the store fills it in, as it knows what time it is."""
    taint.setdefault("timeAdded", None)


def _selector(value: Object, field: Field) -> None:
    for name, rule in (("driver", words.driver), ("pool", words.pool), ("device", words.label)):
        if value.get(name) is not None:
            field.within(name, rule, value[name])


def _conditions(value: list[Object], field: Field) -> None:
    if len(value) > _MOST_CONDITIONS:
        field.too_many("", len(value), _MOST_CONDITIONS)
    conditions(value, field)


behaviour: Final = Behaviour(
    defaults=defaults({"spec.taint": _undated}),
    prepare=_prepare,
    validate=rules(
        at("spec.deviceSelector", _selector),
        at("spec.taint", taints.taint),
        at("spec.taint", taints.declared_taint),
    ),
    parts={"status": Part(validate=rules(at("status.conditions", _conditions)))},
)
