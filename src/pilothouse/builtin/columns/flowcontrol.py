"""The flowcontrol.apiserver.k8s.io group."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import NONE, Object, Template, age, items, name, number, part, row, text


def _dangling(obj: Object) -> str:
    """Whether the priority level it names is missing, as the last condition of that kind says."""
    shown = "?"
    for one in items(part(obj, "status"), "conditions"):
        if one.get("type") == "Dangling":
            shown = one.get("status") or ""
    return shown


def _level(obj: Object) -> list[Any]:
    spec = part(obj, "spec")
    limited = spec.get("limited")
    shares: Any = NONE
    queues: list[Any] = [NONE, NONE, NONE]
    if limited is not None:
        shares = limited.get("nominalConcurrencyShares") or 0
        queuing = part(limited, "limitResponse").get("queuing")
        if queuing is not None:
            queues = [queuing.get(member) or 0 for member in ("queues", "handSize", "queueLengthLimit")]
    return [name(obj), spec.get("type") or "", shares, *queues, age(obj)]


def _precedence(obj: Object) -> tuple[int, str]:
    """Flow schemas are shown in the order in which they are asked."""
    return part(obj, "spec").get("matchingPrecedence") or 0, name(obj)


RANKS: Final = {"flowschemas": _precedence}
ROWS: Final[dict[str, Template]] = {
    "flowschemas": row(
        name,
        text("spec.priorityLevelConfiguration.name", NONE),
        number("spec.matchingPrecedence"),
        text("spec.distinguisherMethod.type", NONE),
        age,
        _dangling,
    ),
    "prioritylevelconfigurations": _level,
}
