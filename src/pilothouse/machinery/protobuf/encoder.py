"""From an object (its JSON form) to protobuf: one generated function for each message type, made when first needed.

The rules are gogo-protobuf's: fields by number, plain scalars and structs always, pointers, lists and maps when set,
maps by key. Generated code builds wire text (see `wire`), takes what it is given for what the type says, and leaves
it to `explain` to find out what was wrong when that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan, specials
from pilothouse.machinery.protobuf.explain import explain
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.protobuf.templates import REPEATED, remembering
from pilothouse.machinery.protobuf.wire import FIXED64, LENGTH, VARINT, VARINTS, ProtobufError, varint, wide
from pilothouse.machinery.schema import Schema

Encoder = Callable[[Any], str]

_EMPTY: Final[dict[str, Any]] = {}
_WIDE_TAG: Final = 16  # from this number on a tag is not ASCII

# Kinds whose encoder gives its own length.
_SIZED: Final[dict[str, Encoder]] = {
    s.QUANTITY: specials.encode_quantity,
    s.INT_OR_STRING: specials.encode_int_or_string,
    s.TIME: specials.encode_time,
    s.MICRO_TIME: specials.encode_micro_time,
    s.DURATION: specials.encode_duration,
}
_UNSIZED: Final[dict[str, Encoder]] = {
    s.BYTES: specials.encode_bytes,
    s.FIELDS_V1: specials.encode_raw,
    s.RAW: specials.encode_raw,
    s.JSON: specials.encode_raw,
}


def encode_message(schema: Schema, obj: dict[str, Any]) -> bytes:
    """The message of a STRUCT type, without an envelope. `apiVersion`, `kind` and unknown fields are not written.

    Raises ProtobufError where the object is not what its type says.
    """
    try:
        return encoder(schema)(obj).encode("latin-1")
    except ProtobufError:
        raise
    except RecursionError:
        raise ProtobufError("object is nested too deep") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProtobufError(explain(schema, obj) or f"{schema.name}: {error}") from error


def encoder(schema: Schema) -> Encoder:
    """The function that makes wire text of an object, compiled at its first use."""
    made: Encoder | None = schema.compiled.get("protobuf.encode")
    if made is None:
        source = _Source(plan.slots(schema), REPEATED.get(schema.name, frozenset()))
        made = schema.compiled["protobuf.encode"] = _compiled(source, schema.name)
    return made


def _compiled(source: _Source, name: str) -> Encoder:
    text, names = source.build()
    exec(compile(text, f"<protobuf encoder of {name}>", "exec"), names)
    made: Encoder = names["encode"]
    return made


def _of_field(slot: Slot) -> Encoder:
    """The encoder of one field's value, tag and all, which remembers."""
    alone = _compiled(_Source((slot,), frozenset()), slot.name)
    return remembering(lambda value: alone({slot.name: value}))


def lazily(names: dict[str, Any], name: str, make: Callable[[], Callable[..., Any]]) -> None:
    """Puts a function under `name` that makes the real one at its first call and then stands back."""

    def first(*args: Any) -> Any:
        made = names[name] = make()
        return made(*args)

    names[name] = first


def text_literal(wire: str) -> str:
    """Wire text as it stands inside a quoted literal (or an f-string) of generated code."""
    return "".join(f"\\x{ord(char):02x}" for char in wire)


def tag(slot: Slot) -> str:
    kind = VARINT if slot.kind in plan.VARINTS and slot.label != MAP else LENGTH
    if slot.kind == s.FLOAT64 and slot.label != MAP:
        kind = FIXED64
    return varint(slot.number << 3 | kind)


def _value_tag(slot: Slot) -> str:
    """Of the value in a map's entry."""
    kind = VARINT if slot.kind in plan.VARINTS else FIXED64 if slot.kind == s.FLOAT64 else LENGTH
    return varint(2 << 3 | kind)


