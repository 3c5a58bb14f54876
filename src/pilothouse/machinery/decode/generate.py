"""Decoders as generated Python: one straight-line function for each struct type, made when it is first needed.

The functions know only the good case. Anything else raises Mismatch (or is flagged in Findings), and `explain` walks
again to word it.
"""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson

from pilothouse.kit.memo import Stamped
from pilothouse.machinery import schema as s
from pilothouse.machinery.decode import lists, scalars
from pilothouse.machinery.decode.findings import Findings, Mismatch
from pilothouse.machinery.decode.lists import LONG, Column, ListDecoder, LongLists, Reader
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.errors import too_large
from pilothouse.machinery.quantity import QuantityError, shown
from pilothouse.machinery.schema import Field, Schema

StructDecoder = Callable[[Any, Findings], dict[str, Any]]
_LongDecoder = Callable[[list[Any], Findings, Callable[..., Any]], list[dict[str, Any]]]

_ONE: Final = "decode"  # keys in Schema.compiled: of one struct,
_MANY: Final = "decode.items"  # and of a list of them, in one loop

# How a value that is not null is read: a condition that holds for good values kept as they are, or an expression that
# raises.
_CHECKS: Final = {
    s.STRING: "{x}.__class__ is str",
    s.BOOL: "{x}.__class__ is bool",
    s.INT32: "{x}.__class__ is int and -2147483648 <= {x} <= 2147483647",
    s.INT64: "{x}.__class__ is int and -9223372036854775808 <= {x} <= 9223372036854775807",
}
_READS: Final = {
    s.STRING: "text({x})",
    s.BOOL: "boolean({x})",
    s.INT32: "int32({x})",
    s.INT64: "int64({x})",
    s.FLOAT64: "float64({x})",
    s.BYTES: "octets({x})",
    s.QUANTITY: "(shown({x}) if {x}.__class__ is str else quantity({x}, f))",
    s.INT_OR_STRING: "int_or_string({x})",
    s.TIME: "time({x})",
    s.MICRO_TIME: "micro_time({x})",
    s.DURATION: "duration({x})",
    s.FIELDS_V1: "{x}",
    s.RAW: "{x}",
    s.JSON: "any_json({x})",
}
# What stands for null or absence where something must stand.
_ZEROS: Final = {
    s.STRING: '""', s.BOOL: "False", s.INT32: "0", s.INT64: "0", s.FLOAT64: "0", s.QUANTITY: '"0"',
    s.INT_OR_STRING: "0", s.DURATION: '"0s"',
}  # fmt: skip
_CLASSES: Final[dict[str, type]] = {s.STRING: str, s.BOOL: bool}
_RANGES: Final = {
    s.INT32: (scalars.INT32_LEAST, scalars.INT32_MOST), s.INT64: (scalars.INT64_LEAST, scalars.INT64_MOST),
}  # fmt: skip
# Kinds whose zero is left out with omitempty; all others are structs to Go, which are never empty.
_EMPTY_OMITTED: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.LIST, s.MAP, s.BYTES))
_HELPERS: Final = {
    name: getattr(scalars, name)
    for name in (
        "a_list", "a_map", "any_json", "boolean", "duration", "float64", "int32", "int64", "int_or_string",
        "micro_time", "octets", "quantity", "quantity_list", "quantity_map", "string_map", "strings", "text", "time",
    )
}  # fmt: skip
# No body may be longer, and no store holds such objects. Empty objects are longer when they are decoded.
_LONGEST: Final = 3 << 20
_LONGEST_FILLED: Final = 2 * _LONGEST  # with the defaults (endpoints/body.py)
# After how many fields, and before how many more, it is asked whether anything is left of an object.
_LOOKS: Final = 6
_WORTH_A_LOOK: Final = 4
REFUSALS: Final = (Mismatch, QuantityError)  # what generated code raises


