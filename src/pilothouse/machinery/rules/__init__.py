"""The kit that kinds are written with: where problems go, how rules combine, defaults (docs/designs/kinds.md)."""

from pilothouse.machinery.rules.checks import (
    IMMUTABLE,
    NOT_NEGATIVE,
    POSITIVE,
    at_most,
    between,
    exactly_one,
    given,
    immutable,
    immutable_null,
    longest,
    must_be,
    not_empty,
    not_negative,
    one_of,
    positive,
    repeated,
    required,
    required_as,
    unique,
    vocabulary,
)
from pilothouse.machinery.rules.combine import (
    Validate,
    at,
    dig,
    each,
    each_key,
    each_once,
    each_value,
    if_changed,
    on_create,
    on_update,
    rules,
    sees_absent,
    together,
    when,
)
from pilothouse.machinery.rules.defaults import Defaults, computed, defaults, when_is
from pilothouse.machinery.rules.field import Field, Rule, as_json, join, quoted, shown, sorted_map

__all__ = [
    "Defaults", "Field", "IMMUTABLE", "NOT_NEGATIVE", "POSITIVE", "Rule", "Validate", "as_json", "at",
    "at_most", "between", "computed", "defaults", "dig", "each", "each_key", "each_once", "each_value", "exactly_one",
    "given", "if_changed", "immutable", "immutable_null", "join", "longest", "must_be", "not_empty", "not_negative",
    "on_create", "on_update", "one_of", "positive", "quoted", "repeated", "required", "required_as", "rules",
    "sees_absent", "shown", "sorted_map", "together", "unique", "vocabulary", "when", "when_is",
]  # fmt: skip
