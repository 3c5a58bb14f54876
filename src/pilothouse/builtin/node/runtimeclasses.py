"""Runtime classes: which container runtime runs a pod, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.podwarnings import replaced_label
from pilothouse.builtin.shared.resources import requirements
from pilothouse.builtin.shared.scheduling import TOLERATED, toleration
from pilothouse.builtin.shared.selectors import labels
from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, at, repeated, rules, sees_absent
from pilothouse.registry.behaviour import Behaviour, Object


def _overhead(value: Object, field: Field) -> None:
    """Judged, and told, as if it were the limits of a container."""
    requirements({"limits": value.get("podFixed") or {}}, field)


def _tolerations(value: Sequence[Object], field: Field) -> None:
    field.each("", toleration, value, free=TOLERATED)
    for index, one in field.until_full(repeated(value, lambda one: tuple(one.items()))):
        field.duplicate(f"[{index}]", internal("Toleration", one))


@sees_absent
def _handler(value: Any, field: Field) -> None:
    changed = field.updating and value != field.old
    if value:
        field.all_invalid("", value, names.label(value))
    if changed:
        field.invalid("", None, IMMUTABLE)
    if not value:
        field.required("")


def _warn(new: Object, old: Object | None) -> list[str]:
    chosen = (new.get("scheduling") or {}).get("nodeSelector") or {}
    return [f"scheduling.nodeSelector: {why}" for why in map(replaced_label, sorted(chosen)) if why]


behaviour: Final = Behaviour(
    validate=rules(
        at("overhead", _overhead),
        at("scheduling.nodeSelector", labels),
        at("scheduling.tolerations", _tolerations),
        at("handler", _handler),
    ),
    warn=_warn,
)