def struct_decoder(schema: Schema) -> StructDecoder:
    """The decoder of a STRUCT, compiled at first use and kept in the schema. It raises one of REFUSALS."""
    made: StructDecoder | None = schema.compiled.get(_ONE)
    if made is None:
        made = _Writer(schema).one()
        if schema.stamped:
            made = _once(made)
        schema.compiled[_ONE] = made
    return made


def _once(decode: StructDecoder) -> StructDecoder:
    """Decodes a value that comes again and again once; its copies are read from the result's JSON."""
    known: Stamped[bytes] = Stamped()

    def decode_known(value: Any, findings: Findings) -> dict[str, Any]:
        if findings.big:
            return decode(value, findings)
        key = known.key(value)
        text = known.get(key)
        if text is not None:
            copy: dict[str, Any] = orjson.loads(text)
            return copy
        remarkable = findings.unknown or findings.inexact
        made = decode(value, findings)
        if key and not remarkable and not findings.unknown and not findings.inexact:
            known.keep(key, orjson.dumps(made))
        return made

    return decode_known


def list_decoder(schema: Schema) -> ListDecoder:
    """The decoder of a list of a STRUCT."""
    made: ListDecoder | None = schema.compiled.get(_MANY)
    if made is None:
        made = schema.compiled[_MANY] = _Writer(schema).many(_long_lists(schema))
    return made


def _long_lists(schema: Schema) -> _LongDecoder:
    """The decoder of long lists of a STRUCT, made when one comes. It is told how lists are decoded object by object."""
    made: list[LongLists] = []

    def decode(values: list[Any], findings: Findings, rows: Callable[..., Any]) -> list[dict[str, Any]]:
        if not made:
            columns = {name: _column(schema, field) for name, field in schema.properties.items()}
            made.append(LongLists(columns, partial(rows, apart=False)))
        return made[0].decode(values, findings)

    return decode


def _column(owner: Schema, field: Field) -> Column:
    dropped = _is_dropped(field)
    empty = dropped and not field.pointer
    if dropped:
        return Column(_reader(owner, field), None, empty)
    zero: Callable[[], Any] = eval(f"lambda: {'None' if field.pointer else zero_text(field.schema)}")
    return Column(_reader(owner, field), zero, empty)


def _reader(owner: Schema, field: Field) -> Reader:
    schema = field.schema
    zero = None if field.pointer or schema.kind not in _ZEROS else literal_eval(_ZEROS[schema.kind])
    if schema.kind in _CLASSES:
        return lists.plain(_CLASSES[schema.kind], zero)
    if schema.kind in _RANGES:
        return lists.whole(*_RANGES[schema.kind], zero)
    if schema.kind == s.INT_OR_STRING:
        return lists.whole(*_RANGES[s.INT32], zero, str)
    if schema.kind == s.STRUCT:
        return lists.structs(list_decoder(schema), null=field.pointer)
    if schema.kind == s.LIST and schema.items.kind == s.STRUCT:
        most = math.inf if field.name == "items" else most_items(schema.items)
        return lists.lists(list_decoder(schema.items), most, _LONGEST, null=not _is_dropped(field))
    one_by_one = lists.each(_Writer(owner).column(field))
    return lists.texts(one_by_one) if schema.kind == s.LIST and schema.items.kind == s.STRING else one_by_one


def zero_text(schema: Schema) -> str:
    """Python source of the zero value of a schema."""
    if schema.kind != s.STRUCT:
        return _ZEROS.get(schema.kind, "None")
    return "{" + ", ".join(_zero_members(schema)) + "}"


def _zero_members(schema: Schema) -> list[str]:
    members = []
    for name, field in schema.properties.items():
        if field.pointer:
            if not field.omitempty:
                members.append(f"{name!r}: None")
        elif not field.omitzero and not (field.omitempty and field.schema.kind in _EMPTY_OMITTED):
            members.append(f"{name!r}: {zero_text(field.schema)}")
    return members


