"""Rules of a schema (`x-kubernetes-validations`) tried on an object.

Rules of a node are tried before those below it. On an update, what is as it was before is not refused: a rule that it
breaks is only warned of. Everything together has one budget; when that is used up, no more rules are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.cel.environment import PER_CALL, PER_REQUEST, Answer
from pilothouse.cel.schemarules import Rule, rules_of
from pilothouse.cel.schemavalues import converter
from pilothouse.cel.values import NO_OVERLOAD, NONE, BadData, Optional
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.structural import unique
from pilothouse.machinery.structural.check import same
from pilothouse.machinery.structural.node import Node

_ABSENT: Final = object()
_UNSEEN: Final = object()
_NOWHERE: Final = "<nil>"
_LONGEST: Final = 5 * 1024  # letters of a message that an expression makes
_SCALARS: Final = (str, int, float, bool)
_LEAD: Final = {
    "FieldValueInvalid": "Invalid value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueRequired": "Required value",
    "FieldValueForbidden": "Forbidden",
}
_NO_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_TOO_MUCH: Final = "no further validation rules will be run due to call cost exceeds limit for rule"
_NO_MATCH: Final = "call arguments did not match a supported operator, function or macro signature for rule"


def broken(
    root: Node, obj: Any, old: Any | None, warn: Callable[[str], None], *, budget: int = PER_REQUEST
) -> Sequence[Cause]:
    """What rules say against an object that keeps its schema. `old`: None on create. Old sins go to `warn`."""
    walk = _Walk(warn, budget)
    walk.value(root, obj, _UNSEEN, _ABSENT if old is None else old, "")
    return walk.found


class _Walk:
    def __init__(self, warn: Callable[[str], None], budget: int) -> None:
        self._warn = warn
        self._budget = budget
        self.found: list[Cause] = []

    def value(self, node: Node, value: Any, seen: Any, old: Any, path: str) -> bool:
        """`seen`: the value as rules see it, if that is known. False: the budget is used up."""
        if value is None or not node.has_rules:
            return True
        rules = rules_of(node)
        if rules:
            if seen is _UNSEEN:
                seen = converter(node)(value)
            if not self._try_all(node, rules, value, seen, old, path):
                return False
        if value.__class__ is dict:
            return self._members(node, value, seen, old, path)
        if value.__class__ is list and node.items is not None and node.items.has_rules:
            return self._items(node, node.items, value, seen, old, path)
        return True

    def _members(self, node: Node, value: dict[str, Any], seen: Any, old: Any, path: str) -> bool:
        before = old if old.__class__ is dict else {}
        known = seen if seen is not _UNSEEN else {}
        properties, additional = node.properties, node.additional
        if additional is not None:
            if not additional.has_rules:
                return True
            return all(
                self.value(additional, value[key], known.get(key, _UNSEEN), before.get(key, _ABSENT), f"{path}[{key}]")
                for key in sorted(value)
            )
        for name in _ruled(node):
            if name in value:
                below = f"{path}.{name}" if path else name
                child = known.get(name, _UNSEEN)
                if not self.value(properties[name], value[name], child, before.get(name, _ABSENT), below):
                    return False
        return True

    def _items(self, node: Node, items: Node, value: list[Any], seen: Any, old: Any, path: str) -> bool:
        known: dict[Any, Any] = {}
        key: Callable[[Any], Any] | None = None
        if node.list_type == "map" and old.__class__ is list:
            key = unique.key_of(node)
            known = {key(item): item for item in old}
        for place, item in enumerate(value):
            before = known.get(key(item), _ABSENT) if key is not None else _ABSENT
            child = seen[place] if seen is not _UNSEEN else _UNSEEN
            if not self.value(items, item, child, before, f"{path}[{place}]"):
                return False
        return True

    # -- rules of one node

    def _try_all(self, node: Node, rules: tuple[Rule, ...], value: Any, seen: Any, old: Any, path: str) -> bool:
        kind = node.type
        old_seen: Any = _UNSEEN
        there = old is not _ABSENT and old is not None
        for rule in rules:
            if rule.uses_old and not there and not rule.optional_old:
                continue
            if rule.uses_old and there and old_seen is _UNSEEN:
                old_seen = converter(node)(old)
            before = old_seen if rule.uses_old and there else None
            place = _Place(kind, value, seen, before, there, old, path)
            if not self._try(rule, place):
                return False
        return True

    def _try(self, rule: Rule, place: _Place) -> bool:
        """False: no more rules."""
        if rule.program is None:
            if rule.problem:
                self._tell(rule, place, f"rule compile error: {rule.problem}", of_type=True)
            return True
        bound: Any = place.before
        if rule.optional_old:
            bound = Optional(place.before) if place.there else NONE
        answer = rule.program.call((place.seen, bound), PER_CALL)
        if place.seen.__class__ is BadData and rule.program.names():
            answer = Answer(None, place.seen.text, answer.cost)
        self._budget -= min(answer.cost, PER_CALL)
        if answer.over_limit:
            self._tell(rule, place, f"'{answer.error}': {_TOO_MUCH}: {rule.title}", of_type=True, always=True)
            return False
        if self._budget < 0:
            self._tell(rule, place, _NO_BUDGET, of_type=True, always=True)
            return False
        if answer.error is not None:
            if answer.error.startswith(NO_OVERLOAD):
                text = f"'{answer.error}': {_NO_MATCH}: {rule.title}"
            else:
                text = f"{answer.error} evaluating rule: {rule.title}"
            self._tell(rule, place, text, of_type=True)
        elif answer.value is not True:
            self._tell(rule, place, self._message(rule, place))
            if self._budget < 0:
                self._tell(rule, place, _NO_BUDGET, of_type=True, always=True)
                return False
        return True

    def _message(self, rule: Rule, place: _Place) -> str:
        if rule.message is None:
            return rule.told
        answer = rule.message.call((place.seen, place.before), max(0, min(PER_CALL, self._budget)))
        self._budget -= min(answer.cost, PER_CALL)
        if answer.error is not None or answer.value.__class__ is not str:
            return rule.told
        text = str(answer.value).strip()
        return text if text and "\n" not in text and len(text) <= _LONGEST else rule.told

    def _tell(self, rule: Rule, place: _Place, text: str, *, of_type: bool = False, always: bool = False) -> None:
        """`of_type`: the value is called by its type. `always`: even where nothing changed."""
        reason, path = rule.reason, place.path + rule.suffix
        if of_type:
            reason, path = "FieldValueInvalid", place.path
            text = f'Invalid value: "{place.kind}": {text}'
        else:
            text = _refusal(reason, place.value, text)
        field = path.removeprefix(".") or _NOWHERE
        if not always and not rule.uses_old and place.unchanged():
            self._warn(f"{field}: {text}")
        else:
            self.found.append(Cause(reason, text, field))


class _Place:
    """Where rules are tried. `seen`, `before`: the value and the old one as rules see them."""

    __slots__ = ("before", "kind", "old", "path", "seen", "there", "value")

    def __init__(self, kind: str, value: Any, seen: Any, before: Any, there: bool, old: Any, path: str) -> None:
        self.kind = kind
        self.value = value
        self.seen = seen
        self.before = before
        self.there = there
        self.old = old
        self.path = path

    def unchanged(self) -> bool:
        return self.there and same(self.value, self.old)


def _refusal(reason: str, value: Any, text: str) -> str:
    lead = _LEAD[reason]
    told = shown(value) if isinstance(value, _SCALARS) else ""
    if reason == "FieldValueDuplicate":
        return f"{lead}: {told}" if told else lead
    if reason == "FieldValueInvalid" and told:
        return f"{lead}: {told}: {text}"
    return f"{lead}: {text}"


def _ruled(node: Node) -> tuple[str, ...]:
    """Properties with rules in them or below."""
    found: tuple[str, ...] | None = node.compiled.get("ruled")
    if found is None:
        names = (name for name, child in node.properties.items() if child.has_rules)
        found = node.compiled["ruled"] = tuple(sorted(names))
    return found
