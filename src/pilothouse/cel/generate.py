"""A checked tree as one Python function.

Loops of the expression become loops of Python, its variables become locals, operators on known types become operators.
What an expression costs is counted in the local `c` while it runs. Names and texts of users never become code: texts
are written as literals of Python or kept in a table of constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from pilothouse.cel import operators as op
from pilothouse.cel import work
from pilothouse.cel.code import Code
from pilothouse.cel.declarations import Overload
from pilothouse.cel.dispatch import dispatcher
from pilothouse.cel.equality import contains, equal
from pilothouse.cel.loops import LoopWriter
from pilothouse.cel.scope import Scope
from pilothouse.cel.syntax import (
    AND,
    CONDITION,
    INDEX,
    OPTIONAL_INDEX,
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
from pilothouse.cel.types import Type, is_dyn, is_optional
from pilothouse.cel.values import (
    FAULTS,
    NO_OVERLOAD,
    NONE,
    CostExceeded,
    Fault,
    Meter,
    Optional,
    Struct,
    TypeValue,
    UInt,
)

OVER_LIMIT: Final = "operation cancelled: actual cost limit exceeded"
TOO_DEEP: Final = "expression is nested too deeply"
_PRIMITIVE: Final = frozenset({"bool", "int", "string", "bytes", "uint", "double"})
_CLASSES: Final = {"string": "str", "int": "int", "bool": "bool", "double": "float", "bytes": "bytes"}
_SIZED: Final = frozenset({"string", "bytes", "list", "map"})
_ARITHMETIC: Final = {"_+_": "+", "_-_": "-", "_*_": "*"}
_BINARY: Final = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_"})
_COMPARISONS: Final = {"_<_": "less", "_<=_": "less_equal", "_>_": "greater", "_>=_": "greater_equal"}
_QUOTES: Final = ("'", '"')
_LEANING: Final = 8
_INT_LIMITS: Final = "{0} > 9223372036854775807 or {0} < -9223372036854775808"
_RANGE: Final = (0, 1 << 20)
_SMALL: Final = 10  # letters; comparing with a text up to here costs one unit
Run = Callable[..., "tuple[Any, str | None, int]"]

_GLOBALS: Final[dict[str, Any]] = {
    "M": object(), "Fault": Fault, "FAULTS": FAULTS, "CostExceeded": CostExceeded, "NO_OVERLOAD": NO_OVERLOAD,
    "OVER_LIMIT": OVER_LIMIT, "Optional": Optional, "NONE": NONE, "equal": equal, "contains": contains, "Meter": Meter,
    "no_key": op.no_key, "no_overload": op.no_overload,
    "present": op.present, "select": op.select, "has": op.has, "item_at": op.item_at,
    "entry_of": op.entry_of, "index": op.index, "overflow": op.overflow, "truth": op.truth, "walk": op.walk,
    "walk_pairs": op.walk_pairs, "optional_select": op.optional_select, "optional_index": op.optional_index,
    "less": op.less, "less_equal": op.less_equal, "greater": op.greater, "greater_equal": op.greater_equal,
    "length": op.length, "size_of": work.size_of, "tenth": work.tenth,
}  # fmt: skip
_TAIL: Final = """\
    except Fault as fault:
        return None, str(fault), c
    except (TypeError, AttributeError):
        return None, NO_OVERLOAD, c
    except CostExceeded:
        return None, OVER_LIMIT, c
    except (ValueError, OverflowError, RecursionError) as error:
        return None, str(error), c