class _Writer:
    """Writes the source of one struct's decoder.

    Names in it: v the parsed object, f the Findings, o the object that is made, n known members seen, x a value.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.lines: list[str] = []
        self.pad = ""
        self.names: dict[str, Any] = {**_HELPERS, "Mismatch": Mismatch, "shown": shown, "too_large": too_large}

    def one(self) -> StructDecoder:
        self._add("def decode(v, f):")
        self.pad = "    "
        self._add("if v.__class__ is not dict:")
        self._add(f"    if v is None: return {zero_text(self.schema)}")
        self._add("    raise Mismatch")
        self._body("return o")
        self._add("return o")
        made: StructDecoder = self._compiled()
        return made

    def many(self, long: _LongDecoder) -> ListDecoder:
        """`long` decodes long lists, but for those that it gives back (`apart=False`)."""
        self.names["long"] = long
        self._add("def decode(vs, f, apart=True):")
        self.pad = "    "
        self._add("if vs.__class__ is not list: raise Mismatch")
        self._add(f"if apart and len(vs) >= {LONG}: return long(vs, f, decode)")
        self._add("made = []")
        self._add("for v in vs:")
        self.pad = "        "
        self._add("if v.__class__ is not dict:")
        self._add("    if v is not None: raise Mismatch")
        self._add(f"    made.append({zero_text(self.schema)})")
        self._add("    continue")
        self._body("made.append(o); continue")
        self._add("made.append(o)")
        self.pad = "    "
        self._add("return made")
        made: ListDecoder = self._compiled()
        return made

    def column(self, field: Field) -> Reader:
        """Of the values of one field what is kept, one by one."""
        kind = field.schema.kind
        zero = "None" if field.pointer else zero_text(field.schema)
        read = self._read(field.schema, "x", 0)
        if not field.pointer and kind in _EMPTY_OMITTED:
            read = f"({read} or None)"
        self._add(f"def decode(xs, f): return [{zero} if x is None else {read} for x in xs]")
        made: Reader = self._compiled()
        return made

    def _compiled(self) -> Any:
        exec(compile("\n".join(self.lines), f"<decoder of {self.schema.name}>", "exec"), self.names)
        return self.names["decode"]

    def _add(self, line: str) -> None:
        self.lines.append(self.pad + line)

    def _body(self, done: str) -> None:
        """Fields one after the other. `done`: what to do when all members of the object have been seen."""
        self._add("o = {}")
        self._add("n = 0")
        fields = self.schema.properties.items()
        left = len(fields)
        needed = max((place for place, (_, field) in enumerate(fields) if not _is_dropped(field)), default=-1)
        if needed < 0 and left >= _WORTH_A_LOOK:
            self._add(f"if not v: {done}")
        for place, (name, field) in enumerate(fields):
            self._field(repr(name), field)
            left -= 1
            if place >= needed and left >= _WORTH_A_LOOK and (place - needed) % _LOOKS == 0:
                self._add(f"if n == len(v): {done}")
        self._add("if n != len(v): f.unknown = True")

    def _field(self, name: str, field: Field) -> None:
        add = self._add
        kind = field.schema.kind
        zero = "None" if field.pointer else zero_text(field.schema)
        dropped = _is_dropped(field)
        add(f"if {name} in v:")
        add("    n += 1")
        add(f"    x = v[{name}]")
        check = _CHECKS.get(kind)
        if check is not None:
            self._plain(name, field, check.format(x="x"), dropped, zero)
            return
        add("    if x is not None:")
        if kind == s.LIST and field.schema.items.kind == s.STRUCT and field.name != "items":  # of a list of objects
            most = most_items(field.schema.items)
            add(f"        if x.__class__ is list and len(x) > {most}: raise too_large({_LONGEST})")
        read = self._read(field.schema, "x", 0)
        if field.pointer or not (dropped or kind in _EMPTY_OMITTED):
            add(f"        o[{name}] = {read}")
        else:
            add(f"        x = {read}")
            # Stored objects cannot tell an empty list from none; where one must be shown, the original shows null.
            add(f"        if x: o[{name}] = x" if dropped else f"        o[{name}] = x or None")
        if not dropped:
            add(f"    else: o[{name}] = {zero}")
            add(f"else: o[{name}] = {zero}")

    def _plain(self, name: str, field: Field, check: str, dropped: bool, zero: str) -> None:
        """A field whose value is kept as it is when `check` holds."""
        add = self._add
        add(f"    if {check}:")
        add(f"        if x: o[{name}] = x" if dropped and not field.pointer else f"        o[{name}] = x")
        if dropped:
            add("    elif x is not None: raise Mismatch")
        else:
            add(f"    elif x is None: o[{name}] = {zero}")
            add("    else: raise Mismatch")
            add(f"else: o[{name}] = {zero}")

    def _read(self, schema: Schema, x: str, depth: int) -> str:
        """An expression that reads `x`, which is not None."""
        if schema.kind == s.STRUCT:
            return f"{self._decoder(schema, struct_decoder, _ONE)}({x}, f)"
        if schema.kind == s.LIST:
            if schema.items.kind == s.STRING:
                return f"strings({x})"
            if schema.items.kind == s.QUANTITY:
                return f"quantity_list({x}, f)"
            if schema.items.kind == s.STRUCT:
                return f"{self._decoder(schema.items, list_decoder, _MANY)}({x}, f)"
            y = f"y{depth}"
            return f"[{self._nested(schema.items, y, depth)} for {y} in a_list({x})]"
        if schema.kind == s.MAP:
            if schema.items.kind == s.STRING:
                return f"string_map({x}, f)"
            if schema.items.kind == s.QUANTITY:
                return f"quantity_map({x}, f)"
            # The original stores an empty text for null bytes.
            y, k, m = f"y{depth}", f"k{depth}", f"m{depth}"
            item = self._nested(schema.items, y, depth, '""' if schema.items.kind == s.BYTES else None)
            return f"{{{k}: {item} for {m} in (a_map({x}),) for {k} in sorted({m}) for {y} in ({m}[{k}],)}}"
        if schema.kind == s.JSON and schema.name in JSON_SCHEMA_CHOICES:
            return f"{self._choice(schema)}({x}, f)"
        return _READS[schema.kind].format(x=x)

    def _nested(self, schema: Schema, y: str, depth: int, zero: str | None = None) -> str:
        """An item that may be null."""
        read = self._read(schema, y, depth + 1)
        if schema.kind == s.STRUCT:
            return read  # sees to null by itself
        return f"({zero or zero_text(schema)} if {y} is None else {read})"

    def _decoder(self, schema: Schema, make: Callable[[Schema], Any], key: str) -> str:
        """The name of another struct's decoder, which is compiled when it is first called."""
        name = f"d{len(self.names)}"
        self.names[name] = schema.compiled.get(key) or _Later(schema, make, self.names, name)
        return name

    def _choice(self, schema: Schema) -> str:
        """The name of the reader of a schema-or-something in JSONSchemaProps (which is the struct at hand)."""
        name = f"c{len(self.names)}"
        choose, own = JSON_SCHEMA_CHOICES[schema.name], self.schema
        self.names[name] = lambda value, findings: choose(value, findings, struct_decoder(own))
        return name


def _is_dropped(field: Field) -> bool:
    """Whether a zero value is left out."""
    if field.pointer:
        return field.omitempty
    return field.omitzero or (field.omitempty and field.schema.kind in _EMPTY_OMITTED)


def most_items(schema: Schema) -> int:
    """How many of a STRUCT a list may hold before its JSON is too long for any object."""
    shortest = zero_text(schema).replace("None", "[]").replace("False", "true").replace(" ", "")
    return min(_LONGEST // (len(shortest) + 1), _LONGEST_FILLED // (schema.shortest + 1))


class _Later:
    """Stands for a decoder until it is called, then puts the real one in its place."""

    __slots__ = ("make", "name", "place", "schema")

    def __init__(self, schema: Schema, make: Callable[[Schema], Any], place: dict[str, Any], name: str) -> None:
        self.schema = schema
        self.make = make
        self.place = place
        self.name = name

    def __call__(self, value: Any, findings: Findings) -> Any:
        real = self.place[self.name] = self.make(self.schema)
        return real(value, findings)
