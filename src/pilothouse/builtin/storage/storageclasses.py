"""Storage classes: how volumes are made for claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.shared.fields import given
from pilothouse.builtin.shared.podwarnings import replaced_label
from pilothouse.builtin.storage.parameters import at_most_so_many, provisioner
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, immutable_null, one_of, repeated, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_POLICIES: Final = ("Delete", "Retain")

_fill = defaults({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})


def _reclaim_policy(value: str, field: Field) -> None:
    if value:
        one_of(*_POLICIES)(value, field)


def _values(value: Sequence[str], field: Field) -> None:
    if not value:
        field.required()
    for index, text in field.until_full(repeated(value, str)):
        field.duplicate(f"[{index}]", text)


def _term(value: Object, field: Field) -> dict[str, frozenset[str]]:
    """Checks the requirements of one term, and gives them as key -> values."""
    found: dict[str, frozenset[str]] = {}

    def requirement(one: Object, inner: Field) -> None:
        key, values = one.get("key", ""), one.get("values") or ()
        inner.within("values", _values, values)
        inner.all_invalid("key", key, names.qualified_name(key))
        if key in found:
            inner.duplicate("key", key)
        found[key] = frozenset(values)

    field.each("matchLabelExpressions", requirement, value.get("matchLabelExpressions"))
    return found


def _topologies(value: Sequence[Object], field: Field) -> None:
    """Terms differ from one another, and from nothing: an empty one counts as said twice."""
    seen: list[dict[str, frozenset[str]]] = [{}]

    def term(one: Object, inner: Field) -> None:
        found = _term(one, inner)
        if found in seen:
            inner.duplicate("matchLabelExpressions", "")
        seen.append(found)

    field.each("", term, value)


def _warn(new: Object, old: Object | None) -> list[str]:
    return [
        f"allowedTopologies[{index}].matchLabelExpressions[{number}].key: {why}"
        for index, term in enumerate(new.get("allowedTopologies") or ())
        for number, one in enumerate(term.get("matchLabelExpressions") or ())
        if (why := replaced_label(one.get("key", "")))
    ]


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        at("provisioner", provisioner),
        at("parameters", at_most_so_many),
        at("reclaimPolicy", _reclaim_policy),
        at("volumeBindingMode", given, one_of(*_MODES)),
        at("allowedTopologies", _topologies),
        at("provisioner", required),
        at("provisioner", immutable_null),
        at("parameters", immutable_null),
        at("reclaimPolicy", immutable_null),
        at("volumeBindingMode", immutable_null),
    ),
    warn=_warn,
)
