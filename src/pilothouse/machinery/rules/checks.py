"""The small rules that every kind uses: presence, bounds, closed sets, uniqueness, immutability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from pilothouse.machinery.rules.combine import sees_absent
from pilothouse.machinery.rules.field import Field, Rule, shown

NOT_NEGATIVE: Final = "must be greater than or equal to 0"
POSITIVE: Final = "must be greater than 0"
IMMUTABLE: Final = "field is immutable"


def required_as(why: str) -> Rule:
    """Something must be there (an empty string, list or map is nothing). Later rules of the place are passed over."""

    def run(value: Any, field: Field) -> bool:
        if value is None or value == "" or value == [] or value == {}:
            field.required("", why)
            return True
        return False

    return sees_absent(run)


required: Final = required_as("")


@sees_absent
def given(value: Any, field: Field) -> bool:
    """Something must be there, even if it is empty (a pointer of the original)."""
    if value is None:
        field.required()
    return value is None


def not_empty(value: Any, field: Field) -> bool:
    """For what is there but may not be empty: `Required value`."""
    if not value:
        field.required()
    return not value


def not_negative(value: Any, field: Field) -> None:
    if value < 0:
        field.invalid("", value, NOT_NEGATIVE)


def positive(value: Any, field: Field) -> None:
    if value <= 0:
        field.invalid("", value, POSITIVE)


def between(low: int, high: int, why: str = "") -> Rule:
    """Both ends are allowed."""
    text = why or f"must be between {low} and {high}, inclusive"

    def run(value: Any, field: Field) -> None:
        if not low <= value <= high:
            field.invalid("", value, text)

    return run


def one_of(*supported: str) -> Rule:
    """A closed set; refused values show the set in the order given here (the original's, mostly sorted)."""
    allowed = frozenset(supported)

    def run(value: Any, field: Field) -> None:
        if value not in allowed:
            field.not_supported("", value, supported)

    return run


def vocabulary(check: Callable[[str], Sequence[str]]) -> Rule:
    """A check of `machinery.names`: every message it gives is an `Invalid value`."""

    def run(value: Any, field: Field) -> None:
        for why in check(value):
            field.invalid("", value, why)

    return run


def longest(limit: int) -> Rule:
    """At most so many bytes."""

    def run(value: Any, field: Field) -> None:
        if len(value) > limit or len(value.encode()) > limit:
            field.too_long("", limit)

    return run


def at_most(limit: int) -> Rule:
    """At most so many items."""

    def run(value: Any, field: Field) -> bool:
        if len(value) > limit:
            field.too_many("", len(value), limit)
        return len(value) > limit

    return run


def repeated(items: Sequence[Any], key: Callable[[Any], Any]) -> Iterator[tuple[int, Any]]:
    """Index and item of all whose key an earlier item has as well."""
    keys = [*map(key, items)]
    if len(set(keys)) == len(keys):
        return
    seen = set()
    for index, own in enumerate(keys):
        if own in seen:
            yield index, items[index]
        seen.add(own)


def unique(*keys: str) -> Rule:
    """No two items alike: whole items, or the values of one key (told at `[i].key`) or of several (told at `[i]`)."""

    def identity(item: Any) -> Any:
        if not keys:
            return item
        return item.get(keys[0]) if len(keys) == 1 else tuple(item.get(key) for key in keys)

    def run(items: Any, field: Field) -> None:
        if len(items) < 2:
            return
        for index, item in field.until_full(repeated(items, identity)):
            if len(keys) == 1:
                field.duplicate(f"[{index}].{keys[0]}", item.get(keys[0]))
            else:
                field.duplicate(f"[{index}]", {key: item.get(key) for key in keys} if keys else item)

    return run


@sees_absent
def immutable(value: Any, field: Field) -> None:
    """What was given on create stays."""
    if field.updating and value != field.old:
        field.invalid("", value, IMMUTABLE)


@sees_absent
def immutable_null(value: Any, field: Field) -> None:
    """As `immutable`, in the words of the declarative rules, which do not show the value."""
    if field.updating and value != field.old:
        field.invalid("", None, IMMUTABLE)


def must_be(expected: Any, why: str = "") -> Rule:
    """Only one value is right."""
    text = why or f"must be {shown(expected).strip(chr(34))}"

    def run(value: Any, field: Field) -> None:
        if value != expected:
            field.invalid("", value, text)

    return run


def exactly_one(members: Sequence[str], none: str, more: str, nouns: Callable[[str], str] = str) -> Rule:
    """A union: no member is `Required value: none`; each after the first is `Forbidden: more`, told at the member."""

    def run(value: Any, field: Field) -> None:
        here = [name for name in members if value.get(name) is not None]
        if not here:
            field.required("", none)
        for name in here[1:]:
            field.forbidden(nouns(name), more)

    return run
