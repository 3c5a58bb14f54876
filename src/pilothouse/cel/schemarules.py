"""The rules of a schema node, compiled: once, when a value first comes to the node."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from pilothouse.cel import types
from pilothouse.cel.environment import Environment, NotCompiled, Program
from pilothouse.cel.fieldpaths import field_suffix
from pilothouse.cel.schematypes import type_of
from pilothouse.cel.types import Type
from pilothouse.kit.record import record
from pilothouse.machinery.structural.node import RULES, Node

SELF: Final = "self"
OLD: Final = "oldSelf"
_KEY: Final = "compiled rules"
_LOOPS: Final = re.compile(
    r"\.(?:all|exists|exists_one|existsOne|map|filter|transform\w+|sortBy)\(|sets\.|\bdistinct\("
)


@record
class Compiled:
    """What became of one rule. `problem`, `message_problem`: why it, or its messageExpression, cannot be used."""

    program: Program | None
    message: Program | None
    problem: str = ""
    message_problem: str = ""
    uses_old: bool = False


@record
class Rule:
    """A rule to try. `title`: how errors call it; `told`: the message where no expression makes one.

    `suffix`: of the field, below the node. `optional_old`: it is tried without an old value too.
    """

    program: Program | None
    message: Program | None
    problem: str
    title: str
    told: str
    reason: str
    suffix: str
    uses_old: bool
    optional_old: bool


@cache
def _environment() -> Environment:
    return Environment({})


def environment_of(kind: Type, optional_old: bool) -> Environment:
    """What a rule at a value of that type may speak of."""
    return _environment().with_variables({SELF: kind, OLD: types.optional_of(kind) if optional_old else kind})


def compile_rule(raw: dict[str, Any], kind: Type) -> Compiled:
    """A rule at a value of a type."""
    environment = environment_of(kind, bool(raw.get("optionalOldSelf")))
    try:
        program = environment.compile(raw.get("rule") or "")
    except NotCompiled as error:
        return Compiled(None, None, f"compilation failed: {error}")
    if program.type.kind != "bool":
        return Compiled(None, None, "cel expression must evaluate to a bool")
    uses_old = OLD in program.names()
    text = raw.get("messageExpression") or ""
    if not text.strip():
        return Compiled(program, None, uses_old=uses_old)
    try:
        message = environment.compile(text)
    except NotCompiled as error:
        return Compiled(program, None, "", f"messageExpression compilation failed: {error}", uses_old)
    if message.type.kind != "string":
        return Compiled(program, None, "", "messageExpression must evaluate to a string", uses_old)
    return Compiled(program, message, uses_old=uses_old)


def nested_rules(root: Node) -> int:
    """How many rules loop within loops (a list's loop is around rules of its items); a guess by their texts."""
    return _nested(root, 0)


def _nested(node: Node, around: int) -> int:
    if not node.has_rules:
        return 0
    count = sum(around + len(_LOOPS.findall(raw.get("rule") or "")) > 1 for raw in node.raw.get(RULES) or ())
    count += sum(_nested(child, around) for child in node.properties.values())
    inside = (child for child in (node.items, node.additional) if child is not None)
    return count + sum(_nested(child, around + 1) for child in inside)


def rules_of(node: Node) -> tuple[Rule, ...]:
    """The node's own rules."""
    found: tuple[Rule, ...] | None = node.compiled.get(_KEY)
    if found is None:
        kind = type_of(node)
        raws = node.raw.get(RULES) or ()
        found = tuple(_rule(raw, node, kind) for raw in raws) if kind is not None else ()
        node.compiled[_KEY] = found
    return found


def _rule(raw: dict[str, Any], node: Node, kind: Type) -> Rule:
    compiled = compile_rule(raw, kind)
    title, message = (raw.get("rule") or "").strip(), (raw.get("message") or "").strip()
    path = raw.get("fieldPath") or ""
    return Rule(
        program=compiled.program,
        message=compiled.message,
        problem=compiled.problem,
        title=message or title,
        told=message or f"failed rule: {title}",
        reason=raw.get("reason") or "FieldValueInvalid",
        suffix=(field_suffix(path, node) or "") if path else "",
        uses_old=compiled.uses_old,
        optional_old=bool(raw.get("optionalOldSelf")),
    )
