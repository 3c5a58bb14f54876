"""The exact walk over a document: which fields are unknown or repeated, and why it does not fit.

Runs only when the decoder met something unexpected. It goes in the order of the document, as the original's decoder
does: the first type error is kept while decoding goes on, but a refused text (time, quantity) ends it and is what the
client sees.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery import quantity as quantities
from pilothouse.machinery import schema as s
from pilothouse.machinery import times
from pilothouse.machinery.decode import plan as p
from pilothouse.machinery.decode.amounts import is_readable
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.decode.plan import Member, Plan
from pilothouse.machinery.decode.scalars import INT32_LEAST, INT32_MOST, INT64_LEAST, INT64_MOST, SMALL, unbase64
from pilothouse.machinery.decode.schemaprops import OR_BOOL, OR_STRINGS
from pilothouse.machinery.digits import text_of_real
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import Literal, Repeated, go_float, kind_of
from pilothouse.machinery.schema import Schema

_DEEPEST: Final = 500  # structs in each other; decoding goes no deeper
_TURN: Final = 1000  # values between two looks whether others wait
_PLAIN_NAMES: Final = {
    s.STRING: "string", s.BOOL: "bool", s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.BYTES: "[]uint8",
    s.QUANTITY: "resource.Quantity", s.INT_OR_STRING: "intstr.IntOrString", s.TIME: "v1.Time",
    s.MICRO_TIME: "v1.MicroTime", s.DURATION: "v1.Duration",
    s.FIELDS_V1: "v1.FieldsV1", s.RAW: "runtime.RawExtension", s.JSON: "interface {}",
}  # fmt: skip
_TEXTS: Final[dict[str, Callable[[str], Any]]] = {
    s.TIME: times.parse_time, s.MICRO_TIME: times.parse_micro_time, s.DURATION: times.parse_duration,
}  # fmt: skip


def explain(
    schema: Schema, value: Any, findings: Findings, repeated: Repeated | None = None, *, fits: bool = False
) -> None:
    """Add all strict findings, then raise DecodeError if the value does not fit. `fits`: it is known to fit."""
    with suppress(_Told):
        _Walk(findings, repeated or {}, None, fits).run(schema, value)


def refusal(schema: Schema, value: Any, data: bytes | None) -> str | None:
    """Why a value does not fit; None where the text that a number had is needed to tell, and not found in `data`."""
    walk = _Walk(Findings(), {}, data, False)
    try:
        walk.run(schema, value)
    except DecodeError as wrong:
        return None if walk.inexact else str(wrong)
    return None


class _Told(Exception):
    """There is no more to tell."""


class _Walk:
    def __init__(self, findings: Findings, repeated: Repeated, data: bytes | None, fits: bool) -> None:
        self.findings: Final = findings
        self.repeated: Final = repeated
        self.data: Final = data  # the document, if numbers do not know their texts
        self.fits: Final = fits
        self.inexact = False  # whether a number was looked at whose text is not known
        self.saved: str | None = None  # the first type error,
        self.saved_what = ""  # and what it is made of
        self.saved_name = ""
        self.saved_stack: tuple[str, ...] = ()
        self.owner: Schema | None = None  # the struct that has the field at hand
        self.way: list[object] = []  # down to the value at hand: fields, keys of maps, indices of lists
        self.depth: i64 = 0
        self.left: i64 = _TURN

    def run(self, schema: Schema, value: Any) -> None:
        try:
            self.value(p.plan_of(schema), value)
        except RecursionError:
            raise DecodeError("exceeded max depth") from None
        if self.saved is not None:
            raise DecodeError(self.saved)

    def value(self, plan: Plan, value: object) -> None:
        code = plan.code
        if code == p.STRING:
            if type(value) is str:
                return
        elif code == p.BOOL:
            if type(value) is bool:
                return
        if value is None:
            return
        if code == p.STRUCT:
            self._struct(plan, value)
        elif code == p.LIST or code == p.STRINGS or code == p.QUANTITIES:
            self._list(plan, value)
        elif code == p.MAP or code == p.STRING_MAP or code == p.QUANTITY_MAP:
            self._map(plan, value)
        else:
            self._scalar(plan, value)

    def _turn(self) -> None:
        self.left -= 1
        if self.left < 0:
            self.left = _TURN
            give_way()

    def _struct(self, plan: Plan, value: object) -> None:
        if type(value) is not dict:
            self._mistyped(value, plan)
            return
        self._turn()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise RecursionError
        outer = self.owner
        struct = plan.struct()
        members = struct.members
        self.way.append(None)
        pairs = self.repeated.get(id(value)) if self.repeated else None
        if pairs is None:
            for key, item in value.items():
                self._member(struct.schema, members.get(key), key, item)
        else:
            seen: set[str] = set()
            told: set[str] = set()
            for key, item in pairs:
                if key not in seen:
                    seen.add(key)
                elif key not in members:
                    continue
                elif key not in told and self.saved is None:
                    told.add(key)
                    self._note("duplicate", key)
                self._member(struct.schema, members.get(key), key, item)
        self.way.pop()
        self.owner = outer
        self.depth -= 1

    def _member(self, owner: Schema, member: Member | None, key: str, item: object) -> None:
        if member is None:
            if self.saved is None:
                self._note("unknown", key)
            return
        code = member.code
        if code == p.STRING:
            if type(item) is str:
                return
        elif code == p.BOOL:
            if type(item) is bool:
                return
        # When it is known that it does not fit, nobody is told of findings, and only what ends decoding still counts.
        if self.saved is not None and not member.plan.ends():
            return
        self.owner = owner
        self.way[-1] = member
        self.value(member.plan, item)

    def _note(self, what: str, key: str) -> None:
        if not self.findings.full:
            path = self._path()
            self.findings.note(f"{what} field {quote(f'{path}.{key}' if path else key)}")
        if self.fits and self.findings.full:
            raise _Told

    def _path(self) -> str:
        """Of the container at hand."""
        parts: list[str] = []
        for step in self.way[:-1]:
            if isinstance(step, int):
                parts.append(f"[{step}]")
            else:
                parts.append(f".{step.name if isinstance(step, Member) else step}")
        path = "".join(parts)
        return path[1:] if path.startswith(".") else path

    def _stack(self) -> tuple[str, ...]:
        """The names of fields down to the one at hand, and of structs between them."""
        stack: list[str] = []
        for step in self.way:
            if isinstance(step, Member):
                stack.extend(step.above)
                stack.append(step.name)
        return tuple(stack)

    def _map(self, plan: Plan, value: object) -> None:
        if type(value) is not dict:
            self._mistyped(value, plan)
            return
        self._turn()
        items = plan.items()
        ends = items.ends()
        self.way.append(None)
        pairs = self.repeated.get(id(value)) if self.repeated else None
        if pairs is None:
            for key, item in value.items():
                if self.saved is not None and not ends:
                    break
                self._item(items, key, item)
        else:
            seen: set[str] = set()
            told: set[str] = set()
            for key, item in pairs:
                if self.saved is not None and not ends:
                    break
                if key not in seen:
                    seen.add(key)
                elif key not in told:
                    told.add(key)
                    self._note("duplicate", key)
                self._item(items, key, item)
        self.way.pop()

    def _list(self, plan: Plan, value: object) -> None:
        if type(value) is not list:
            self._mistyped(value, plan)
            return
        self._turn()
        items = plan.items()
        ends = items.ends()
        self.way.append(None)
        for index, item in enumerate(value):
            if self.saved is not None and not ends:
                break
            self._item(items, index, item)
        self.way.pop()

    def _item(self, items: Plan, place: object, item: object) -> None:
        if type(item) is str and (items.code == p.STRING or (items.code == p.QUANTITY and is_readable(item))):
            return
        self._turn()
        self.way[-1] = place
        self.value(items, item)

    def _scalar(self, plan: Plan, value: object) -> None:
        code = plan.code
        kind = plan.kind
        if code == p.STRING or code == p.BOOL:
            self._mistyped(value, plan)
        elif kind == s.FLOAT64:
            if kind_of(value) != "number":
                self._mistyped(value, plan)
        elif code == p.INT32:
            self._integer(plan, value, INT32_LEAST, INT32_MOST)
        elif code == p.INT64:
            self._integer(plan, value, INT64_LEAST, INT64_MOST)
        elif kind == s.BYTES:
            self._bytes(plan, value)
        elif code == p.QUANTITY:
            self._quantity(value)
        elif code == p.INT_OR_STRING:
            self._int_or_string(value)
        elif code == p.CHOICE:
            self._choice(plan, value)
        elif kind in _TEXTS:
            self._text(value, _TEXTS[kind])

    def _integer(self, plan: Plan, value: object, least: int, most: int) -> None:
        if type(value) is int:
            if not least <= value <= most:
                self._save(f"number {value}", plan)
        elif kind_of(value) != "number":
            self._mistyped(value, plan)
        else:
            self._save(f"number {self._number(value)}", plan)

    def _choice(self, plan: Plan, value: object) -> None:
        """A schema or something else; what is inside has a decoder of its own, whose refusal is final."""
        name = plan.schema.name
        if name == OR_BOOL and type(value) is not dict and type(value) is not bool:
            raise DecodeError("boolean or JSON schema expected")
        if type(value) is list and name == OR_STRINGS:
            for item in value:
                if item is not None and type(item) is not str:
                    raise DecodeError(self._wrong(kind_of(item), "string"))
            return
        inner = _Walk(Findings(), self.repeated, self.data, False)
        inner.depth = self.depth
        schemas = value if type(value) is list else [value]
        for item in schemas:
            if self.owner is not None and (type(item) is dict or type(item) is list):
                inner.value(p.plan_of(self.owner), item)
        self.inexact = self.inexact or inner.inexact
        if inner.saved is not None:
            raise DecodeError(self._wrong(inner.saved_what, inner.saved_name, inner.saved_stack))

    def _bytes(self, plan: Plan, value: object) -> None:
        if type(value) is not str:
            self._mistyped(value, plan)
            return
        try:
            unbase64(value)
        except DecodeError as wrong:
            if self.saved is None:
                self.saved = str(wrong)

    def _quantity(self, value: object) -> None:
        """A refused quantity ends decoding. No number is, unless it is tiny."""
        if type(value) is float and abs(value) >= SMALL:
            return
        if type(value) is str:
            if is_readable(value):
                return
            text = value
        else:
            text = self._number(value) if kind_of(value) == "number" else "{}"
        try:
            quantities.shown(text)
        except quantities.QuantityError as wrong:
            raise DecodeError(str(wrong)) from None

    def _int_or_string(self, value: object) -> None:
        """Neither ends decoding: Go's decoder of this type is asked, and its refusal is final."""
        if type(value) is str:
            return
        if kind_of(value) != "number":
            raise DecodeError(self._wrong(kind_of(value), "int32"))
        if type(value) is not int or not INT32_LEAST <= value <= INT32_MOST:
            raise DecodeError(self._wrong(f"number {self._number(value)}", "int32"))

    def _text(self, value: object, parse: Callable[[str], Any]) -> None:
        """A time or a duration."""
        if type(value) is not str:
            raise DecodeError(self._wrong(kind_of(value), "string"))
        try:
            parse(value)
        except times.TimeError as wrong:
            raise DecodeError(str(wrong)) from None

    def _number(self, value: Any) -> str:
        """A number as it stood in the document, or as Go would write it."""
        if isinstance(value, Literal):
            text: str = value.text
            return text
        if isinstance(value, float):
            found = None if self.data is None else text_of_real(self.data, value)
            self.inexact = self.inexact or found is None
            return found or go_float(value)
        return str(value)

    def _mistyped(self, value: object, plan: Plan) -> None:
        self._save(kind_of(value), plan)

    def _save(self, what: str, plan: Plan) -> None:
        if self.saved is None:
            name = go_type_name(plan.schema, self.owner.package if self.owner is not None else "")
            self.saved = self._wrong(what, name)
            self.saved_what, self.saved_name, self.saved_stack = what, name, self._stack()

    def _wrong(self, what: str, name: str, below: tuple[str, ...] = ()) -> str:
        if self.owner is None:
            return f"json: cannot unmarshal {what} into Go value of type {name}"
        field = ".".join((self.owner.name, *self._stack(), *below))
        return f"json: cannot unmarshal {what} into Go struct field {field} of type {name}"


def go_type_name(schema: Schema, owner: str) -> str:
    """How Go's reflection names a type, seen from a struct of package `owner`."""
    if schema.kind == s.STRUCT:
        return f"{schema.package.rpartition('/')[2]}.{schema.name}" if schema.package else schema.name
    if schema.kind == s.LIST:
        return f"[]{go_type_name(schema.items, owner)}"
    if schema.kind == s.MAP:
        if schema.items.kind == s.QUANTITY:
            return "v1.ResourceList"
        return f"map[string]{go_type_name(schema.items, owner)}"
    plain = _PLAIN_NAMES[schema.kind]
    if schema.name in ("", "int", plain) or schema.kind not in (s.STRING, s.BOOL, s.INT32, s.INT64):
        return plain
    return schema.name if "." in schema.name else f"{owner.rpartition('/')[2]}.{schema.name}"
