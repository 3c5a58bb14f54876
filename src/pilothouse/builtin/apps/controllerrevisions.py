"""ControllerRevisions: a number and a document that never changes."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.rules import IMMUTABLE, Field, at, not_negative, on_update, rules, sees_absent
from pilothouse.registry.behaviour import Behaviour

_JSON: Final = "data must be a valid JSON object"


def _sorted(value: Any) -> Any:
    """As patches leave documents: keys in order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


@sees_absent
def _data(value: Any, field: Field) -> None:
    if value is None:
        field.required("", "data is mandatory")
    elif not isinstance(value, dict):
        field.required("", _JSON)


@sees_absent
def _fixed(value: Any, field: Field) -> None:
    if value != field.old:
        field.invalid("", _sorted(value), IMMUTABLE)


behaviour = Behaviour(
    validate=rules(at("revision", not_negative), at("data", on_update(_fixed), _data)),
)
