"""Calls that are read as something else: has, and loops over lists and maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.cel import syntax
from pilothouse.cel.syntax import Bind, Call, Expr, Ident, Loop, OptionalMap, Select

Tell = Callable[[int, str], None]
_NOT_SIMPLE: Final = "argument must be a simple name"
_HIDDEN: Final = frozenset({"__result__", "@result"})
# name and number of arguments -> kind of the loop, how many names, whether there is a condition and a step
_LOOPS: Final = {
    ("all", 2): (syntax.ALL, 1, True, False),
    ("exists", 2): (syntax.EXISTS, 1, True, False),
    ("exists_one", 2): (syntax.ONE, 1, True, False),
    ("existsOne", 2): (syntax.ONE, 1, True, False),
    ("map", 2): (syntax.MAP, 1, False, True),
    ("map", 3): (syntax.MAP, 1, True, True),
    ("filter", 2): (syntax.FILTER, 1, True, False),
    ("all", 3): (syntax.ALL, 2, True, False),
    ("exists", 3): (syntax.EXISTS, 2, True, False),
    ("existsOne", 3): (syntax.ONE, 2, True, False),
    ("transformList", 3): (syntax.TO_LIST, 2, False, True),
    ("transformList", 4): (syntax.TO_LIST, 2, True, True),
    ("transformMap", 3): (syntax.TO_MAP, 2, False, True),
    ("transformMap", 4): (syntax.TO_MAP, 2, True, True),
    ("transformMapEntry", 3): (syntax.TO_ENTRIES, 2, False, True),
    ("transformMapEntry", 4): (syntax.TO_ENTRIES, 2, True, True),
    ("sortBy", 2): (syntax.SORT, 1, False, True),
}


def expand(call: Call, tell: Tell) -> Expr | None:
    """What the call stands for; None: for itself. Wrong arguments are told, and then it stands for itself too."""
    target, args = call.target, call.args
    if target is None:
        return _has(call, tell) if call.function == "has" and len(args) == 1 else None
    if call.function in ("optMap", "optFlatMap") and len(args) == 2:
        name = _simple(args[0], tell, "optMap() variable name must be a simple identifier")
        flat = call.function == "optFlatMap"
        return OptionalMap(call.at, target, name, args[1], flat) if name else None
    found = _LOOPS.get((call.function, len(args)))
    if found is None:
        return None
    kind, names, conditional, stepped = found
    first = _simple(args[0], tell)
    second = _simple(args[1], tell) if names == 2 else ""
    if not first or (names == 2 and not second):
        return None
    if names == 2 and first == second:
        tell(args[1].at, f"duplicate iteration variable name: {first}")
        return None
    rest = args[names:]
    condition = rest[0] if conditional else None
    return Loop(call.at, kind, target, first, second, condition, rest[-1] if stepped else None)


def _has(call: Call, tell: Tell) -> Expr | None:
    arg = call.args[0]
    if isinstance(arg, Select) and not arg.test:
        return Select(call.at, arg.operand, arg.field, test=True)
    tell(arg.at, "invalid argument to has() macro")
    return None


def _simple(arg: Expr, tell: Tell, problem: str = _NOT_SIMPLE) -> str:
    if isinstance(arg, Ident) and not arg.rooted:
        if arg.name not in _HIDDEN:
            return arg.name
        tell(arg.at, f"iteration variable overwrites accumulator variable: {arg.name}")
        return ""
    tell(arg.at, problem)
    return ""


def bind(call: Call, tell: Tell) -> Expr | None:
    """`cel.bind(name, value, body)`, where that library is there."""
    if (
        call.function != "bind"
        or len(call.args) != 3
        or not isinstance(call.target, Ident)
        or call.target.name != "cel"
    ):
        return None
    name = _simple(call.args[0], tell, "cel.bind() variable names must be simple identifiers")
    return Bind(call.at, name, call.args[1], call.args[2]) if name else None
