"""Combinators: how a kind's rules are written down, and compiled to closures while its module is imported.

    validate = rules(
        at("spec.replicas", not_negative),
        at("spec.selector", required, label_selector, immutable),
        at("spec.ports", each(port), unique("name")),
    )

Rules run in the order written, which is the order of the causes. A rule sees only values that are there; one marked
`sees_absent` (required, immutable, ...) is also run with None where nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.machinery.errors import Cause
from pilothouse.machinery.rules.field import Field, Rule

Validate = Callable[[dict[str, Any], "dict[str, Any] | None", Any], Sequence[Cause]]
Condition = Callable[[Any, Field], bool]

_NOTHING: Final[tuple[Cause, ...]] = ()


class _Heedful:
    """A rule that has something to say where there is no value."""

    __slots__ = ("run",)

    def __init__(self, run: Rule) -> None:
        self.run: Final = run

    def __call__(self, value: Any, field: Field) -> bool | None:
        return self.run(value, field)


def sees_absent(rule: Rule) -> Rule:
    """A rule that is asked where there is no value, too (it gets None)."""
    return _Heedful(rule)


def _heeds_absence(rule: Rule) -> bool:
    return isinstance(rule, _Heedful)


def _bare(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules without what says when they are asked."""
    return tuple([rule.run if isinstance(rule, _Heedful) else rule for rule in rules])


def _as_one(rules: Sequence[Rule]) -> Rule:
    return _bare(rules)[0] if len(rules) == 1 else _bare([together(*rules)])[0]


def rules(*parts: Rule) -> Validate:
    """The `validate` of a Behaviour or a Part: `(new, old or None on create, context) -> causes`."""

    every = _bare(parts)

    def validate(new: dict[str, Any], old: dict[str, Any] | None, context: Any) -> Sequence[Cause]:
        field = Field(new, old, context)
        for part in every:
            part(new, field)
            if field.found and field.full:
                break
        return field.causes() if field.found else _NOTHING

    return validate


def together(*parts: Rule) -> Rule:
    """Several rules as one; stops where one of them says so."""

    every = _bare(parts)

    def run(value: Any, field: Field) -> bool | None:
        for part in every:
            if part(value, field) or (field.found and field.full):
                return True
        return None

    return sees_absent(run) if any(map(_heeds_absence, parts)) else run


def dig(value: Any, steps: Sequence[str]) -> Any:
    """The value at the end of the steps; None where a step is missing."""
    for step in steps:
        if value is None:
            return None
        value = value.get(step)
    return value


def at(path: str, *parts: Rule) -> Rule:
    """Rules for the value at a path of struct fields, such as `spec.strategy.type`."""
    steps = tuple(path.split("."))
    heedful = _bare([part for part in parts if _heeds_absence(part)])
    every = _bare(parts)
    last = steps[-1]
    parents = steps[:-1]

    def run(value: Any, field: Field) -> None:
        inner = value
        for step in parents:
            if inner is None:
                break
            inner = inner.get(step)
        if inner is not None:
            inner = inner.get(last)
        todo = every if inner is not None else heedful
        if not todo:
            return
        found = field.found
        before = len(found)
        if field.updating:
            outer = field.old
            field.old = dig(outer, steps)
            for part in todo:
                if part(inner, field) or (found and field.full):
                    break
            field.old = outer
        else:
            for part in todo:
                if part(inner, field) or (found and field.full):
                    break
        if len(found) > before:
            field.prefix(before, path)

    return sees_absent(run)


def each(*parts: Rule, key: str = "") -> Rule:
    """Rules for every item of a list. With `key`, items see the old item that has the same value of that field."""
    rule = _as_one(parts)

    def run(items: Any, field: Field) -> None:
        if key and field.updating:
            _each_paired(items, field, rule, key)
        else:
            field.each("", rule, items, alone=True)

    return run


def _each_paired(items: Sequence[Any], field: Field, rule: Rule, key: str) -> None:
    outer = field.old
    paired = {item.get(key): item for item in outer or ()}
    for index, item in enumerate(items):
        before = len(field.found)
        field.old = paired.get(item.get(key))
        rule(item, field)
        if len(field.found) > before:
            field.prefix(before, f"[{index}]")
            if field.full:
                break
    field.old = outer


def each_once(member: str, *parts: Rule, then: Rule | None = None) -> Rule:
    """Rules for every item of a list, of which no two have the same `member` (told there); `then` is run after that."""

    every = _bare(parts)

    def run(items: Any, field: Field) -> None:
        seen: set[Any] = set()

        def judge(item: Any, inner: Field) -> None:
            for part in every:
                part(item, inner)
            own = item.get(member, "")
            if own in seen:
                inner.duplicate(member, own)
            seen.add(own)
            if then is not None:
                then(item, inner)

        field.each("", judge, items)

    return run


def each_value(*parts: Rule) -> Rule:
    """Rules for every value of a map, told as `[key]`."""
    rule = _as_one(parts)

    def run(values: Any, field: Field) -> None:
        field.each_value("", rule, values)

    return run


def each_key(check: Callable[[str], Sequence[str]], show: str = "") -> Rule:
    """A vocabulary check of every key of a map, told at the map itself, or at `[key]` with show="[]"."""

    def run(values: Any, field: Field) -> None:
        for name in field.names(values):
            whys = check(name)
            if whys:
                field.all_invalid(f"[{name}]" if show else "", name, whys)

    return run


def when(condition: Condition, *parts: Rule) -> Rule:
    """Rules that hold only where the condition does: `when(is_set("paused"), ...)`."""
    rule = _as_one(parts)

    def run(value: Any, field: Field) -> bool | None:
        return rule(value, field) if condition(value, field) else None

    return sees_absent(run) if any(map(_heeds_absence, parts)) else run


def on_create(*parts: Rule) -> Rule:
    """Rules that new objects alone must keep."""
    return when(lambda _, field: not field.updating, *parts)


def on_update(*parts: Rule) -> Rule:
    """Rules for a change: they look at `field.old`."""
    return when(lambda _, field: field.updating, *parts)


def if_changed(*parts: Rule) -> Rule:
    """Ratcheting: a value that is as it was is not judged again."""
    return when(lambda value, field: not field.updating or value != field.old, *parts)