class _Source:
    """Writes the encoder of one message type."""

    def __init__(self, slots: tuple[Slot, ...], repeated: frozenset[str]) -> None:
        """`repeated`: names of the fields whose values are remembered."""
        self.slots = slots
        self.repeated = repeated
        self.lines = ["def encode(o):"]
        self.put = "r ="  # until something has been written
        self.names: dict[str, Any] = {"V": VARINTS, "W": wide, "Z": _EMPTY}

    def build(self) -> tuple[str, dict[str, Any]]:
        group: list[Slot] = []
        for slot in self.slots:
            if slot.required and slot.kind in plan.SCALARS:
                group.append(slot)
                continue
            self._group(group)
            group = []
            self._begin()
            self._slot(slot)
        self._group(group)
        self._begin()
        self.lines.append("    return r")
        return "\n".join(self.lines), self.names

    def _add(self, indent: int, *lines: str) -> None:
        self.lines += ["    " * indent + line for line in lines]

    def _begin(self) -> None:
        if self.put == "r =":
            self._add(1, 'r = ""')
            self.put = "r +="

    def _group(self, slots: list[Slot]) -> None:
        """Plain scalars beside each other are one f-string; each is written, set or not."""
        if not slots:
            return
        for slot in slots:
            zero = '""' if slot.kind == s.STRING else "0"
            var = f"v{slot.number}"
            self._add(1, f"{var} = (o[{slot.name!r}] or {zero}) if {slot.name!r} in o else {zero}")
        texts = [slot for slot in slots if slot.kind == s.STRING]
        together = "".join(text_literal(tag(slot)) + self._piece(slot, f"v{slot.number}") for slot in slots)
        if len(texts) > 1 and all(slot.number < _WIDE_TAG for slot in slots):
            # Short ASCII texts, the usual case, are seen with one look at the whole.
            self._add(1, f'a = f"{together}"', "if not a.isascii():")
            for slot in texts:
                self._add(2, f"if not v{slot.number}.isascii(): v{slot.number} = W(v{slot.number})")
            self._add(2, f'a = f"{together}"')
            self._add(1, f"{self.put} a")
            self.put = "r +="
            return
        for slot in texts:
            self._add(1, f"if not v{slot.number}.isascii(): v{slot.number} = W(v{slot.number})")
        self._add(1, f'{self.put} f"{together}"')
        self.put = "r +="

    def _slot(self, slot: Slot) -> None:
        if slot.label == INLINE:
            self._add(1, "v = o", *self._write(slot, "v"))
            return
        name = repr(slot.name)
        if slot.name in self.repeated:
            lazily(self.names, f"K{slot.number}", lambda: _of_field(slot))
            if slot.required:
                self._add(1, f"r += K{slot.number}(o[{name}] if {name} in o else None)")
            else:
                self._add(1, f"if {name} in o and (v := o[{name}]) is not None: r += K{slot.number}(v)")
        elif slot.label == MAP:
            self._add(1, f"if {name} in o and (m := o[{name}]):")
            self._entries(slot)
        elif slot.label == LIST:
            self._add(1, f"if {name} in o and (l := o[{name}]):")
            self._add(2, "for v in l:")
            self._add(3, *self._write(slot, "v"))
        elif slot.required:
            absent = "Z" if slot.kind == s.STRUCT else "None"
            present = f"o[{name}] or Z" if slot.kind == s.STRUCT else f"o[{name}]"
            self._add(1, f"v = {present} if {name} in o else {absent}", *self._write(slot, "v"))
        else:
            self._add(1, f"if {name} in o and (v := o[{name}]) is not None:")
            self._add(2, *self._write(slot, "v"))

    def _write(self, slot: Slot, var: str) -> list[str]:
        return [*self._prepare(slot, var), f'r += f"{text_literal(tag(slot))}{self._piece(slot, var)}"']

    def _entries(self, slot: Slot) -> None:
        piece = f"{{V[len(k)]}}{{k}}{text_literal(_value_tag(slot))}{self._piece(slot, 'v')}"
        self._add(2, "for k in sorted(m):", "    v = m[k]")
        if slot.kind == s.STRING:
            self._add(3, f'a = f"\\n{piece}"', "if not a.isascii():")
            self._add(4, "if not k.isascii(): k = W(k)", *self._prepare(slot, "v"), f'a = f"\\n{piece}"')
        else:
            self._add(3, "if not k.isascii(): k = W(k)")
            if slot.kind == s.BYTES:  # no bytes at all are not written
                self._add(3, "if v is None: a = f'\\n{V[len(k)]}{k}'", "else:")
                self._add(4, *self._prepare(slot, "v"), f'a = f"\\n{piece}"')
            else:
                self._add(3, *self._prepare(slot, "v"), f'a = f"\\n{piece}"')
        self._add(3, f'r += f"{text_literal(tag(slot))}{{V[len(a)]}}{{a}}"')

    def _prepare(self, slot: Slot, var: str) -> list[str]:
        """Statements that turn the value into wire text, where an expression does not do."""
        if slot.kind == s.STRING:
            return [f"if not {var}.isascii(): {var} = W({var})"]
        if slot.kind in _SIZED or slot.kind in plan.VARINTS or slot.kind == s.FLOAT64:
            return []
        function = f"E{slot.number}"
        if slot.kind in _UNSIZED:
            self.names[function] = _UNSIZED[slot.kind]
            return [f"{var} = {function}({var})"]
        if slot.kind == s.STRUCT:
            lazily(self.names, function, lambda: encoder(slot.schema))
            null = " or Z" if slot.label in (LIST, MAP) else ""
            return [f"{var} = {function}({var}{null})"]
        lazily(self.names, function, lambda: _indirect(slot))
        return [f"{var} = {function}({var})"]

    def _piece(self, slot: Slot, var: str) -> str:
        """What stands behind the tag, as a part of an f-string."""
        if slot.kind in plan.VARINTS:
            return f"{{V[{var}]}}"
        if slot.kind == s.FLOAT64:
            self.names["F"] = specials.encode_double
            return f"{{F({var})}}"
        if slot.kind in _SIZED:
            function = f"S{slot.number}"
            self.names[function] = _SIZED[slot.kind]
            return f"{{{function}({var})}}"
        return f"{{V[len({var})]}}{{{var}}}"


def _indirect(slot: Slot) -> Encoder:
    """Of a value that is wrapped into a message of its own first."""
    message = plan.message_of(slot)
    assert message is not None
    inner, kind = encoder(message), slot.kind
    if kind == plan.WRAPPED:
        return lambda value: inner({"items": value})
    return lambda value: inner(plan.to_union(kind, value))
