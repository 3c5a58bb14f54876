"""Types of a tree: each node learns its own, calls learn which signatures they may mean.

What does not fit is told in the original's words. Trees are changed in place: names with dots become one variable,
`sets.contains(...)` a call without a receiver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.cel import syntax, types
from pilothouse.cel.declarations import Overload, fresh
from pilothouse.cel.problems import Problem
from pilothouse.cel.scope import NAMED_TYPES, Scope, Slot
from pilothouse.cel.syntax import (
    AND,
    OPTIONAL_SELECT,
    OR,
    Bind,
    Call,
    Const,
    Expr,
    Ident,
    ListOf,
    Loop,
    MapOf,
    Message,
    OptionalMap,
    Select,
)
from pilothouse.cel.types import BOOL, DYN, ERROR, INT, Substitution, Type
from pilothouse.cel.values import UInt

_CONSTANTS: Final[dict[type, Type]] = {
    bool: BOOL, int: INT, UInt: types.UINT, float: types.DOUBLE, str: types.STRING, bytes: types.BYTES,
    type(None): types.NULL,
}  # fmt: skip
_SIMPLE: Final = frozenset({"bool", "int", "uint", "double", "string", "bytes", "list", "map"})
_ANY: Final = frozenset({"param", "dyn"})


def check(tree: Expr, scope: Scope, problems: list[Problem]) -> Type:
    """The type of the whole; what is wrong goes to `problems`."""
    checker = _Checker(scope, problems)
    found = checker.type(tree)
    checker.settle()
    return checker.known.apply(found, open_as_dyn=True)


def _never(args: list[Type], wanted: tuple[Type, ...]) -> bool:
    """A quick look: simple types that are not the wanted ones."""
    return any(
        one.kind in _SIMPLE and other.kind != one.kind and other.kind not in _ANY
        for one, other in zip(args, wanted, strict=True)
    )


class _Checker:
    def __init__(self, scope: Scope, problems: list[Problem]) -> None:
        self._scope = scope
        self._problems = problems
        self._locals: list[Slot] = []
        self._count = 0
        self._all: list[Expr] = []
        self.known = Substitution()
        self._kinds: dict[type, Callable[[Any], Type]] = {
            Const: self._const, Ident: self._ident, Select: self._select, Call: self._call, ListOf: self._list,
            MapOf: self._map, Message: self._message, Loop: self._loop, OptionalMap: self._optional_map,
            Bind: self._bind,
        }  # fmt: skip

    def type(self, tree: Expr) -> Type:
        found = self._kinds[tree.__class__](tree)
        tree.type = found
        self._all.append(tree)
        return found

    def settle(self) -> None:
        """What was still open when a node was looked at is known now."""
        for tree in self._all:
            tree.type = self.known.apply(tree.type, open_as_dyn=True)
            for slot in getattr(tree, "slots", ()):
                slot.type = self.known.apply(slot.type, open_as_dyn=True)
            slot = getattr(tree, "slot", None)
            if slot is not None:
                slot.type = self.known.apply(slot.type, open_as_dyn=True)

    def _problem(self, at: int, text: str) -> Type:
        self._problems.append(Problem(at, text))
        return ERROR

    def _shown(self, one: Type) -> str:
        return str(self.known.apply(one))

    def _new(self, name: str, kind: Type) -> Slot:
        self._count += 1
        return Slot(name, kind, f"v{self._count}")

    # -- leaves

    def _const(self, tree: Const) -> Type:
        return _CONSTANTS[tree.value.__class__]

    def _ident(self, tree: Ident) -> Type:
        slot = self._slot(tree.name, tree.rooted)
        if slot is not None:
            tree.slot = slot
            return slot.type
        named = NAMED_TYPES.get(tree.name)
        if named is not None:
            return types.type_of(named)
        return self._problem(tree.at, f"undeclared reference to '{tree.name}' (in container '')")

    def _slot(self, name: str, rooted: bool) -> Slot | None:
        if not rooted:
            for slot in reversed(self._locals):
                if slot.name == name:
                    return slot
        return self._scope.variables.get(name)

    def _dotted(self, tree: Expr) -> str:
        """`a.b.c` for such a chain whose first name is no variable; else ""."""
        parts: list[str] = []
        while tree.__class__ is Select:
            assert isinstance(tree, Select)
            if tree.test:
                return ""
            parts.append(tree.field)
            tree = tree.operand
        if not isinstance(tree, Ident) or any(slot.name == tree.name for slot in self._locals):
            return ""
        return ".".join((tree.name, *reversed(parts)))

    # -- access

    def _select(self, tree: Select) -> Type:
        if not tree.test:
            dotted = self._dotted(tree)
            if dotted:
                slot = self._scope.variables.get(dotted)
                if slot is not None:
                    tree.slot = slot
                    return slot.type
                if dotted in NAMED_TYPES:
                    return types.type_of(NAMED_TYPES[dotted])
        found = self._member(tree, self.type(tree.operand), tree.field)
        return BOOL if tree.test else found

    def _member(self, tree: Select | Call, holder: Type, name: str) -> Type:
        holder = self.known.apply(holder)
        if types.is_optional(holder):
            found = self._member(tree, holder.params[0], name)
            return found if found.kind == "error" else types.optional_of(found)
        if holder.kind == "object":
            member = holder.fields.field(name) if holder.fields is not None else None
            if member is None:
                return self._problem(tree.at, f"undefined field '{name}'")
            if isinstance(tree, Select):
                tree.key = member.key
            else:
                assert isinstance(tree.args[1], Const)
                tree.args[1].value = member.key
            return member.type
        if holder.kind == "map":
            return holder.params[1]
        if types.is_dyn(holder) or holder.kind == "param":
            return DYN
        return self._problem(tree.at, f"type '{self._shown(holder)}' does not support field selection")

    # -- calls

    def _call(self, tree: Call) -> Type:
        if tree.function in (AND, OR):
            for arg in tree.args:
                self._want(arg, BOOL)
            return BOOL
        if tree.function is OPTIONAL_SELECT:
            name = tree.args[1]
            assert isinstance(name, Const)
            name.type = types.STRING
            found = self._member(tree, self.type(tree.args[0]), name.value)
            return found if found.kind in ("error", "optional_type") else types.optional_of(found)
        args = [self.type(arg) for arg in tree.args]
        receiver = False
        if tree.target is not None:
            dotted = self._dotted(tree.target)
            if dotted and f"{dotted}.{tree.function}" in self._scope.functions:
                tree.function = f"{dotted}.{tree.function}"
                tree.target = None
            else:
                args.insert(0, self.type(tree.target))
                receiver = True
        overloads = self._scope.functions.get(tree.function)
        if overloads is None:
            return self._problem(tree.at, f"undeclared reference to '{tree.function}' (in container '')")
        return self._resolve(tree, overloads, args, receiver)

    def _want(self, tree: Expr, wanted: Type) -> None:
        found = self.type(tree)
        if not self.known.fits(found, wanted):
            self._problem(tree.at, f"expected type '{wanted}' but found '{self._shown(found)}'")

    def _resolve(self, tree: Call, overloads: tuple[Overload, ...], args: list[Type], receiver: bool) -> Type:
        result: Type | None = None
        fitting: list[Overload] = []
        for one in overloads:
            if one.receiver != receiver or len(one.args) != len(args) or _never(args, one.args):
                continue
            wanted, gives = fresh(one, self.known)
            if not self.known.all_fit(args, wanted):
                continue
            fitting.append(one)
            gives = self.known.apply(gives)
            if result is None:
                result = gives
            elif result.kind != "dyn" and result != gives:
                result = DYN
        if result is None:
            return self._no_overload(tree.at, tree.function, args, receiver)
        tree.overloads = tuple(fitting)
        return result

    def _no_overload(self, at: int, function: str, args: list[Type], receiver: bool) -> Type:
        shown = [str(self.known.apply(one, open_as_dyn=True)) for one in args]
        signature = f"{shown[0]}.({', '.join(shown[1:])})" if receiver else f"({', '.join(shown)})"
        return self._problem(at, f"found no matching overload for '{function}' applied to '{signature}'")

    # -- literals

    def _join(self, one: Type | None, other: Type) -> Type:
        if one is None:
            return other
        if self.known.fits(one, other):
            one, other = self.known.apply(one), self.known.apply(other)
            return one if types.wider_or_equal(one, other) else other
        return DYN

    def _held(self, tree: Expr, optional: bool) -> Type:
        """The type of an item; of one that may be left out, what it holds if it is there."""
        found = self.known.apply(self.type(tree))
        if not optional or types.is_dyn(found):
            return found
        if not types.is_optional(found):
            return self._problem(tree.at, f"expected type 'optional_type({found})' but found '{found}'")
        return found.params[0]

    def _list(self, tree: ListOf) -> Type:
        joined: Type | None = None
        for place, item in enumerate(tree.items):
            joined = self._join(joined, self._held(item, place in tree.optional))
        return types.list_of(joined or self.known.fresh())

    def _map(self, tree: MapOf) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for place, (key, value) in enumerate(tree.entries):
            keys = self._join(keys, self.type(key))
            values = self._join(values, self._held(value, place in tree.optional))
        if keys is None or values is None:
            return types.map_of(self.known.fresh(), self.known.fresh())
        return types.map_of(keys, values)

    def _message(self, tree: Message) -> Type:
        named = self._scope.structs.get(tree.name)
        if named is None or named.fields is None:
            for _, value, _ in tree.fields:
                self.type(value)
            return self._problem(tree.at, f"undeclared reference to '{tree.name}' (in container '')")
        for place, (name, value, at) in enumerate(tree.fields):
            found = self._held(value, place in tree.optional)
            member = named.fields.field(name)
            if member is None:
                self._problem(at, f"undefined field '{name}'")
            elif not self.known.fits(member.type, found):
                wanted = self._shown(member.type)
                self._problem(
                    at, f"expected type of field '{name}' is '{wanted}' but provided type is '{self._shown(found)}'"
                )
        return named

    # -- loops

    def _ranges(self, tree: Loop) -> tuple[Type, Type]:
        """What the names of the loop are: items, or keys (and values)."""
        over = self.known.apply(self.type(tree.over))
        if over.kind == "list":
            item = over.params[0]
            return (INT, item) if tree.second else (item, DYN)
        if over.kind == "map":
            return over.params[0], over.params[1]
        if not types.is_dyn(over) and over.kind != "param":
            why = "cannot be range of a comprehension (must be list, map, or dynamic)"
            self._problem(tree.over.at, f"expression of type '{self._shown(over)}' {why}")
            return ERROR, ERROR
        return DYN, DYN

    def _loop(self, tree: Loop) -> Type:
        first, second = self._ranges(tree)
        slots = [self._new(tree.first, first)]
        if tree.second:
            slots.append(self._new(tree.second, second))
        tree.slots = tuple(slots)
        self._locals += slots
        condition = self.type(tree.condition) if tree.condition is not None else BOOL
        step = self.type(tree.step) if tree.step is not None else DYN
        del self._locals[-len(slots) :]
        found = self._result(tree, first, step)
        self._condition(tree, condition, first, found)
        return found

    def _result(self, tree: Loop, first: Type, step: Type) -> Type:
        kind = tree.kind
        if kind in (syntax.ALL, syntax.EXISTS, syntax.ONE):
            return BOOL
        if kind in (syntax.FILTER, syntax.SORT):
            return types.list_of(first)
        if kind in (syntax.MAP, syntax.TO_LIST):
            return types.list_of(step)
        if kind == syntax.TO_MAP:
            return types.map_of(first, step)
        step = self.known.apply(step)
        if step.kind != "map" and not types.is_dyn(step):
            return self._no_overload(tree.at, "cel.@mapInsert", [types.map_of(DYN, DYN), step], False)
        return step

    def _condition(self, tree: Loop, condition: Type, first: Type, result: Type) -> None:
        if tree.condition is None or self.known.fits(condition, BOOL):
            return
        if tree.kind in (syntax.ALL, syntax.EXISTS):
            self._problem(tree.condition.at, f"expected type 'bool' but found '{self._shown(condition)}'")
        else:
            held = INT if tree.kind == syntax.ONE else result
            self._no_overload(tree.at, syntax.CONDITION, [condition, held, held], False)

    def _optional_map(self, tree: OptionalMap) -> Type:
        target = self.known.apply(self.type(tree.target))
        if types.is_optional(target):
            held = target.params[0]
        elif types.is_dyn(target) or target.kind == "param":
            held = DYN
        else:
            self._no_overload(tree.at, "hasValue", [target], True)
            held = ERROR
        tree.slot = self._new(tree.name, held)
        self._locals.append(tree.slot)
        body = self.known.apply(self.type(tree.body))
        self._locals.pop()
        if not tree.flat:
            return types.optional_of(body)
        if not types.is_optional(body) and not types.is_dyn(body):
            self._no_overload(tree.at, syntax.CONDITION, [BOOL, body, types.optional_of(DYN)], False)
        return body

    def _bind(self, tree: Bind) -> Type:
        tree.slot = self._new(tree.name, self.type(tree.value))
        self._locals.append(tree.slot)
        found = self.type(tree.body)
        self._locals.pop()
        return found