"""


def generate(tree: Expr, scope: Scope) -> Run:
    """`f(*variables, limit)` -> (value, what went wrong or None, cost). Variables in the order of the scope."""
    writer = _Writer()
    try:
        result = writer.emit(tree)
    except RecursionError:
        return _too_deep
    writer.code.flush()
    writer.code.line(f"return {result}, None, c{' + w.cost()' if writer.metered else ''}")
    names = "".join(f"{slot.code}, " for slot in scope.variables.values())
    start = "c = 0; w = Meter()" if writer.metered else "c = 0"
    text = writer.code.text(f"def program({names}limit):\n    {start}\n    try:", _TAIL)
    space = {**_GLOBALS, **writer.code.constants}
    try:
        exec(compile(text, "<expression>", "exec"), space)
    except (SyntaxError, RecursionError, MemoryError):
        return _too_deep
    run: Run = space["program"]
    return run


def _too_deep(*arguments: Any) -> tuple[Any, str | None, int]:
    return None, TOO_DEEP, 0


def sure(tree: Expr) -> bool:
    """Whether it cannot fail."""
    if isinstance(tree, Const):
        return True
    if isinstance(tree, Ident):
        return not is_dyn(tree.type)
    if isinstance(tree, Select):
        return tree.test and tree.operand.type.kind == "object" and sure(tree.operand)
    if isinstance(tree, Call) and (tree.function in (AND, OR) or (len(tree.overloads) == 1 and tree.overloads[0].sure)):
        return all(sure(arg) and not is_dyn(arg.type) for arg in tree.args)
    return False


class _Writer(LoopWriter):
    def __init__(self) -> None:
        self.code = Code()
        self.metered = False
        self._written: dict[int, str] = {}  # what `emit` will answer for a node
        self._kinds: dict[type, Callable[[Any], str]] = {
            Const: self._const, Ident: self._ident, Select: self._select, Call: self._call, ListOf: self._list,
            MapOf: self._map, Message: self._message, Loop: self.loop, OptionalMap: self.optional_map,
            Bind: self.bind,
        }  # fmt: skip

    def emit(self, tree: Expr) -> str:
        """Writes what must run before, and answers an expression of Python for the value."""
        code = self.code
        if id(tree) in self._written:
            return self._written.pop(id(tree))
        self._left_first(tree)
        if not code.crowded:
            return code.short(self._kinds[tree.__class__](tree))
        name = code.name()
        with code.function(name):
            value = self._kinds[tree.__class__](tree)
            code.flush()
            code.line(f"return {value}")
        return code.keep(f"{name}()")

    def _left_first(self, tree: Expr) -> None:
        """`a + b + c + ...` leans to the left; written from the inside out, it needs no calls within calls."""
        spine: list[Expr] = []
        while isinstance(tree, Call) and tree.function in _BINARY:
            tree = tree.args[0]
            spine.append(tree)
        if len(spine) > _LEANING:
            for one in reversed(spine):
                self._written[id(one)] = self.code.short(self._kinds[one.__class__](one))

    def kept(self, tree: Expr) -> str:
        return self.code.keep(self.emit(tree))

    def _meter(self) -> str:
        self.metered = True
        return "w"

    def condition(self, tree: Expr) -> str:
        """A boolean."""
        found = self.emit(tree)
        return f"truth({found})" if tree.type.kind != "bool" else found

    # -- leaves

    def _const(self, tree: Const) -> str:
        value = tree.value
        if isinstance(value, UInt) or (isinstance(value, float) and not math.isfinite(value)):
            return self.code.constant(value)
        if isinstance(value, int | float) and value.__class__ is not bool and value < 0:
            return f"({value!r})"
        return repr(value)

    def _ident(self, tree: Ident) -> str:
        self.code.cost(1)
        return str(tree.slot.code) if tree.slot is not None else self.code.constant(TypeValue(tree.name))

    # -- access

    def _select(self, tree: Select) -> str:
        if tree.slot is not None:
            self.code.cost(1)
            return str(tree.slot.code)
        if tree.type.kind == "type" and tree.operand.type is None:
            return self.code.constant(TypeValue(_dotted(tree)))
        holder, kind = self.kept(tree.operand), tree.operand.type.kind
        name = repr(tree.key or tree.field)
        if tree.test:
            if kind in ("object", "map"):
                return f"({name} in {holder})"
            return f"({name} in {holder} if {holder}.__class__ is dict else has({holder}, {name}))"
        self.code.cost(1)
        if is_optional(tree.operand.type):
            return self.code.keep(f"optional_select({holder}, {name})")
        if kind not in ("object", "map"):
            read = f"{holder}.get({name}, M) if {holder}.__class__ is dict else select({holder}, {name})"
            return self._member(read, name, tree.type)
        return self._member(f"{holder}.get({name}, M)", repr(tree.field), tree.type)

    def _member(self, read: str, key: str, kind: Type) -> str:
        code = self.code
        found = code.name()
        code.line(f"{found} = {read}")
        code.line(f"if {found} is M: no_key({key})")
        if kind.kind in ("int", "double", "timestamp", "duration", "bytes"):
            expected = "int" if kind.kind == "int" else "None"
            code.line(f"elif {found}.__class__ is not {expected}: {found} = present({found}, {key})")
        return found

    def _index(self, tree: Call, holder: str, key: str) -> str:
        one, other = tree.args[0].type, tree.args[1].type
        if one.kind == "list" and isinstance(tree.args[1], Const) and other.kind == "int" and tree.args[1].value >= 0:
            return self.code.keep(f"{holder}[{key}] if {key} < len({holder}) else item_at({holder}, {key})")
        if one.kind == "list" and other.kind == "int":
            found = self.code.name()
            key = self.code.keep(key)
            self.code.line(f"{found} = {holder}[{key}] if 0 <= {key} < len({holder}) else item_at({holder}, {key})")
            return found
        if one.kind == "map" and (other.kind == "string" or other.kind == one.params[0].kind in ("int", "bool")):
            key = self.code.keep(key) if not isinstance(tree.args[1], Const) else key
            return self._member(f"{holder}.get({key}, M)", key, tree.type)
        return self.code.keep(f"index({holder}, {key})")

    # -- calls

    def _call(self, tree: Call) -> str:
        if tree.function is AND or tree.function is OR:
            return self._chain(tree)
        if tree.function is CONDITION:
            return self._choice(tree)
        args = [*([tree.target] if tree.target is not None else []), *tree.args]
        if tree.function is INDEX:
            holder, key = self.kept(args[0]), self.emit(args[1])
            self.code.cost(1)
            return self._index(tree, holder, key)
        if tree.function is OPTIONAL_SELECT or tree.function is OPTIONAL_INDEX:
            self.code.cost(1)
            name = "optional_select" if tree.function is OPTIONAL_SELECT else "optional_index"
            return self.code.keep(f"{name}({self.emit(args[0])}, {self.emit(args[1])})")
        if tree.function in ("_==_", "_!=_"):
            return self._equality(tree, args)
        if tree.function == "@in":
            return self._within(tree, args)
        if len(tree.overloads) == 1:
            only = tree.overloads[0]
            if _direct(only, args):
                return self._direct(only, args, [])
            if all(one.kind in _CLASSES for one in only.args):
                return self._direct(only, args, [arg for arg in args if is_dyn(arg.type)])
        if tree.function in _COMPARISONS:
            kept = [self.kept(arg) for arg in args]
            self._compared(args, kept)
            return self.code.keep(f"{_COMPARISONS[tree.function]}({', '.join(kept)})")
        if tree.function == "size":
            self.code.cost(1)
            return self.code.keep(f"length({self.emit(args[0])})")
        call = self.code.constant(dispatcher(tree.overloads))
        found, cost = self.code.name(), self.code.name()
        values = ", ".join([self.emit(arg) for arg in args])
        self.code.line(f"{found}, {cost} = {call}({self._meter()}, {values})")
        self.code.line(f"c += {cost}")
        self.code.line("if c > limit: raise CostExceeded")
        return found

    def _direct(self, one: Overload, args: list[Expr], doubtful: list[Expr]) -> str:
        """`doubtful`: arguments whose types must be looked at."""
        code = self.code
        values = [
            self.kept(arg) if one.work is not None and not isinstance(arg, Const) else self.emit(arg) for arg in args
        ]
        for place, arg in enumerate(args):
            if arg in doubtful:
                values[place] = code.keep(values[place])
                code.line(f"if {values[place]}.__class__ is not {_CLASSES[one.args[place].kind]}: no_overload()")
        if one.function in _ARITHMETIC and one.result.kind == "int":
            code.cost(1)
            found = code.name()
            code.line(f"{found} = {values[0]} {_ARITHMETIC[one.function]} {values[1]}")
            code.line(f"if {_INT_LIMITS.format(found)}: overflow()")
            return found
        self._count(one, args, values)
        if one.inline:
            inlined = one.inline.format(*values)
            return inlined if one.sure or one.result.kind == "bool" or one.function == "size" else code.keep(inlined)
        if one.metered:
            values.append(self._meter())
        return code.keep(f"{code.constant(one.run)}({', '.join(values)})")

    def _count(self, one: Overload, args: list[Expr], values: list[str]) -> None:
        if one.work is None:
            self.code.cost(1)
            return
        if one.work is work.compared:
            self._compared(args, values)
            return
        if one.work is work.counted:
            sizes = [f"max(0, {values[0]})"]
        else:
            sizes = [self._size(arg, value) for arg, value in zip(args, values, strict=True)]
        least, most = ([int(size) if size.isdigit() else other for size in sizes] for other in _RANGE)
        cost = one.work(least)
        if cost == one.work(most):  # what is not known does not matter
            self.code.cost(cost)
        else:
            self.code.line(f"c += {self.code.constant(one.work)}(({', '.join(sizes)},))")
            self.code.line("if c > limit: raise CostExceeded")

    @staticmethod
    def _size(arg: Expr, value: str) -> str:
        if isinstance(arg, Const):
            return str(work.size_of(arg.value))
        if arg.type.kind in _SIZED:
            return f"len({value})"
        return f"size_of({value})" if is_dyn(arg.type) else "1"

    def _compared(self, args: list[Expr], values: list[str]) -> None:
        """As much is looked at as the smaller one has."""
        if any(isinstance(arg, Const) and work.size_of(arg.value) <= _SMALL for arg in args):
            self.code.cost(1)
            return
        one, other = (self._size(arg, value) for arg, value in zip(args, values, strict=True))
        if one == "1" or other == "1":
            self.code.cost(1)
        else:
            self.code.line(f"c += 1 if {one} <= {_SMALL} or {other} <= {_SMALL} else tenth(min({one}, {other}))")

    def _equality(self, tree: Call, args: list[Expr]) -> str:
        kinds = {arg.type.kind for arg in args}
        simple = len(kinds) == 1 and kinds <= _PRIMITIVE
        values = [self.emit(arg) if simple and not kinds <= _SIZED else self.kept(arg) for arg in args]
        self._compared(args, values)
        sign = "==" if tree.function == "_==_" else "!="
        if simple:
            return f"({values[0]} {sign} {values[1]})"
        call = f"equal({values[0]}, {values[1]}, {self._meter()})"
        for constant, value in ((args[0], values[1]), (args[1], values[0])):
            if isinstance(constant, Const) and constant.value.__class__ in (str, int) and not value.startswith(_QUOTES):
                quick = constant.value.__class__.__name__
                call = f"({values[0]} == {values[1]} if {value}.__class__ is {quick} else {call})"
                break
        return call if sign == "==" else f"(not {call})"

    def _within(self, tree: Call, args: list[Expr]) -> str:
        item, holder = args[0].type, args[1].type
        value = self.emit(args[0])
        among = self.kept(args[1])
        if holder.kind == "list":
            self.code.cost(len(args[1].items)) if isinstance(args[1], ListOf) else self.code.line(f"c += len({among})")
            if item.kind in _PRIMITIVE and holder.params[0].kind == item.kind:
                return f"({value} in {among})"
        else:
            self.code.cost(1)
            if holder.kind == "map" and (item.kind == "string" or (item.kind == "int" == holder.params[0].kind)):
                return f"({value} in {among})"
        return self.code.keep(f"contains({among}, {value}, {self._meter()})")

    def _chain(self, tree: Call) -> str:
        """&& and ||: an error counts only where no other term decides."""
        code = self.code
        found = code.name()
        stops = tree.function is OR
        go_on = f"if not {found}:" if stops else f"if {found}:"
        failed = ""
        for place, term in enumerate(tree.args):
            last = place == len(tree.args) - 1
            guarded = not last and (not sure(term) or term.type.kind != "bool")
            if guarded and not failed:
                failed = code.name()
                code.line(f"{failed} = None")
            if place == 0:
                self._term(term, found, failed if guarded else "", stops)
            else:
                with code.block(go_on):
                    self._term(term, found, failed if guarded else "", stops)
        if failed:
            code.line(f"{go_on[:-1]} and {failed} is not None: raise {failed}")
        return found

    def _term(self, term: Expr, found: str, failed: str, stops: bool) -> None:
        code = self.code
        if not failed:
            value = self.condition(term)
            code.flush()
            code.line(f"{found} = {value}")
            return
        with code.block("try:"):
            code.line(f"{found} = {self.condition(term)}")
        with code.block("except FAULTS as fault:"):
            code.line(f"{failed} = {failed} or fault.with_traceback(None)")
            code.line(f"{found} = {not stops}")

    def _choice(self, tree: Call) -> str:
        code = self.code
        condition = self.condition(tree.args[0])
        found = code.name()
        with code.block(f"if {condition}:"):
            code.line(f"{found} = {self.emit(tree.args[1])}")
        with code.block("else:"):
            code.line(f"{found} = {self.emit(tree.args[2])}")
        return found

    # -- literals

    def _list(self, tree: ListOf) -> str:
        if not tree.optional and all(isinstance(item, Const) for item in tree.items):
            return self.code.constant([item.value for item in tree.items if isinstance(item, Const)])
        self.code.cost(work.LIST_COST)
        if not tree.optional:
            return self.code.keep(f"[{', '.join([self.emit(item) for item in tree.items])}]")
        found = self.code.keep("[]")
        for place, item in enumerate(tree.items):
            value = self.kept(item)
            if place in tree.optional:
                self.code.line(f"if {value}.there: {found}.append({value}.held)")
            else:
                self.code.line(f"{found}.append({value})")
        return found

    def _map(self, tree: MapOf) -> str:
        self.code.cost(work.MAP_COST)
        found = self.code.keep("{}")
        for place, (key, value) in enumerate(tree.entries):
            name, held = self.kept(key), self.kept(value)
            if not isinstance(key, Const) or len(tree.entries) > 1:
                self.code.line(f"if {name} in {found}: raise Fault('Failed with repeated key')")
            if place in tree.optional:
                self.code.line(f"if {held}.there: {found}[{name}] = {held}.held")
            else:
                self.code.line(f"{found}[{name}] = {held}")
        return found

    def _message(self, tree: Message) -> str:
        self.code.cost(work.STRUCT_COST)
        found = self.code.keep(f"{self.code.constant(Struct)}()")
        self.code.line(f"{found}.type_name = {tree.type.name!r}")
        fields = tree.type.fields
        for place, (name, value, _) in enumerate(tree.fields):
            member = fields.field(name) if fields is not None else None
            key, held = repr(member.key if member is not None else name), self.kept(value)
            if place in tree.optional:
                self.code.line(f"if {held}.there: {found}[{key}] = {held}.held")
            else:
                self.code.line(f"{found}[{key}] = {held}")
        return found


def _direct(one: Overload, args: list[Expr]) -> bool:
    """Whether the arguments are what the only fitting signature asks for, without a look at them."""
    return all(
        not is_dyn(arg.type) or wanted.kind in ("param", "dyn") for arg, wanted in zip(args, one.args, strict=True)
    )


def _dotted(tree: Expr) -> str:
    if isinstance(tree, Select):
        return f"{_dotted(tree.operand)}.{tree.field}"
    return tree.name if isinstance(tree, Ident) else ""
