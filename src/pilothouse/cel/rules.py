"""Rules of a schema (`x-kubernetes-validations`) tried on an object.

Rules of a node are tried before those below it. On an update, what is as it was before is not refused: a rule that it
breaks is only warned of. Everything together has one budget; when that is used up, no more rules are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.cel.environment import PER_CALL, PER_REQUEST, Answer
from pilothouse.cel.metrics import ExpressionMetrics
from pilothouse.cel.schemarules import Rule, rules_of
from pilothouse.cel.schemavalues import converter
from pilothouse.cel.values import NO_OVERLOAD, NONE, BadData, Optional
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.structural import unique
from pilothouse.machinery.structural.check import same
from pilothouse.machinery.structural.node import Node

_PLAN: Final = "plan of rules"
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
    root: Node,
    obj: Any,
    old: Any | None,
    warn: Callable[[str], None],
    *,
    budget: int = PER_REQUEST,
    measured: ExpressionMetrics | None = None,
) -> Sequence[Cause]:
    """What rules say against an object that keeps its schema. `old`: None on create. Old sins go to `warn`."""
    walk = _Walk(warn, budget, measured)
    walk.value(root, obj, _UNSEEN, _ABSENT if old is None else old, "")
    return walk.found


class _Walk:
    def __init__(self, warn: Callable[[str], None], budget: int, measured: ExpressionMetrics | None) -> None:
        self._warn = warn
        self._measured = measured
        self._budget = budget
        self.found: list[Cause] = []

    def value(self, node: Node, value: Any, seen: Any, old: Any, path: str) -> bool:
        """`seen`: the value as rules see it, if that is known. False: the budget is used up."""
        plan: _Plan | None = node.compiled.get(_PLAN)
        if plan is None:
            plan = self._plan(node)
        if value is None or plan.nothing:
            return True
        if plan.rules:
            if seen is _UNSEEN:
                seen = plan.convert(value)
            began = self._measured.now() if self._measured is not None else 0.0
            goes_on = self._try_all(plan, _Place(plan.kind, value, seen, old, path))
            if self._measured is not None:
                self._measured.evaluated(self._measured.now() - began)
            if not goes_on:
                return False
        if value.__class__ is dict:
            return self._members(plan, value, seen, old, path)
        if value.__class__ is list and plan.items is not None:
            return self._items(plan, plan.items, value, seen, old, path)
        return True

    def _plan(self, node: Node) -> _Plan:
        """Made at the first object; so are the programs of the node's rules."""
        measured = self._measured
        began = measured.now() if measured is not None else 0.0
        plan = node.compiled[_PLAN] = _Plan(node)
        if measured is not None and plan.rules:
            measured.compiled(measured.now() - began)
        return plan

    def _members(self, plan: _Plan, value: dict[str, Any], seen: Any, old: Any, path: str) -> bool:
        before = old if old.__class__ is dict else {}
        known = seen if seen is not _UNSEEN else {}
        if plan.values is not None:
            for key in sorted(value):
                child, below = known.get(key, _UNSEEN), f"{path}[{key}]"
                if not self.value(plan.values, value[key], child, before.get(key, _ABSENT), below):
                    return False
        for name, member in plan.members:
            if name in value:
                child, below = known.get(name, _UNSEEN), f"{path}.{name}" if path else name
                if not self.value(member, value[name], child, before.get(name, _ABSENT), below):
                    return False
        return True

    def _items(self, plan: _Plan, items: Node, value: list[Any], seen: Any, old: Any, path: str) -> bool:
        known: dict[Any, Any] = {}
        key = plan.key if old.__class__ is list else None
        if key is not None:
            known = {key(item): item for item in old}
        for place, item in enumerate(value):
            before = known.get(key(item), _ABSENT) if key is not None else _ABSENT
            child = seen[place] if seen is not _UNSEEN else _UNSEEN
            if not self.value(items, item, child, before, f"{path}[{place}]"):
                return False
        return True

    # -- rules of one node

    def _try_all(self, plan: _Plan, place: _Place) -> bool:
        for rule in plan.rules:
            if rule.uses_old:
                if place.there:
                    if place.before is _UNSEEN:
                        place.before = plan.convert(place.old)
                elif not rule.optional_old:
                    continue
            if not self._try(rule, place):
                return False
        return True

    def _try(self, rule: Rule, place: _Place) -> bool:
        """False: no more rules."""
        if rule.program is None:
            if rule.problem:
                self._tell(rule, place, f"rule compile error: {rule.problem}", of_type=True)
            return True
        bound: Any = place.before if rule.uses_old else None
        if rule.optional_old:
            bound = Optional(bound) if place.there else NONE
        answer = rule.program.call((place.seen, bound), PER_CALL)
        self._budget -= min(answer.cost, PER_CALL)
        if answer.value is True and self._budget >= 0 and place.seen.__class__ is not BadData:
            return True
        return self._broken(rule, place, answer)

    def _broken(self, rule: Rule, place: _Place, answer: Answer) -> bool:
        """What is told of a rule that does not hold. False: no more rules."""
        if place.seen.__class__ is BadData and rule.program is not None and rule.program.names():
            answer = Answer(None, place.seen.text, answer.cost)
        if answer.over_limit:
            self._tell(rule, place, f"'{answer.error}': {_TOO_MUCH}: {rule.title}", of_type=True, always=True)
            return False
        if self._budget < 0:
            return self._out_of_budget(rule, place)
        if answer.error is not None:
            if answer.error.startswith(NO_OVERLOAD):
                text = f"'{answer.error}': {_NO_MATCH}: {rule.title}"
            else:
                text = f"{answer.error} evaluating rule: {rule.title}"
            self._tell(rule, place, text, of_type=True)
        elif answer.value is not True:
            self._tell(rule, place, self._message(rule, place))
        return self._budget >= 0 or self._out_of_budget(rule, place)

    def _out_of_budget(self, rule: Rule, place: _Place) -> bool:
        self._tell(rule, place, _NO_BUDGET, of_type=True, always=True)
        return False

    def _message(self, rule: Rule, place: _Place) -> str:
        if rule.message is None:
            return rule.told
        before = place.before if rule.uses_old and place.there else None
        answer = rule.message.call((place.seen, before), max(0, min(PER_CALL, self._budget)))
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


class _Plan:
    """What there is to do at a node: its own rules, and where there are some below."""

    __slots__ = ("convert", "items", "key", "kind", "members", "nothing", "rules", "values")

    def __init__(self, node: Node) -> None:
        self.nothing = not node.has_rules
        self.kind = node.type
        self.rules: tuple[Rule, ...] = () if self.nothing else rules_of(node)
        self.convert = converter(node)
        found = ((name, child) for name, child in node.properties.items() if child.has_rules)
        self.members = () if self.nothing else tuple(sorted(found, key=lambda one: one[0]))
        self.values = _if_ruled(node.additional)
        self.items = _if_ruled(node.items)
        self.key = unique.key_of(node) if self.items is not None and node.list_type == "map" else None


def _if_ruled(node: Node | None) -> Node | None:
    return node if node is not None and node.has_rules else None


class _Place:
    """Where rules are tried. `seen`, `before`: the value and the old one as rules see them."""

    __slots__ = ("before", "kind", "old", "path", "seen", "there", "value")

    def __init__(self, kind: str, value: Any, seen: Any, old: Any, path: str) -> None:
        self.kind = kind
        self.value = value
        self.seen = seen
        self.before: Any = _UNSEEN
        self.there = old is not _ABSENT and old is not None
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
