"""The exact walk over a document: which fields are unknown or repeated, and why it does not fit.

Runs only when a compiled decoder met something unexpected. It goes in the order of the document, as the original's
decoder does:
the first type error is kept while decoding goes on, but a refused text (time, quantity) ends it and is what the
client sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, compress, repeat
from operator import is_, is_not, itemgetter
from typing import Any, Final

from pilothouse.kit.runs import RUN, doubtful
from pilothouse.machinery import quantity as quantities
from pilothouse.machinery import schema as s
from pilothouse.machinery import times
from pilothouse.machinery.decode.columns import suspects
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.decode.generate import REFUSALS, list_decoder
from pilothouse.machinery.decode.places import FITS, ending_fields, ends_decoding, field_places
from pilothouse.machinery.decode.scalars import (
    INT32_LEAST,
    INT32_MOST,
    INT64_LEAST,
    INT64_MOST,
    SMALL,
    are_quantities,
    unbase64,
)  # fmt: skip
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.digits import text_of_real
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import Literal, Repeated, go_float, kind_of
from pilothouse.machinery.jsondeep import levels
from pilothouse.machinery.schema import Schema

_CONTAINERS: Final = frozenset((s.STRUCT, s.MAP, s.LIST))
_LONG: Final = 1_000  # containers that are walked through before it is found out in which there is something to tell
_RANGES: Final = {s.INT32: (INT32_LEAST, INT32_MOST), s.INT64: (INT64_LEAST, INT64_MOST)}
_SCALARS: Final = {s.STRING: "string", s.BOOL: "bool", s.FLOAT64: "number"}
_TOLD_ONCE: Final = frozenset((*_SCALARS, *_RANGES, s.BYTES))  # what is wrong with them counts if it is the first
_PLAIN_NAMES: Final = {
    s.STRING: "string", s.BOOL: "bool", s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.BYTES: "[]uint8",
    s.QUANTITY: "resource.Quantity", s.INT_OR_STRING: "intstr.IntOrString", s.TIME: "v1.Time",
    s.MICRO_TIME: "v1.MicroTime", s.DURATION: "v1.Duration",
    s.FIELDS_V1: "v1.FieldsV1", s.RAW: "runtime.RawExtension", s.JSON: "interface {}",
}  # fmt: skip


def explain(
    schema: Schema, value: Any, findings: Findings, repeated: Repeated | None = None, *, fits: bool = False
) -> None:
    """Add all strict findings, then raise DecodeError if the value does not fit. `fits`: it is known to fit."""
    with suppress(_Told):
        _Walk(findings, repeated or {}, fits=fits).run(schema, value)


def refusal(schema: Schema, value: Any, data: bytes | None) -> str | None:
    """Why a value does not fit; None where the text that a number had is needed to tell, and not found in `data`."""
    walk = _Walk(Findings(), {})
    walk.data = data
    try:
        walk.run(schema, value)
    except DecodeError as wrong:
        return None if walk.inexact else str(wrong)
    return None


class _Told(Exception):
    """There is no more to tell."""


class _Walk:
    def __init__(self, findings: Findings, repeated: Repeated, *, fits: bool = False) -> None:
        self.findings = findings
        self.fits = fits
        self.repeated = repeated
        self.whole: tuple[Schema, Any] | None = None  # what is walked through
        self.steps = 0
        self.suspects: set[int] | None = None  # what may have something to tell; None where all may
        self.unsearched = 0  # how many objects repeat a member around what is at hand
        self.saved: str | None = None  # the first type error,
        self.saved_parts: tuple[str, str, tuple[str, ...]] | None = None  # and what it is made of
        self.owner: Schema | None = None  # the struct that has the field at hand
        self.stack: tuple[str, ...] = ()  # field names down to the one at hand
        self.data: bytes | None = None  # the document, if numbers do not know their texts
        self.inexact = False  # whether a number was looked at whose text is not known

    def run(self, schema: Schema, value: Any) -> None:
        self.whole = schema, value
        self._value(schema, value, "")
        if self.saved is not None:
            raise DecodeError(self.saved)

    def _value(self, schema: Schema, value: Any, path: str) -> None:
        if value is None:
            return
        kind = schema.kind
        if kind in _CONTAINERS and self._passes_over(value):
            return
        if kind == s.STRUCT:
            self._struct(schema, value, path)
        elif kind == s.MAP:
            self._map(schema, value, path)
        elif kind == s.LIST:
            self._list(schema, value, path)
        else:
            self._scalar(schema, value)

    def _passes_over(self, value: Any) -> bool:
        """Whether a container surely has nothing to tell. That is found out for all, but only on a long walk."""
        self.steps += 1
        if self.steps == _LONG and self.whole is not None:
            self.suspects = suspects(*self.whole, self.repeated, strict=not self.findings.full)
        return self.suspects is not None and not self.unsearched and id(value) not in self.suspects

    def _struct(self, schema: Schema, value: Any, path: str) -> None:
        if value.__class__ is not dict:
            self._mistyped(value, self._type_name(schema))
            return
        if self.saved is not None and ending_fields(schema).isdisjoint(value):
            return
        outer = self.owner, self.stack
        seen: set[str] = set()
        places = field_places(schema)
        pairs = self.repeated.get(id(value))
        self.unsearched += pairs is not None  # members that count no more are not among those that were looked at
        for key, item in pairs or value.items():
            place = places.get(key)
            if self.saved is not None:  # then nobody is told of findings, and only what ends decoding still counts
                if place is None or key not in ending_fields(schema):
                    continue
            elif place is None:
                self._note("unknown", path, key)
                continue
            elif key in seen:
                self._note("duplicate", path, key)
            seen.add(key)
            inner, above, fits = place
            if item.__class__ is fits:
                continue
            self.owner = schema
            self.stack = (*outer[1], *above, key)
            self._value(inner, item, _under(path, key))
        self.unsearched -= pairs is not None
        self.owner, self.stack = outer

    def _note(self, what: str, path: str, key: str) -> None:
        if not self.findings.full:
            self.findings.note(f"{what} field {quote(_under(path, key))}")
        if self.fits and self.findings.full:
            raise _Told

    def _map(self, schema: Schema, value: Any, path: str) -> None:
        if value.__class__ is not dict:
            self._mistyped(value, self._type_name(schema))
            return
        items = schema.items
        texts = items.kind == s.STRING
        pairs = self.repeated.get(id(value))
        if pairs is None and items.kind in _TOLD_ONCE:
            self._first_wrong(items, value.values())
            return
        if pairs is None and items.kind == s.QUANTITY:
            for _, item in doubtful(list(value.values()), are_quantities):
                self._value(items, item, "")
            return
        self.unsearched += pairs is not None
        seen: set[str] = set()
        untold = _more_than_once(pairs, value) if pairs is not None else set()

        def are_told(run: Sequence[tuple[str, Any]]) -> bool:
            """Whether there is nothing to tell of some texts but what is told already."""
            if not texts or set(map(type, map(itemgetter(1), run))) != {str}:
                return False
            return not untold or untold.isdisjoint(map(itemgetter(0), run))

        for _, (key, item) in doubtful(pairs or list(value.items()), are_told):
            if self.saved is not None and not ends_decoding(items):
                break
            if key not in seen:
                seen.add(key)
            elif key in untold:
                untold.remove(key)
                self._note("duplicate", path, key)
            if not texts or item.__class__ is not str:
                self._value(items, item, _under(path, key))
        self.unsearched -= pairs is not None

    def _list(self, schema: Schema, value: Any, path: str) -> None:
        if value.__class__ is not list:
            self._mistyped(value, self._type_name(schema))
            return
        items = schema.items
        if items.kind in _TOLD_ONCE:
            self._first_wrong(items, value)
            return
        for index, item in self._picked(items, value):
            if self.saved is not None:
                self._rest(items, value[index:])
                return
            self._value(items, item, f"{path}[{index}]")

    def _rest(self, items: Schema, values: list[Any]) -> None:
        """The items that are left when it is known that something does not fit."""
        if not ends_decoding(items):
            return
        if items.kind == s.STRUCT:
            values = _harmful(values, ending_fields(items))
        for _, item in self._picked(items, values):
            self._value(items, item, "")

    def _picked(self, schema: Schema, values: list[Any]) -> Iterable[tuple[int, Any]]:
        """Index and item of those that may have something to tell."""
        if self.unsearched or schema.kind not in _CONTAINERS:
            return enumerate(values)
        if self.suspects is None:
            long = len(values) > RUN and schema.kind == s.STRUCT
            return doubtful(values, partial(self._are_plain, schema)) if long else enumerate(values)
        return compress(enumerate(values), map(self.suspects.__contains__, map(id, values)))

    def _are_plain(self, schema: Schema, objects: Sequence[Any]) -> bool:
        """Whether there is nothing to tell of some objects of a list: they are decoded to find out."""
        if self.repeated and not all(self.repeated.keys().isdisjoint(map(id, level)) for _, level in levels(objects)):
            return False
        if self.fits and not self.findings.unknown:
            return True
        findings = Findings()
        findings.big = findings.probing = True
        try:
            list_decoder(schema)([*objects], findings)
        except (*REFUSALS, APIError, RecursionError):
            return False
        return not findings.unknown and not findings.inexact

    def _first_wrong(self, schema: Schema, values: Collection[Any]) -> None:
        """Scalars of which only the first that does not fit can be told of."""
        fits = FITS.get(schema.kind)
        for value in compress(values, map(is_not, map(type, values), repeat(fits))):
            if self.saved is not None:
                return
            self._value(schema, value, "")

    def _scalar(self, schema: Schema, value: Any) -> None:
        kind = schema.kind
        if kind in _SCALARS:
            if kind_of(value) != _SCALARS[kind]:
                self._mistyped(value, self._type_name(schema))
        elif kind in _RANGES:
            self._integer(value, *_RANGES[kind], self._type_name(schema))
        elif kind == s.BYTES:
            self._bytes(value)
        else:
            read = _READERS.get(kind)
            if read is not None:
                read(self, value)
            elif schema.name in JSON_SCHEMA_CHOICES:
                self._choice(schema.name, value)

    def _integer(self, value: Any, least: int, most: int, name: str) -> None:
        if kind_of(value) != "number":
            self._mistyped(value, name)
        elif value.__class__ is not int or not least <= value <= most:
            self._save(f"number {self._number(value)}", name)

    def _choice(self, name: str, value: Any) -> None:
        """A schema or something else; what is inside has a decoder of its own, whose refusal is final."""
        if name == "JSONSchemaPropsOrBool" and value.__class__ not in (dict, bool):
            raise DecodeError("boolean or JSON schema expected")
        if name == "JSONSchemaPropsOrStringArray" and value.__class__ is list:
            schemas = [item for item in value if item is not None and item.__class__ is not str]
            if schemas:
                raise DecodeError(self._wrong(kind_of(schemas[0]), "string"))
            return
        inner = _Walk(Findings(), self.repeated)
        inner.data = self.data
        inner.whole, inner.steps, inner.suspects = self.whole, self.steps, self.suspects
        inner.unsearched = self.unsearched + (value.__class__ is list)
        for item in value if value.__class__ is list else [value]:
            if self.owner is not None and item.__class__ in (dict, list):
                inner._value(self.owner, item, "")
        self.steps, self.suspects = inner.steps, inner.suspects
        self.inexact = self.inexact or inner.inexact
        if inner.saved_parts is not None:
            what, type_name, below = inner.saved_parts
            self.stack = (*self.stack, *below)
            raise DecodeError(self._wrong(what, type_name))
        if inner.saved is not None:
            raise DecodeError(inner.saved)

    def _bytes(self, value: Any) -> None:
        if value.__class__ is not str:
            self._mistyped(value, "[]uint8")
            return
        try:
            unbase64(value)
        except DecodeError as wrong:
            if self.saved is None:
                self.saved = str(wrong)

    def quantity(self, value: Any) -> None:
        """A refused quantity ends decoding. No number is, unless it is tiny."""
        if value.__class__ is float and abs(value) >= SMALL:
            return
        text = value if value.__class__ is str else self._number(value) if kind_of(value) == "number" else "{}"
        try:
            quantities.shown(text)
        except quantities.QuantityError as wrong:
            raise DecodeError(str(wrong)) from None

    def int_or_string(self, value: Any) -> None:
        """Neither ends decoding: Go's decoder of this type is asked, and its refusal is final."""
        if value.__class__ is str:
            return
        if kind_of(value) != "number":
            raise DecodeError(self._wrong(kind_of(value), "int32"))
        if value.__class__ is not int or not INT32_LEAST <= value <= INT32_MOST:
            raise DecodeError(self._wrong(f"number {self._number(value)}", "int32"))

    def text(self, value: Any, parse: Callable[[str], Any]) -> None:
        """A time or a duration."""
        if value.__class__ is not str:
            raise DecodeError(self._wrong(kind_of(value), "string"))
        try:
            parse(value)
        except times.TimeError as wrong:
            raise DecodeError(str(wrong)) from None

    def _number(self, value: Any) -> str:
        """A number as it stood in the document, or as Go would write it."""
        if isinstance(value, Literal):
            return value.text
        if isinstance(value, float):
            text = None if self.data is None else text_of_real(self.data, value)
            self.inexact = self.inexact or text is None
            return text or go_float(value)
        return str(value)

    def _mistyped(self, value: Any, name: str) -> None:
        self._save(kind_of(value), name)

    def _save(self, what: str, name: str) -> None:
        if self.saved is None:
            self.saved = self._wrong(what, name)
            self.saved_parts = what, name, self.stack

    def _wrong(self, what: str, name: str) -> str:
        if self.owner is None:
            return f"json: cannot unmarshal {what} into Go value of type {name}"
        field = ".".join((self.owner.name, *self.stack))
        return f"json: cannot unmarshal {what} into Go struct field {field} of type {name}"

    def _type_name(self, schema: Schema) -> str:
        return go_type_name(schema, self.owner.package if self.owner is not None else "")


_READERS: Final[dict[str, Callable[[_Walk, Any], None]]] = {
    s.QUANTITY: _Walk.quantity,
    s.INT_OR_STRING: _Walk.int_or_string,
    s.TIME: lambda walk, value: walk.text(value, times.parse_time),
    s.MICRO_TIME: lambda walk, value: walk.text(value, times.parse_micro_time),
    s.DURATION: lambda walk, value: walk.text(value, times.parse_duration),
}


def _more_than_once(pairs: Sequence[tuple[str, Any]], names: Collection[str]) -> set[str]:
    """Which of the names of some members are there more than once; all of them where these are few."""
    if len(names) <= RUN:
        return set(names)
    counts = Counter(map(itemgetter(0), pairs))
    return set(compress(counts, map((1).__lt__, counts.values())))


def _harmful(values: list[Any], ending: frozenset[str]) -> list[Any]:
    """The objects among some values that have a field in which something may end decoding."""
    objects = list(compress(values, map(is_, map(type, values), repeat(dict))))
    if ending.isdisjoint(chain.from_iterable(objects)):
        return []
    return [one for one in objects if not ending.isdisjoint(one)]


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


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
