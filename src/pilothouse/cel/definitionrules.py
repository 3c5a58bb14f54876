"""Rules in a definition: whether they are written well, compile, and do not cost too much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.cel.environment import ESTIMATED_MOST, Program
from pilothouse.cel.fieldpaths import field_suffix
from pilothouse.cel.schemarules import OLD, SELF, Compiled, compile_rule
from pilothouse.cel.schematypes import REQUEST, least_bytes, type_of
from pilothouse.cel.types import Type
from pilothouse.cel.work import UNBOUNDED
from pilothouse.machinery.errors import MOST_CAUSES, Cause
from pilothouse.machinery.rules.field import quoted, shown
from pilothouse.machinery.structural.node import RULES, Node

SCHEMA_MOST: Final = 100_000_000  # units that all rules of a schema together may be estimated at
_TOLD_FROM: Final = SCHEMA_MOST // 100  # cheaper rules are not pointed out
_TOLD: Final = 4
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
_CONTRIBUTED: Final = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_WHOLE: Final = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
ShowRule = Callable[[dict[str, Any]], str]


def definition_problems(root: Node, path: str, bad: Callable[[str], bool], show: ShowRule) -> list[Cause]:
    """All that is wrong with the rules of a schema.

    `path`: where it is; `bad(path)`: something else is wrong there or below, so that rules need not be compiled;
    `show`: a rule as causes print it.
    """
    if not root.has_rules:
        return []
    walk = _Walk(bad, show)
    walk.node(root, path, 1, "")
    return [*walk.written, *walk.compiled, *walk.totals(path)]


def too_expensive(what: str, cost: int, most: int) -> str:
    """`what` exceeds its budget, and by how much."""
    factor = cost / most
    if factor > 100:
        told = "more than 100x"
    else:
        told = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {told} {_ADVICE}"


class _Walk:
    def __init__(self, bad: Callable[[str], bool], show: ShowRule) -> None:
        self._bad = bad
        self._show = show
        self.written: list[Cause] = []
        self.compiled: list[Cause] = []
        self._total = 0
        self._expensive: list[tuple[int, str]] = []

    def node(self, node: Node, path: str, count: int | None, loose: str) -> None:
        """`count`: how many values an object may have here, None for no limit; `loose`: a list without keys above."""
        if not node.has_rules:
            return
        before = len(self.written)
        for name in sorted(node.properties):
            self.node(node.properties[name], f"{path}.properties[{name}]", count, loose)
        if node.additional is not None:
            inside = _times(count, node.raw.get("maxProperties"))
            self.node(node.additional, f"{path}.additionalProperties", inside, loose)
        if node.items is not None:
            below = loose or ("" if node.list_type == "map" else path)
            self.node(node.items, f"{path}.items", _times(count, node.raw.get("maxItems")), below)
        self._rules(node, path, count, loose, before)

    def _rules(self, node: Node, path: str, count: int | None, loose: str, before: int) -> None:
        """`before`: how many causes there were before anything at the node or below it was looked at."""
        raws = node.raw.get(RULES) or ()
        for place, raw in enumerate(raws):
            self._text(raw, node, f"{path}.{RULES}[{place}]")
        kind = type_of(node)
        if not raws or kind is None or len(self.written) > before or self._bad(path):
            return
        for place, raw in enumerate(raws):
            if len(self.compiled) >= MOST_CAUSES:
                break
            self._one(raw, node, kind, f"{path}.{RULES}[{place}]", count, loose)

    # -- texts

    def _text(self, raw: dict[str, Any], node: Node, path: str) -> None:
        rule, message = raw.get("rule") or "", raw.get("message") or ""
        told = self.written.append
        if not rule.strip():
            told(Cause("FieldValueRequired", "Required value: rule is not specified", f"{path}.rule"))
        elif message and not message.strip():
            told(_invalid(f"{path}.message", shown(message), "must be non-empty if specified"))
        elif _breaks(message.strip()):
            told(_invalid(f"{path}.message", shown(message), "must not contain line breaks"))
        elif _breaks(rule.strip()) and not message.strip():
            why = "Required value: message must be specified if rule contains line breaks"
            told(Cause("FieldValueRequired", why, f"{path}.message"))
        expression = raw.get("messageExpression") or ""
        if expression and not expression.strip():
            why = "Required value: messageExpression must be non-empty if specified"
            told(Cause("FieldValueRequired", why, f"{path}.messageExpression"))
        reason = raw.get("reason")
        if reason is not None and reason not in _REASONS:
            listed = ", ".join(map(quoted, _REASONS))
            why = f"Unsupported value: {shown(reason)}: supported values: {listed}"
            told(Cause("FieldValueNotSupported", why, f"{path}.reason"))
        self._field_path(raw.get("fieldPath") or "", node, f"{path}.fieldPath")

    def _field_path(self, text: str, node: Node, path: str) -> None:
        if not text:
            return
        if not text.strip():
            self.written.append(_invalid(path, shown(text), "must be non-empty if specified"))
        if _breaks(text):
            self.written.append(_invalid(path, shown(text), "must not contain line breaks"))
        if field_suffix(text, node) is None:
            self.written.append(_invalid(path, shown(text), "must be a valid path"))

    # -- expressions

    def _one(self, raw: dict[str, Any], node: Node, kind: Type, path: str, count: int | None, loose: str) -> None:
        compiled = compile_rule(raw, kind)
        told = self.compiled.append
        times = count if count is not None else REQUEST // (least_bytes(node) + 1)
        if compiled.program is not None:
            self._cost(compiled.program, kind, times, f"{path}.rule", "estimated rule cost")
        if compiled.problem:
            told(_invalid(f"{path}.rule", self._show(raw), compiled.problem))
        if compiled.message_problem:
            told(_invalid(f"{path}.messageExpression", self._show(raw), compiled.message_problem))
        elif compiled.message is not None:
            what = "estimated messageExpression cost"
            self._cost(compiled.message, kind, 1, f"{path}.messageExpression", what)
        self._old_self(raw, compiled, path, loose)

    def _old_self(self, raw: dict[str, Any], compiled: Compiled, path: str, loose: str) -> None:
        if compiled.uses_old:
            if loose:
                why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {loose}"
                self.compiled.append(_invalid(f"{path}.rule", shown(raw["rule"]), why))
        elif raw.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            self.compiled.append(_invalid(f"{path}.optionalOldSelf", shown(raw["optionalOldSelf"]), why))

    def _cost(self, program: Program, kind: Type, times: int, path: str, what: str) -> None:
        cost = min(program.estimate({SELF: kind, OLD: kind}) * times, UNBOUNDED)
        if cost > ESTIMATED_MOST:
            why = f"Forbidden: {too_expensive(what, cost, ESTIMATED_MOST)}"
            self.compiled.append(Cause("FieldValueForbidden", why, path))
        self._total = min(self._total + cost, UNBOUNDED)
        if cost >= _TOLD_FROM:
            self._expensive.append((cost, path))
            self._expensive.sort(key=lambda one: -one[0])
            del self._expensive[_TOLD:]

    def totals(self, path: str) -> list[Cause]:
        if self._total <= SCHEMA_MOST:
            return []
        found = [Cause("FieldValueForbidden", f"Forbidden: {_CONTRIBUTED}", place) for _, place in self._expensive]
        why = f"Forbidden: {too_expensive(_WHOLE, self._total, SCHEMA_MOST)}"
        return [*found, Cause("FieldValueForbidden", why, path)]


def _times(count: int | None, most: int | None) -> int | None:
    return None if count is None or most is None else min(count * max(0, most), UNBOUNDED)


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _invalid(path: str, value: str, why: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {value}: {why}", path)
