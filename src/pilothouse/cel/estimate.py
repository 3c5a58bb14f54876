"""The most that an expression can cost, told from its tree and from how big declared values may become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.cel import syntax, types, work
from pilothouse.cel.declarations import Overload
from pilothouse.cel.loops import TURN, WHOLE
from pilothouse.cel.scope import Slot
from pilothouse.cel.syntax import (
    AND,
    CONDITION,
    INDEX,
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
from pilothouse.cel.types import Type
from pilothouse.cel.work import UNBOUNDED

_TRAVERSALS: Final = frozenset({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "join"})
_KEYS: Final = Type("string", most=0)  # the keys of declared maps count as empty


class _Known:
    """`cost` of a value; `size`: None where only its type tells; `entry`: of what it holds.

    `declared`: the type that says how big it may be.
    """

    __slots__ = ("cost", "declared", "entry", "size")

    def __init__(
        self, cost: int, size: int | None = None, entry: _Known | None = None, declared: Type | None = None
    ) -> None:
        self.cost = cost
        self.size = size
        self.entry = entry
        self.declared = declared


def estimate(tree: Expr, declared: dict[str, Type], unknown: int = UNBOUNDED) -> int:
    """In units. `declared`: variables whose values are as big as their types say; `unknown`: the size of others."""
    return min(_Estimator(declared, unknown).of(tree).cost, UNBOUNDED)


class _Estimator:
    def __init__(self, declared: dict[str, Type], unknown: int) -> None:
        self._unknown = unknown
        self._declared = declared
        self._slots: dict[int, _Known] = {}
        self._kinds: dict[type, Callable[[Any], _Known]] = {
            Const: self._const, Ident: self._ident, Select: self._select, Call: self._call, ListOf: self._list,
            MapOf: self._map, Message: self._message, Loop: self._loop, OptionalMap: self._optional_map,
            Bind: self._bind,
        }  # fmt: skip

    def of(self, tree: Expr) -> _Known:
        found = self._kinds[tree.__class__](tree)
        found.cost = min(found.cost, UNBOUNDED)
        return found

    def _size(self, known: _Known, kind: Type) -> int:
        if known.size is not None:
            return min(known.size, UNBOUNDED)
        if known.declared is not None:
            return known.declared.most or 0
        return 1 if types.is_scalar(kind) else self._unknown

    def _const(self, tree: Const) -> _Known:
        return _Known(0, work.size_of(tree.value) if tree.value is not None else None)

    def _ident(self, tree: Ident) -> _Known:
        return self._variable(tree.slot, tree.name)

    def _variable(self, slot: Slot | None, name: str) -> _Known:
        known = self._slots.get(id(slot))
        if known is not None:
            return _Known(1, known.size, known.entry, known.declared)
        return _Known(1, declared=self._declared.get(name))

    def _select(self, tree: Select) -> _Known:
        if tree.slot is not None:
            return self._variable(tree.slot, tree.slot.name)
        if tree.operand.type is None:
            return _Known(1)  # the name of a type
        operand = self.of(tree.operand)
        if tree.test:
            return _Known(operand.cost)
        kind = tree.operand.type.kind
        cost = operand.cost + (1 if kind in ("map", "object", "param") else 0)
        return _Known(cost, declared=self._member(operand.declared, tree.field))

    @staticmethod
    def _member(declared: Type | None, field: str) -> Type | None:
        if declared is None or declared.fields is None:
            return None
        member = declared.fields.field(field)
        return member.type if member is not None else None

    def _call(self, tree: Call) -> _Known:
        args = [*([tree.target] if tree.target is not None else []), *tree.args]
        known = [self.of(arg) for arg in args]
        spent = sum(one.cost for one in known)
        if tree.function in (AND, OR):
            return _Known(spent, 1)
        sizes = [self._size(one, arg.type) for one, arg in zip(known, args, strict=True)]
        if tree.function == "lists.range":
            limit = args[0]
            sizes = [max(0, limit.value) if isinstance(limit, Const) else UNBOUNDED]
        if tree.function is CONDITION:
            cost = known[0].cost + max(known[1].cost, known[2].cost)
            return _Known(cost, max(sizes[1:]), known[1].entry or known[2].entry)
        if tree.function is INDEX and len(tree.overloads) == 1:
            return self._item(known[0], spent + 1)
        if args and args[0].type.kind == "list" and tree.function in _TRAVERSALS:
            return self._traversal(tree, known[0], sizes, spent)
        least = [size if isinstance(arg, Const) else 0 for size, arg in zip(sizes, args, strict=True)]
        found = [self._overload(one, least, sizes) for one in tree.overloads] or [(1, None)]
        size = max((one for _, one in found if one is not None), default=None)
        return _Known(spent + max(cost for cost, _ in found), size, _entry(tree, known))

    def _traversal(self, tree: Call, target: _Known, sizes: Sequence[int], spent: int) -> _Known:
        """Looks at each item of a list, letter by letter where it is a text."""
        items: Type = (tree.target or tree).type.params[0]
        item = self._size(self._item(target, 0), items)
        if tree.function == "join":
            letters = min(sizes[0] * item + (sizes[1] * max(0, sizes[0] - 1) if len(sizes) > 1 else 0), UNBOUNDED)
            return _Known(spent + work.tenth(letters), letters)
        each = 1 + (work.tenth(item) if items.kind in ("string", "bytes") else 0)
        return _Known(spent + sizes[0] * each)

    @staticmethod
    def _item(holder: _Known, cost: int) -> _Known:
        if holder.entry is not None:
            return _Known(cost, holder.entry.size, holder.entry.entry, holder.entry.declared)
        declared = holder.declared
        return _Known(cost, declared=declared.params[-1] if declared is not None and declared.params else None)

    @staticmethod
    def _overload(one: Overload, least: Sequence[int], sizes: Sequence[int]) -> tuple[int, int | None]:
        cost = 1 if one.guess is None else one.guess(sizes)
        return cost, None if one.size is None else one.size(least, sizes)[1]

    def _list(self, tree: ListOf) -> _Known:
        items = [self.of(item) for item in tree.items]
        entry = _Known(
            0, max((self._size(one, item.type) for one, item in zip(items, tree.items, strict=True)), default=0)
        )
        return _Known(sum(one.cost for one in items) + work.LIST_COST, len(items), entry)

    def _map(self, tree: MapOf) -> _Known:
        cost = sum(self.of(key).cost + self.of(value).cost for key, value in tree.entries)
        return _Known(cost + work.MAP_COST, len(tree.entries))

    def _message(self, tree: Message) -> _Known:
        return _Known(sum(self.of(value).cost for _, value, _ in tree.fields) + work.STRUCT_COST)

    def _loop(self, tree: Loop) -> _Known:
        over = self.of(tree.over)
        for slot, known in zip(tree.slots, self._turn(tree, over), strict=True):
            self._slots[id(slot)] = known
        condition = self.of(tree.condition).cost if tree.condition is not None else 0
        step = self.of(tree.step) if tree.step is not None else _Known(0)
        count = self._size(over, tree.over.type)
        cost = over.cost + WHOLE[tree.kind] + count * (TURN[tree.kind] + condition + step.cost)
        if tree.kind in (syntax.ALL, syntax.EXISTS, syntax.ONE):
            return _Known(cost, 1)
        if tree.kind in (syntax.FILTER, syntax.SORT):
            return _Known(cost, count, self._slots[id(tree.slots[0])])
        assert tree.step is not None
        return _Known(cost, count, _Known(0, self._size(step, tree.step.type), step.entry, step.declared))

    def _turn(self, tree: Loop, over: _Known) -> list[_Known]:
        """What is known of the loop's variables."""
        declared, kind = over.declared, tree.over.type.kind
        if declared is not None and declared.params:
            if kind == "list":
                item = _Known(0, declared=declared.params[0])
                return [_Known(0, 1), item] if tree.second else [item]
            key = _Known(0, declared=_KEYS)
            return [key, _Known(0, declared=declared.params[-1])] if tree.second else [key]
        item = over.entry or _Known(0)
        if tree.second:
            return [_Known(0), item]
        return [item if kind == "list" else _Known(0)]

    def _optional_map(self, tree: OptionalMap) -> _Known:
        target = self.of(tree.target)
        self._slots[id(tree.slot)] = _Known(0, target.size, target.entry, target.declared)
        body = self.of(tree.body)
        return _Known(2 * target.cost + body.cost + 3)

    def _bind(self, tree: Bind) -> _Known:
        value = self.of(tree.value)
        self._slots[id(tree.slot)] = _Known(0, value.size, value.entry, value.declared)
        body = self.of(tree.body)
        return _Known(value.cost + body.cost, body.size, body.entry, body.declared)


def _entry(tree: Call, known: list[_Known]) -> _Known | None:
    """What a list holds that was made of lists."""
    if tree.type.kind != "list" or not known:
        return None
    sizes = [one.entry.size for one in known if one.entry is not None and one.entry.size is not None]
    return _Known(0, max(sizes)) if len(sizes) == len(known) else known[0].entry if len(known) == 1 else None
