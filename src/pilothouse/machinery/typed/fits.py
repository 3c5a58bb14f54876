"""Whether values fit a type, which nearly all that is applied does; `validate` tells what is wrong with the others.

Short values are asked by closures, made once a type; in long ones each field is looked at in all structs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import compress, count, islice
from typing import Any, Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import schema as s
from pilothouse.machinery.columns import CONTAINERS, Columns, Indices
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.apart import Fault, apart, fault
from pilothouse.machinery.typed.shape import KEYED, SET, shape_of

NUMBERS: Final = frozenset({s.INT32, s.INT64, s.FLOAT64})
ANY_SCALAR: Final = frozenset({s.QUANTITY, s.INT_OR_STRING})
TEXTS: Final = frozenset({s.STRING, s.BYTES, s.TIME, s.MICRO_TIME, s.DURATION})
_NULL: Final = frozenset({type(None)})
_NO_SCALARS: Final = frozenset({dict, list})
_LONG: Final = 256  # items that are not asked one by one
Fits = Callable[[Any], bool]


def fits(schema: Schema) -> Fits:
    """`f(value)`: whether the value surely has no problems, which is not sure of a long one; null fits everywhere."""
    found: Fits | None = schema.compiled.get("typed.fits")
    if found is None:
        schema.compiled["typed.fits"] = found = _compile(schema)
    return found


def _compile(schema: Schema) -> Fits:
    kind = schema.kind
    if kind == s.STRUCT:
        return _struct_fits(schema)
    if kind == s.MAP:
        fit = _all_fit(schema.items)
        return lambda value: fit(value.values()) if type(value) is dict else value is None
    if kind == s.LIST:
        return _list_fits(schema)
    types = _types_of(schema)
    if types is not None:
        return lambda value: type(value) in types
    if kind in ANY_SCALAR:
        return lambda value: type(value) not in _NO_SCALARS
    return lambda value: True


def _types_of(schema: Schema) -> frozenset[type] | None:
    """The types that values of a scalar have; None where that is not all there is to them."""
    kind = schema.kind
    if kind in TEXTS:
        return _NULL | {str}
    if kind in NUMBERS:
        return _NULL | {int, float}
    return _NULL | {bool} if kind == s.BOOL else None


def _struct_fits(schema: Schema) -> Fits:
    texts = {name for name, field in schema.properties.items() if field.schema.kind in TEXTS}
    checks: dict[str, Fits] = {}  # of the other fields, as they are met
    kept = schema.preserve_unknown

    def struct(value: Any) -> bool:
        if type(value) is not dict:
            return value is None
        for name, inner in value.items():
            if name in texts:
                if type(inner) is not str and inner is not None:
                    return False
                continue
            check = checks.get(name)
            if check is None:
                field = schema.properties.get(name)
                if field is None:
                    if kept:
                        continue
                    return False
                check = checks[name] = fits(field.schema)
            if inner is not None and not check(inner):
                return False
        return True

    return struct


def _all_fit(schema: Schema) -> Callable[[Any], bool]:
    """`f(values)`: whether all values surely have no problems."""
    types = _types_of(schema)
    if types is not None:
        return lambda values: types.issuperset(map(type, values))
    one: list[Fits] = []  # nothing of the type is asked before there are values: it may hold itself

    def fit(values: Any) -> bool:
        if not one:
            one.append(fits(schema))
        return len(values) <= _LONG and all(map(one[0], values))

    return fit


def _list_fits(schema: Schema) -> Fits:
    shape = shape_of(schema)
    fit = _all_fit(schema.items)
    once = shape.kind in (SET, KEYED)

    def items(value: Any) -> bool:
        if type(value) is not list:
            return value is None
        return fit(value) and (not once or (len(value) <= _LONG and apart(shape, [value])))

    return items


def misfits(schema: Schema, values: Sequence[Any]) -> Indices:
    """Which of some scalars do not fit: as many as are told, from the first on."""
    types = _types_of(schema)
    if types is not None and not types.issuperset(map(type, values)):
        return list(islice((at for at, value in enumerate(values) if type(value) not in types), MOST_CAUSES))
    if schema.kind in ANY_SCALAR and not _NO_SCALARS.isdisjoint(map(type, values)):
        return list(islice((at for at, value in enumerate(values) if type(value) in _NO_SCALARS), MOST_CAUSES))
    return ()


class Misfits(Columns):
    """What does not fit in a document, as far as that is told. `duplicates`: keys of a list may come twice."""

    def __init__(self, duplicates: bool) -> None:
        super().__init__(MOST_CAUSES)
        self.duplicates = duplicates
        self._faults: dict[tuple[int, int], Fault] = {}

    def scalars(self, schema: Schema, values: Sequence[Any], owner: Schema | None) -> Indices:
        return misfits(schema, values)

    def knows_all(self, schema: Schema) -> bool:
        return not schema.preserve_unknown

    def limited(self, found: set[int]) -> Indices:
        return found if len(found) <= MOST_CAUSES else sorted(found)[:MOST_CAUSES]

    def within_lists(self, schema: Schema, values: Sequence[Any], found: set[int]) -> Sequence[Any]:
        shape = shape_of(schema)
        if shape.kind not in (SET, KEYED):
            return values
        there = list(compress(count(), values))
        lists = [values[at] for at in there]
        within = list(values)
        faulty: list[int] = []
        doubts = doubtful(lists, partial(apart, shape), lambda: len(faulty) >= MOST_CAUSES)
        for place, items in enumerate(lists) if len(lists) == 1 else doubts:
            wrong = fault(shape, items, len(items) if self.duplicates else MOST_CAUSES)
            if wrong is not None and (wrong.why or not self.duplicates):
                faulty.append(there[place])
                within[there[place]] = items[: wrong.end]
                self._faults[id(schema), id(items)] = wrong
        found.update(faulty)
        return within

    def fault(self, schema: Schema, items: list[Any]) -> Fault | None:
        """What is wrong in a list that was looked at, whatever each of its items is."""
        return self._faults.get((id(schema), id(items)))

    def places(self, schema: Schema, values: Sequence[Any]) -> Iterable[int]:
        """Which of some values that were looked at do not fit, or have something in them that does not."""
        if schema.kind in CONTAINERS:
            return compress(count(), map(self.ids.__contains__, map(id, values)))
        return misfits(schema, values)
