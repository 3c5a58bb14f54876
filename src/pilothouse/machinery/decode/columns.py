"""Which objects and lists of a document may hold something that does not fit their type, found field by field.

A field of all values of one type is a column, of which a few calls tell what is in it. So long documents, of which
nearly all is fine, need to be walked through only where they are not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress
from operator import itemgetter
from typing import Any, Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import schema as s
from pilothouse.machinery import times
from pilothouse.machinery.decode.places import field_places
from pilothouse.machinery.decode.scalars import (
    INT32_LEAST,
    INT32_MOST,
    INT64_LEAST,
    INT64_MOST,
    are_quantities,
)  # fmt: skip
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.schema import Schema

_Kinds = frozenset[type]
_Indices = Collection[int]
_MOST: Final = 512  # suspects of one kind: where there are more, all is walked through, which ends early then
_SPARSE: Final = 4  # times as many fields as members: then most objects lack most of them
_NOTHING: Final = type(None)
_NONE: Final[_Kinds] = frozenset((_NOTHING,))
_TEXTS: Final[_Kinds] = frozenset((str, _NOTHING))
_INTEGERS: Final[_Kinds] = frozenset((int, _NOTHING))
_SCALARS: Final[dict[str, _Kinds]] = {
    s.STRING: _TEXTS, s.TIME: _TEXTS, s.MICRO_TIME: _TEXTS, s.DURATION: _TEXTS, s.BOOL: frozenset((bool, _NOTHING)),
    s.FLOAT64: frozenset((int, float, _NOTHING)), s.INT32: _INTEGERS, s.INT64: _INTEGERS,
    s.INT_OR_STRING: frozenset((int, str, _NOTHING)),
}  # fmt: skip
_RANGES: Final = {
    s.INT32: (INT32_LEAST, INT32_MOST), s.INT64: (INT64_LEAST, INT64_MOST), s.INT_OR_STRING: (INT32_LEAST, INT32_MOST),
}  # fmt: skip
_CONTAINERS: Final[dict[str, _Kinds]] = {
    s.LIST: frozenset((list, _NOTHING)), s.MAP: frozenset((dict, _NOTHING)), s.STRUCT: frozenset((dict, _NOTHING)),
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
        found.among(schema, [value], None)
    except (_TooManyError, RecursionError):
        return None
    return found.ids


class _TooManyError(Exception):
    """Most is suspect."""


class _Suspects:
    def __init__(self, repeated: Collection[int], *, strict: bool) -> None:
        self.ids: set[int] = set()
        self._strict = strict
        self._repeated = frozenset(repeated)

    def among(self, schema: Schema, values: Sequence[Any], owner: Schema | None) -> _Indices:
        """Which of some values are suspect. `owner`: whose field they are."""
        kind = schema.kind
        if kind not in _CONTAINERS:
            return self._scalars(schema, values, owner)
        found: set[int] = set()
        all_values = values
        if not _CONTAINERS[kind].issuperset(map(type, values)):
            found.update(_unlike(values, _CONTAINERS[kind]))
            values = [None if index in found else value for index, value in enumerate(values)]
        if kind == s.LIST:
            found.update(self._inside(schema.items, values, values, owner))
        elif kind == s.MAP:
            found.update(self._inside(schema.items, values, [value and value.values() for value in values], owner))
            found.update(self._repeating(values))
        else:
            found.update(self._structs(schema, values))
            found.update(self._repeating(values))
        if len(found) > _MOST:
            raise _TooManyError
        self.ids.update(id(all_values[index]) for index in found)
        return found

    def _inside(
        self, items: Schema, values: Sequence[Any], inner: Sequence[Any], owner: Schema | None
    ) -> Iterable[int]:
        """Which of some lists or maps have a suspect in them; `inner` is what is in each."""
        wrong = self.among(items, list(chain.from_iterable(filter(None, inner))), owner)
        if not wrong:
            return ()
        if len(values) == 1:
            return (0,)
        ends = list(accumulate(len(value) if value else 0 for value in values))
        return (bisect_right(ends, index) for index in wrong)

    def _repeating(self, values: Sequence[Any]) -> Iterable[int]:
        if self._repeated.isdisjoint(map(id, values)):
            return ()
        return (index for index, value in enumerate(values) if id(value) in self._repeated)

    def _structs(self, schema: Schema, values: Sequence[Any]) -> set[int]:
        present = list(compress(range(len(values)), values))
        objects = [values[index] for index in present] if len(present) < len(values) else values
        places = field_places(schema)
        found: set[int] = set()
        names = set(chain.from_iterable(objects))
        if not names <= places.keys():
            if self._strict:
                found.update(at for at, one in zip(present, objects, strict=True) if not one.keys() <= places.keys())
            names &= places.keys()
        for name, (having, column) in _columns(objects, present, names):
            wrong = self.among(places[name][0], column, schema)
            if wrong:
                found.update(having[index] for index in wrong)
        return found

    def _scalars(self, schema: Schema, values: Sequence[Any], owner: Schema | None) -> _Indices:
        if schema.kind == s.QUANTITY:
            return [index for index, value in doubtful(values, are_quantities) if not are_quantities([value])]
        if schema.name in JSON_SCHEMA_CHOICES:
            return self._choices(schema.name, values, owner)
        return _wrong(schema, values)

    def _choices(self, name: str, values: Sequence[Any], owner: Schema | None) -> _Indices:
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
            found.update(schemas[index] for index in self.among(owner, [values[index] for index in schemas], None))
        self.ids.update(id(values[index]) for index in found)
        return found


def _unlike(values: Iterable[Any], kinds: _Kinds) -> Iterable[int]:
    return (index for index, value in enumerate(values) if value.__class__ not in kinds)


def _columns(
    objects: Sequence[Any], present: list[int], names: set[str]
) -> Iterator[tuple[str, tuple[list[int], list[Any]]]]:
    """Of each name, what the objects that have such a member have there, and which of all values these are."""
    if len(names) * len(objects) > _SPARSE * sum(map(len, objects)):
        columns: dict[str, tuple[list[int], list[Any]]] = {name: ([], []) for name in names}
        for index, one in zip(present, objects, strict=True):
            for name in names.intersection(one):
                columns[name][0].append(index)
                columns[name][1].append(one[name])
        yield from columns.items()
        return
    for name in names:
        try:
            yield name, (present, list(map(itemgetter(name), objects)))
        except KeyError:
            having = [name in one for one in objects]
            yield name, (list(compress(present, having)), [one[name] for one in compress(objects, having)])


def _wrong(schema: Schema, values: Sequence[Any]) -> list[int]:
    """Which of some values may be no scalars of their type."""
    kind = schema.kind
    if kind in _ANY:
        return []
    kinds = _SCALARS.get(kind, _NONE)
    wrong = [] if kinds.issuperset(map(type, values)) else list(_unlike(values, kinds))
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
