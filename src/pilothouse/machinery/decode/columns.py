"""Which objects and lists of a document may hold something that does not fit their type, as decoding sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import schema as s
from pilothouse.machinery import times
from pilothouse.machinery.columns import Columns, Indices, Kinds, unlike
from pilothouse.machinery.decode.scalars import (
    INT32_LEAST,
    INT32_MOST,
    INT64_LEAST,
    INT64_MOST,
    are_quantities,
)  # fmt: skip
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.schema import Schema

_MOST: Final = 512  # suspects of one kind: where there are more, all is walked through, which ends early then
_NOTHING: Final = type(None)
_NONE: Final[Kinds] = frozenset((_NOTHING,))
_TEXTS: Final[Kinds] = frozenset((str, _NOTHING))
_INTEGERS: Final[Kinds] = frozenset((int, _NOTHING))
_SCALARS: Final[dict[str, Kinds]] = {
    s.STRING: _TEXTS, s.TIME: _TEXTS, s.MICRO_TIME: _TEXTS, s.DURATION: _TEXTS, s.BOOL: frozenset((bool, _NOTHING)),
    s.FLOAT64: frozenset((int, float, _NOTHING)), s.INT32: _INTEGERS, s.INT64: _INTEGERS,
    s.INT_OR_STRING: frozenset((int, str, _NOTHING)),
}  # fmt: skip
_RANGES: Final = {
    s.INT32: (INT32_LEAST, INT32_MOST), s.INT64: (INT64_LEAST, INT64_MOST), s.INT_OR_STRING: (INT32_LEAST, INT32_MOST),
}  # fmt: skip
_TIMES: Final[dict[str, Callable[[str], Any]]] = {
    s.TIME: times.parse_time, s.MICRO_TIME: times.parse_micro_time, s.DURATION: times.parse_duration,
}  # fmt: skip
_ANY: Final = frozenset((s.FIELDS_V1, s.RAW, s.JSON))


def suspects(schema: Schema, value: Any, repeated: Collection[int], *, strict: bool) -> set[int] | None:
    """The ids of all objects and lists that may not fit, or are among `repeated` (ids of those with a member twice), or
    if `strict` have an unknown member; and of all that these stand in. None where that may be most of them.
    """
    found = _Suspects(repeated, strict=strict)
    try:
        found.among(schema, [value])
    except (_TooManyError, RecursionError):
        return None
    return found.ids


class _TooManyError(Exception):
    """Most is suspect."""


class _Suspects(Columns):
    def __init__(self, repeated: Collection[int], *, strict: bool) -> None:
        super().__init__(_MOST + 1)
        self._strict = strict
        self._repeated = frozenset(repeated)

    def knows_all(self, schema: Schema) -> bool:
        return self._strict

    def odd_objects(self, values: Sequence[Any]) -> Iterable[int]:
        if self._repeated.isdisjoint(map(id, values)):
            return ()
        return (index for index, value in enumerate(values) if id(value) in self._repeated)

    def limited(self, found: set[int]) -> Indices:
        if len(found) > _MOST:
            raise _TooManyError
        return found

    def scalars(self, schema: Schema, values: Sequence[Any], owner: Schema | None) -> Indices:
        if schema.kind == s.QUANTITY:
            return [index for index, value in doubtful(values, are_quantities) if not are_quantities([value])]
        if schema.name in JSON_SCHEMA_CHOICES:
            return self._choices(schema.name, values, owner)
        return _wrong(schema, values)

    def _choices(self, name: str, values: Sequence[Any], owner: Schema | None) -> Indices:
        """Schemas or something else; only schemas and what is plainly right are looked into."""
        found: set[int] = set()
        schemas: list[int] = []
        for index, value in enumerate(values):
            if value.__class__ is dict:
                schemas.append(index)
            elif value.__class__ is bool and name == "JSONSchemaPropsOrBool":
                continue
            elif value is not None:
                found.add(index)
        if owner is not None and schemas:
            found.update(schemas[index] for index in self.among(owner, [values[index] for index in schemas]))
        self.ids.update(id(values[index]) for index in found)
        return found


def _wrong(schema: Schema, values: Sequence[Any]) -> list[int]:
    """Which of some values may be no scalars of their type."""
    kind = schema.kind
    if kind in _ANY:
        return []
    kinds = _SCALARS.get(kind, _NONE)
    wrong = [] if kinds.issuperset(map(type, values)) else unlike(values, kinds)
    if kind in _RANGES:
        least, most = _RANGES[kind]
        numbers = list(filter(None, values)) if kinds is _INTEGERS and not wrong else _integers(values)
        if numbers and not (min(numbers) >= least and max(numbers) <= most):
            wrong += [at for at, value in enumerate(values) if value.__class__ is int and not least <= value <= most]
    elif kind in _TIMES:
        unread = {text for text in set(_texts(values)) if not _is_read(_TIMES[kind], text)}
        if unread:
            wrong += [at for at, value in enumerate(values) if value.__class__ is str and value in unread]
    return wrong


def _integers(values: Iterable[Any]) -> list[int]:
    return [value for value in values if value.__class__ is int]


def _texts(values: Iterable[Any]) -> Iterable[str]:
    return (value for value in values if value.__class__ is str)


def _is_read(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except times.TimeError:
        return False
    return True
