"""What can be told of literals without running anything: times, patterns, templates, lists of one type.

Looked at only where all types fit. Templates of `format` are held to their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pilothouse.cel import types
from pilothouse.cel.library.formatting import BadClause, Clause, template, wrong
from pilothouse.cel.problems import Problem
from pilothouse.cel.syntax import (
    Bind,
    Call,
    Const,
    Expr,
    ListOf,
    Loop,
    MapOf,
    Message,
    OptionalMap,
    Select,
)
from pilothouse.cel.types import Type
from pilothouse.cel.values import Fault, duration_of, timestamp_of
from pilothouse.machinery.structural.patterns import pattern_problem


def children(tree: Expr) -> Iterator[Expr]:
    """The parts of a node, in their order."""
    if isinstance(tree, Call):
        if tree.target is not None:
            yield tree.target
        yield from tree.args
    elif isinstance(tree, Select):
        yield tree.operand
    elif isinstance(tree, ListOf):
        yield from tree.items
    elif isinstance(tree, MapOf):
        for key, value in tree.entries:
            yield key
            yield value
    elif isinstance(tree, Message):
        for _, value, _ in tree.fields:
            yield value
    elif isinstance(tree, Loop):
        yield from (one for one in (tree.over, tree.condition, tree.step) if one is not None)
    elif isinstance(tree, OptionalMap):
        yield tree.target
        yield tree.body
    elif isinstance(tree, Bind):
        yield tree.value
        yield tree.body


def walk(tree: Expr) -> Iterator[Expr]:
    """The node and all below it."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += children(one)


def literal_problems(tree: Expr) -> list[Problem]:
    found: list[Problem] = []
    loose: set[int] = set()  # lists whose items may be of many types
    for one in walk(tree):
        if isinstance(one, Call):
            _call(one, found)
            if one.function == "format" and one.args:
                loose.add(id(one.args[0]))
        elif isinstance(one, ListOf):
            if id(one) not in loose:
                _same_types([(item, place in one.optional) for place, item in enumerate(one.items)], found)
        elif isinstance(one, MapOf):
            _same_types([(key, False) for key, _ in one.entries], found)
            _same_types([(value, place in one.optional) for place, (_, value) in enumerate(one.entries)], found)
    return found


def _same_types(items: list[tuple[Expr, bool]], found: list[Problem]) -> None:
    first: Type | None = None
    for item, optional in items:
        kind: Type = item.type
        if optional and types.is_optional(kind):
            kind = kind.params[0]
        if first is None:
            first = kind
        elif not types.Substitution().fits(first, kind):
            found.append(Problem(item.at, f"expected type '{first}' but found '{kind}'"))
            return


def _fails(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except Fault:
        return True
    return False


_READ: Final[dict[str, Callable[[str], bool]]] = {
    "timestamp": lambda text: _fails(timestamp_of, text),
    "duration": lambda text: _fails(duration_of, text),
    "matches": lambda text: bool(pattern_problem(text)),
}


def _call(tree: Call, found: list[Problem]) -> None:
    if tree.function == "format" and isinstance(tree.target, Const) and isinstance(tree.target.value, str):
        _format(tree, tree.target.value, found)
        return
    fails = _READ.get(tree.function)
    if fails is None or not tree.args:
        return
    arg = tree.args[-1]
    if isinstance(arg, Const) and isinstance(arg.value, str) and fails(arg.value):
        found.append(Problem(arg.at, f"invalid {tree.function} argument"))


def _format(tree: Call, text: str, found: list[Problem]) -> None:
    try:
        clauses = [piece for piece in template(text) if isinstance(piece, Clause)]
    except BadClause as error:
        found.append(Problem(tree.at, str(error)))
        return
    args = tree.args[0]
    if not isinstance(args, ListOf):
        return
    for place, clause in enumerate(clauses):
        if place >= len(args.items):
            found.append(Problem(tree.at, f"index {place} out of range"))
            return
        arg = args.items[place]
        kind: Type = arg.type
        name = kind.name if kind.kind in ("object", "opaque") else kind.kind
        why = wrong(clause.verb, name)
        if why:
            found.append(Problem(arg.at, why))
            return
    if len(args.items) > len(clauses):
        many = f"(expected {len(clauses)}, got {len(args.items)})"
        found.append(Problem(tree.at, f"too many arguments supplied to string.format {many}"))
