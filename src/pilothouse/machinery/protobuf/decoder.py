"""From protobuf to an object in its JSON form: one generated function for each message type, made when first needed.

Generated code reads straight ahead: it asks for each field once, by number, as every encoder of the original writes
them. What is left of a message then (fields in another order, unknown ones, messages in parts) is read by `rest`.
Whatever else does not fit raises `Damaged`; then `repair` reads the message field by field, names what is wrong or puts
it in order, and the straight code reads the result. What is left out follows Go's JSON encoding of the same struct.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan, specials
from pilothouse.machinery.protobuf.absent import absent, empty_literal, members, most_filled, most_items
from pilothouse.machinery.protobuf.again import Again, Messages, Numbers
from pilothouse.machinery.protobuf.encoder import lazily, tag
from pilothouse.machinery.protobuf.entries import MANY, entry_reader
from pilothouse.machinery.protobuf.packed import PACKED
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.protobuf.repair import MAX_DEPTH, check, repair
from pilothouse.machinery.protobuf.rest import check_count, rest_of
from pilothouse.machinery.protobuf.wire import (
    LENGTH,
    VARINTS,
    BadValue,
    Damaged,
    Odd,
    ProtobufError,
    TooMany,
    narrow,
    read_int32,
    read_int64,
    read_unsigned,
    run,
)
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.unordered import Unordered, put_in_order

_SOON: Final = 1024  # bytes of a list of plain values that are read before it is looked whether they come again
_LATE: Final = 16384  # bytes of a list of messages
_LONG: Final = 400  # signs of a literal that are not worth their place

# (data, the same as wire text, from, to, where to add maps in disorder, what to fill, depth) -> what was filled
Decoder = Callable[..., Any]

_FROM_BYTES: Final[dict[str, Callable[[bytes], Any]]] = {
    s.BYTES: specials.decode_bytes,
    s.QUANTITY: specials.decode_quantity,
    s.INT_OR_STRING: specials.decode_int_or_string,
    s.TIME: specials.decode_time,
    s.MICRO_TIME: specials.decode_micro_time,
    s.DURATION: specials.decode_duration,
    s.FIELDS_V1: specials.decode_raw,
    s.RAW: specials.decode_raw,
    s.JSON: specials.decode_raw,
}
# Of many wire texts at once.
_SEVERAL: Final[dict[str, Callable[[list[str]], list[Any]]]] = {
    s.BYTES: specials.decode_several_bytes,
    s.QUANTITY: specials.decode_quantities,
}


def decode_message(
    schema: Schema, data: bytes | memoryview, api_version: str = "", kind: str = "", unordered: Unordered | None = None
) -> dict[str, Any]:
    """The object in a message of a STRUCT type, without an envelope; `kind` and `api_version` come first where given.

    `unordered`: long maps that are not by key are left so, and added to it, for `put_all_in_order`. Raises
    ProtobufError with the original's words.
    """
    found: Unordered = []
    obj = _read(schema, bytes(data), api_version, kind, found)
    if unordered is None:
        put_in_order(found)
    else:
        unordered += found
    return obj


def _read(schema: Schema, data: bytes, api_version: str, kind: str, unordered: Unordered) -> dict[str, Any]:
    decode = decoder(schema)
    try:
        try:
            return _decode(decode, data, api_version, kind, unordered)
        except Damaged as error:
            if isinstance(error.why, BadValue):
                raise
            whole = error.data[error.start : error.end]
            check(error.schema, whole, error.read - error.start)  # says what is wrong, if anything is
            whole = repair(schema, data)
        unordered.clear()
        return _decode(decode, whole, api_version, kind, unordered)
    except Damaged as error:
        if isinstance(error.why, ProtobufError):
            raise error.why from None
        raise ProtobufError("unexpected EOF") from None
    except RecursionError:
        raise ProtobufError("proto: message is nested too deep") from None


def _decode(decode: Decoder, data: bytes, api_version: str, kind: str, unordered: Unordered) -> dict[str, Any]:
    obj: dict[str, Any] = {}
    if kind:
        obj["kind"] = kind
    if api_version:
        obj["apiVersion"] = api_version
    decode(data, data.decode("latin-1"), 0, len(data), unordered, obj)
    return obj


def decoder(schema: Schema) -> Decoder:
    """The function that reads the message at data[i:end], compiled at its first use."""
    made: Decoder | None = schema.compiled.get("protobuf.decode")
    if made is None:
        source, names = _Source(schema).build()
        exec(compile(source, f"<protobuf decoder of {schema.name}>", "exec"), names)
        made = schema.compiled["protobuf.decode"] = names["decode"]
    return made


class _Source:
    """Writes the decoder of one message type.

    In it: `b` the bytes, `s` their text, `i` the place of the tag `t`, `o` maps in disorder, `d` the object.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.slots = plan.slots(schema)
        self.nests = plan.nests_itself(schema)
        self.wide = False  # whether `t` holds two bytes
        self.lines: list[str] = []
        self.waiting: list[Slot] = []  # read, but to be put into `d` behind fields that are read later
        self.names: dict[str, Any] = {
            "U": narrow, "R": read_unsigned, "R32": read_int32, "R64": read_int64,
            "N": Odd(), "Odd": Odd, "E": ProtobufError, "TooMany": TooMany, "Damaged": Damaged,
            "schema": schema, "run": run, "check_count": check_count, "Again": Again, "Numbers": Numbers,
        }  # fmt: skip

    def build(self) -> tuple[str, dict[str, Any]]:
        self._body()
        lazily(self.names, "rest", lambda: rest_of(self.schema, decoder(self.schema)))
        source = [
            f"def decode(b, s, i, end, o, d{', depth=0' if self.nests else ''}):",
            "    start = i",
            "    try:",
            *["    " + line for line in self.lines],
            "    except TooMany: raise",
            "    except Damaged as error:",
            "        if error.is_within(b, end): raise",
            "        raise Damaged(schema, b, start, i, end, error) from None",
            "    except (Odd, IndexError, E) as error: raise Damaged(schema, b, start, i, end, error) from None",
        ]
        return "\n".join(source), self.names

    def _body(self) -> None:
        if self.nests:
            self._add(1, f"if depth > {MAX_DEPTH}: raise E('proto: message is nested too deep')")
        self._add(1, "t = b[i] if i < end else 0")
        read: set[int] = set()
        for slot in self.slots:
            if slot.number > 15 and not self.wide:
                self.wide = True
                self._add(1, "if t > 127: t += b[i + 1] << 8")
            read.add(slot.place)
            late = any(other.place < slot.place and other.place not in read for other in self.slots)
            late = late or any(other.place < slot.place for other in self.waiting)
            self._slot(slot, f"x{slot.number} =" if late else f"d[{slot.name!r}] =")
            if late:
                self.waiting.append(slot)
            self._flush(read)
        self._add(1, f"return d if i == end else rest(b, i, end, o, d, start{', depth' if self.nests else ''})")

    def _add(self, indent: int, *lines: str) -> None:
        self.lines += ["    " * indent + line for line in lines]

    def _flush(self, read: set[int]) -> None:
        """Puts what waits into the object as far as everything before it is there."""
        self.waiting.sort(key=lambda slot: slot.place)
        missing = min((other.place for other in self.slots if other.place not in read), default=len(self.slots) + 10**6)
        while self.waiting and self.waiting[0].place < missing:
            slot = self.waiting.pop(0)
            if slot.label == INLINE:
                self._add(1, f"d.update(x{slot.number})")
            else:
                self._add(1, f"if x{slot.number} is not N: d[{slot.name!r}] = x{slot.number}")

    def _slot(self, slot: Slot, target: str) -> None:
        number = self._number(tag(slot))
        if slot.label == INLINE:
            self._inline(slot, target, number)
            return
        if slot.label == LIST and slot.kind in PACKED:
            self._numbers(slot, target, number)
            return
        self._add(1, f"if t == {number}:")
        if slot.label == LIST:
            self._add(2, f"{target} l = []" if target[0] == "d" else f"l = {target} []")
            if most := most_items(slot):
                filled = most_filled(slot) or most
                least = min(most, filled) * (len(tag(slot)) + 1)
                counted = f"check_count(b, i, end, {number}, {slot.go_name!r}, {most}, {filled})"
                self._add(2, f"if end - i > {least}: {counted}")
            again = self._watched(slot)
            if again:
                self._add(2, f"look, c = i + {again[0]}, N")
            self._add(2, f"while t == {number}:")
            if again:
                self._again(3, *again[1:])
            self._value(slot, 3, "l.append({})")
        elif slot.label == MAP:
            self._entries(slot, target, number)
        else:
            self._value(slot, 2, f"{target} {{}}", self._kept(slot))
        self._else(slot, target)

    def _number(self, text: str) -> int:
        """A tag as `t` holds it."""
        return ord(text[0]) | (ord(text[1]) << 8 if self.wide else 0)

    def _numbers(self, slot: Slot, target: str, number: int) -> None:
        """Reads a list of numbers, each in a field or many packed into one."""
        self.names[f"N{slot.number}"] = PACKED[slot.kind]
        packed = self._number(VARINTS[slot.number << 3 | LENGTH])
        self._add(1, f"l, look, c = [], i + {_SOON}, N", f"while t == {number} or t == {packed}:")
        if slot.kind == s.BOOL:
            self._again(2, "Again(i)", "step(b, i, end, {0: l})")
        else:
            self._again(2, f"Numbers({slot.number << 3}, i)", "take(b, i, end, l)")
        self._add(2, f"if t == {number}:")
        self._value(slot, 3, "l.append({})")
        self._add(2, "else:")
        self._length(3)
        self._add(3, "if e > end: raise Odd", f"if n: l += N{slot.number}(b[j:e])", *self._next("e"))
        self._add(1, f"if l: {target} l")
        self._else(slot, target)

    def _watched(self, slot: Slot) -> tuple[int, str, str] | None:
        """Of a list in which the same may come again: how far it is read before a look, who looks, and how."""
        if slot.kind == s.STRING:
            return _SOON, "Again(i)", "step(b, i, end, {0: l})"
        if not most_items(slot) or plan.nests_itself(slot.schema):
            return None
        self.names[f"L{slot.number}"] = partial(Messages, slot)
        return _LATE, f"L{slot.number}(i)", "grow(b, i, end, l)"

    def _again(self, indent: int, watcher: str, step: str) -> None:
        """Counts copies of what was read into a long list."""
        self._add(
            indent,
            "if i >= look:",
            f"    if c is N: c = {watcher}",
            f"    i, look = c.{step}, c.look",
            f"    {self._next()[0]}",
            "    continue",
        )

    def _inline(self, slot: Slot, target: str, number: int) -> None:
        function = self._nested(slot)
        filled = "d" if target[0] == "d" else f"x{slot.number}"
        if filled != "d":
            self._add(1, f"{filled} = {{}}")
        self._add(1, f"if t == {number}:")
        self._length(2)
        self._add(2, f"{function}(b, s, j, e, o, {filled})", *self._next("e"))
        shown = members(slot.schema)
        if shown:
            self._add(1, f"else: {filled}.update({{{', '.join(shown)}}})")

    def _kept(self, slot: Slot) -> str:
        """The condition under which a value that was sent is shown."""
        if slot.pointer or (slot.kind in (s.TIME, s.MICRO_TIME) and slot.omitzero):
            return "" if slot.pointer else "{0} is not None"
        if slot.omitempty and slot.kind in plan.SCALARS:
            return "{0}"
        return ""

    def _else(self, slot: Slot, target: str) -> None:
        shown = absent(slot)
        if shown or target[0] == "x":
            self._add(1, f"else: {target} {shown or 'N'}")

    def _next(self, end: str = "") -> list[str]:
        """Statements that step to the next tag, from `i` or from `end`."""
        step = [f"i = {end}"] if end else []
        return [*step, "t = b[i] | b[i + 1] << 8 if i < end else 0" if self.wide else "t = b[i] if i < end else 0"]

    def _length(self, indent: int) -> None:
        """Reads the length behind the tag: then the payload is at j to e.

        `i` stays at the tag until the field is read, for a message that is `Damaged` tells where that is.
        """
        size = 2 if self.wide else 1
        self._add(
            indent,
            f"n = b[i + {size}]",
            f"if n < 128: j = i + {size + 1}",
            f"else: n, j = R(b, i + {size})",
            "e = j + n",
        )

    def _value(self, slot: Slot, indent: int, put: str, kept: str = "") -> None:
        """Reads one value at the tag `t`, does `put` with it and steps on."""
        size = 2 if self.wide else 1
        if slot.kind in plan.VARINTS:
            read = "R32" if slot.kind == s.INT32 else "R64"
            self._add(
                indent,
                f"n = b[i + {size}]",
                f"if n < 128: j = i + {size + 1}",
                f"else: n, j = {read}(b, i + {size})",
            )
            self._put("n != 0" if slot.kind == s.BOOL else "n", indent, put, kept)
            self._add(indent, *self._next("j"))
        elif slot.kind == s.FLOAT64:
            self.names["F"] = specials.decode_double
            self._add(indent, f"e = i + {size + 8}", "if e > end: raise Odd")
            self._put(f"F(b[i + {size}:e])", indent, put, kept)
            self._add(indent, *self._next("e"))
        else:
            self._length(indent)
            more = self._empty_items(slot, indent)
            self._put(self._payload(slot, indent + more), indent + more, put, kept)
            self._add(indent, *self._next("e"))

    def _empty_items(self, slot: Slot, indent: int) -> int:
        """Takes empty items of a list all at once: 1 where what follows is for other items, 0 where it is for all."""
        empty = empty_literal(slot.schema) if slot.kind == s.STRUCT else "''"
        if slot.label != LIST or slot.kind not in (s.STRUCT, s.STRING) or len(empty) > _LONG:
            return 0
        written = tag(slot)
        several = f"[{empty}] * n" if slot.kind == s.STRING else f"[{empty} for _ in range(n)]"
        self._add(
            indent,
            "if not n:",
            f"    if j - i != {len(written) + 1}: raise Odd",  # a zero of more than one byte
            "    e = run(b, i, j, end)",
            f"    n = (e - i) // {len(written) + 1}",
            f"    l += {several}",
            "else:",
        )
        return 1

    def _put(self, value: str, indent: int, put: str, kept: str) -> None:
        late = put[0] == "x"
        if not kept:
            self._add(indent, put.format(value))
            return
        if value != "v":
            self._add(indent, f"v = {value}")
        self._add(indent, f"if {kept.format('v')}: {put.format('v')}")
        if late:
            self._add(indent, f"else: {put.format('N')}")

    def _payload(self, slot: Slot, indent: int) -> str:
        """The expression for a value whose bytes are at j to e."""
        if slot.kind == s.STRING:
            self._add(indent, "v = s[j:e]", "if not v.isascii(): v = U(v)")
            return "v"
        if slot.kind in _FROM_BYTES:
            function = f"P{slot.number}"
            self.names[function] = _FROM_BYTES[slot.kind]
            # Embedded objects and byte strings must be whole: what was cut short is not worth parsing.
            return f"{function}(b[j:e])"
        deeper = ", depth + 1" if self.nests and slot.kind != plan.WRAPPED and self._target_nests(slot) else ""
        return f"{self._nested(slot)}(b, s, j, e, o, {{}}{deeper})"

    def _target_nests(self, slot: Slot) -> bool:
        message = plan.message_of(slot)
        return message is not None and plan.nests_itself(message)

    def _nested(self, slot: Slot) -> str:
        function = f"D{slot.number}"
        if function not in self.names:
            lazily(self.names, function, lambda: decoder(slot.schema) if slot.kind == s.STRUCT else _indirect(slot))
        return function

    def _entries(self, slot: Slot, target: str, number: int) -> None:
        """Reads a map."""
        if slot.kind in plan.VARINTS or slot.kind == s.FLOAT64:
            raise plan.ProtobufPlanError(f"a map of {slot.kind}")
        function = f"M{slot.number}"
        self.names[function] = entry_reader(tag(slot), self._value_of(slot), _SEVERAL.get(slot.kind))
        deeper = ", depth + 1" if self.nests and self._target_nests(slot) else ""
        size = 2 if self.wide else 1
        self._add(
            2,
            f"m, p, look = {{}}, '', i + {MANY}",
            f"while t == {number}:",
            f"    n = b[i + {size}]",
            f"    if n < 128: q = i + {size + 1}",
            f"    else: n, q = R(b, i + {size})",
            "    e = q + n",
            "    h = q + 2 + b[q + 1]",  # behind the key
            "    n = b[h + 1]",
            "    if n < 128: j = h + 2",
            "    else: n, j = R(b, h + 1)",
            "    k = s[q + 2:h]",
            "    if (b[q] != 10 or b[h] != 18 or j + n != e or e > end or b[q + 1] > 127",
            "            or k <= p or i > look or not k.isascii()):",  # many, or not as the original writes them
            f"        m, i = {function}(b, s, i, end, o, m, p{deeper})",
            *(f"        {line}" for line in self._next()),
            f"        if t == {number}: raise Odd",
            "        break",
            "    p = k",
        )
        self._put(self._payload(slot, 3), 3, "m[k] = {}", "")
        self._add(3, *self._next("e"))
        self._add(2, f"{target} m")

    def _value_of(self, slot: Slot) -> Callable[..., Any] | None:
        """What makes a map's values of (data, wire text, from, to, maps in disorder, depth)."""
        if slot.kind == s.STRING:
            return None
        if slot.kind in _FROM_BYTES:
            of_bytes = _FROM_BYTES[slot.kind]
            return lambda b, s, i, e, o: of_bytes(b[i:e])
        names, function = self.names, self._nested(slot)
        return lambda b, s, i, e, o, *depth: names[function](b, s, i, e, o, {}, *depth)


def _indirect(slot: Slot) -> Decoder:
    """Of a value that is wrapped into a message of its own."""
    message = plan.message_of(slot)
    assert message is not None
    inner, kind = decoder(message), slot.kind
    if kind == plan.WRAPPED:
        return lambda b, s, i, end, o, d: inner(b, s, i, end, o, d).get("items")
    return lambda b, s, i, end, o, d, depth=0: plan.from_union(kind, inner(b, s, i, end, o, d, depth))
