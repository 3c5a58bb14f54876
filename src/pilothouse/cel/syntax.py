"""The tree of an expression, as the parser makes it: operators are calls, macros are loops.

Every node knows its `at`: the offset in the text that a problem with it points to (of a call the operator or the
opening parenthesis, of a selection the dot).
"""

from __future__ import annotations

from typing import Any, Final

# What a loop does with the items it goes over.
ALL: Final = "all"
EXISTS: Final = "exists"
ONE: Final = "exists_one"
MAP: Final = "map"
FILTER: Final = "filter"
TO_LIST: Final = "transformList"
TO_MAP: Final = "transformMap"
TO_ENTRIES: Final = "transformMapEntry"
SORT: Final = "sortBy"

# Operators, named as the original's messages name them.
NOT: Final = "!_"
NEGATE: Final = "-_"
AND: Final = "_&&_"
OR: Final = "_||_"
CONDITION: Final = "_?_:_"
INDEX: Final = "_[_]"
OPTIONAL_INDEX: Final = "_[?_]"
OPTIONAL_SELECT: Final = "_?._"
IN: Final = "@in"


class Expr:
    """A node. `at`: offset in the text, in characters."""

    __slots__ = ("at", "overloads", "type")

    def __init__(self, at: int) -> None:
        self.at = at
        self.type: Any = None  # told by the checker
        self.overloads: tuple[Any, ...] = ()  # of a call, those that may be meant


class Const(Expr):
    """A literal: bool, int, UInt, float, str, bytes or None."""

    __slots__ = ("value",)

    def __init__(self, at: int, value: Any) -> None:
        super().__init__(at)
        self.value = value


class Ident(Expr):
    """A variable or the name of a type. `rooted`: written with a leading dot, which hides no loop variable."""

    __slots__ = ("name", "rooted", "slot")

    def __init__(self, at: int, name: str, rooted: bool = False) -> None:
        super().__init__(at)
        self.name = name
        self.rooted = rooted
        self.slot: Any = None  # the variable that is meant; told by the checker


class Select(Expr):
    """`operand.field`; `test`: written as has(operand.field)."""

    __slots__ = ("field", "key", "operand", "slot", "test")

    def __init__(self, at: int, operand: Expr, field: str, test: bool = False) -> None:
        super().__init__(at)
        self.operand = operand
        self.field = field
        self.test = test
        self.key: str | None = None  # the JSON name of a declared field; told by the checker
        self.slot: Any = None  # told where the whole is one dotted name


class Call(Expr):
    """`function(args)`, or `target.function(args)`; operators too."""

    __slots__ = ("args", "function", "target")

    def __init__(self, at: int, function: str, args: list[Expr], target: Expr | None = None) -> None:
        super().__init__(at)
        self.function = function
        self.target = target
        self.args = args


class ListOf(Expr):
    """`[a, ?b]`; `optional`: which items are left out if they are not there."""

    __slots__ = ("items", "optional")

    def __init__(self, at: int, items: list[Expr], optional: frozenset[int]) -> None:
        super().__init__(at)
        self.items = items
        self.optional = optional


class MapOf(Expr):
    """`{k: v, ?k: v}`."""

    __slots__ = ("entries", "optional")

    def __init__(self, at: int, entries: list[tuple[Expr, Expr]], optional: frozenset[int]) -> None:
        super().__init__(at)
        self.entries = entries
        self.optional = optional


class Message(Expr):
    """`Name{field: value}`: an object of a named type."""

    __slots__ = ("fields", "name", "optional")

    def __init__(self, at: int, name: str, fields: list[tuple[str, Expr, int]], optional: frozenset[int]) -> None:
        super().__init__(at)
        self.name = name
        self.fields = fields
        self.optional = optional


class Loop(Expr):
    """What a macro over a list or a map stands for. `second`: the name for values, "" in loops of one variable."""

    __slots__ = ("condition", "first", "kind", "over", "second", "slots", "step")

    def __init__(
        self, at: int, kind: str, over: Expr, first: str, second: str, condition: Expr | None, step: Expr | None
    ) -> None:
        super().__init__(at)
        self.kind = kind
        self.over = over
        self.first = first
        self.second = second
        self.condition = condition
        self.step = step
        self.slots: tuple[Any, ...] = ()


class OptionalMap(Expr):
    """`target.optMap(name, body)`; `flat`: optFlatMap, whose body is optional itself."""

    __slots__ = ("body", "flat", "name", "slot", "target")

    def __init__(self, at: int, target: Expr, name: str, body: Expr, flat: bool) -> None:
        super().__init__(at)
        self.target = target
        self.name = name
        self.body = body
        self.flat = flat
        self.slot: Any = None


class Bind(Expr):
    """`cel.bind(name, value, body)`."""

    __slots__ = ("body", "name", "slot", "value")

    def __init__(self, at: int, name: str, value: Expr, body: Expr) -> None:
        super().__init__(at)
        self.name = name
        self.value = value
        self.body = body
        self.slot: Any = None
