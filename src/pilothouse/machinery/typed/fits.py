"""Whether values surely fit a type, which nearly all that is applied does: what is wrong with the others is looked for
by `validate`.

Of many structs each field is looked at in all of them at once. Compiled to closures, once a type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.shape import KEYED, SET, Shape, shape_of

NUMBERS: Final = frozenset({s.INT32, s.INT64, s.FLOAT64})
ANY_SCALAR: Final = frozenset({s.QUANTITY, s.INT_OR_STRING})
TEXTS: Final = frozenset({s.STRING, s.BYTES, s.TIME, s.MICRO_TIME, s.DURATION})
NO_KEYS: Final = "k:{}"
_NULL: Final = frozenset({type(None)})
_STRUCTS: Final = _NULL | {dict}
_LISTS: Final = _NULL | {list}
_CONTAINERS: Final = frozenset({dict, list})
_MANY: Final = 16  # structs whose fields are worth being looked at together
_SPARSE: Final = 3  # times as many fields as there are values: then most structs lack most of them
Fits = Callable[[Any], bool]
AllFit = Callable[[Collection[Any]], bool]


def fits(schema: Schema) -> Fits:
    """`f(value)`: whether the value surely has no problems; null fits everywhere."""
    found: Fits | None = schema.compiled.get("typed.fits")
    if found is None:
        schema.compiled["typed.fits"] = found = _compile(schema)
    return found


def _compile(schema: Schema) -> Fits:
    kind = schema.kind
    if kind == s.STRUCT:
        return _struct_fits(schema)
    if kind == s.MAP:
        fit = _lazily_all(schema.items)
        return lambda value: fit(value.values()) if type(value) is dict else value is None
    if kind == s.LIST:
        return _list_fits(schema)
    types = _types_of(schema)
    if types is not None:
        return lambda value: type(value) in types
    if kind in ANY_SCALAR:
        return lambda value: type(value) not in _CONTAINERS
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


def all_fit(schema: Schema) -> AllFit:
    """`f(values)`: whether all of many values surely have no problems."""
    found: AllFit | None = schema.compiled.get("typed.fits.all")
    if found is None:
        schema.compiled["typed.fits.all"] = found = _compile_all(schema)
    return found


def _lazily_all(schema: Schema) -> AllFit:
    """As `all_fit`. Nothing of the type is asked before there are values: it may hold itself."""

    def fit(values: Collection[Any]) -> bool:
        return all_fit(schema)(values)

    return fit


def _compile_all(schema: Schema) -> AllFit:
    types = _types_of(schema)
    if types is not None:
        return lambda values: types.issuperset(map(type, values))
    if schema.kind == s.STRUCT:
        return _structs_fit(schema)
    one = fits(schema)
    if schema.kind == s.MAP:
        below = _lazily_all(schema.items)

        def maps(values: Collection[Any]) -> bool:
            if not _STRUCTS.issuperset(map(type, values)):
                return False
            return below([*chain.from_iterable(map(dict.values, filter(None, values)))])

        return maps
    if schema.kind == s.LIST:
        return lambda values: _LISTS.issuperset(map(type, values)) and all(map(one, filter(None, values)))
    return lambda values: all(map(one, values))


def _structs_fit(schema: Schema) -> AllFit:
    one = fits(schema)
    columns: dict[str, AllFit] = {}

    def fit(values: Collection[Any]) -> bool:
        if not _STRUCTS.issuperset(map(type, values)):
            return False
        full = [*filter(None, values)]  # empty ones fit
        if not all(map(one, full[:_MANY])):  # what is bad mostly is so from the beginning
            return False
        if len(full) <= _MANY:
            return True
        names = set(chain.from_iterable(full))
        if len(names) * len(full) > _SPARSE * sum(map(len, full)):
            return all(map(one, full))
        for name in names:
            check = columns.get(name)
            if check is None:
                field = schema.properties.get(name)
                if field is None:
                    if schema.preserve_unknown:
                        continue
                    return False
                check = columns[name] = all_fit(field.schema)
            if not check([value.get(name) for value in full]):
                return False
        return True

    return fit


def _list_fits(schema: Schema) -> Fits:
    shape = shape_of(schema)
    fit = _lazily_all(schema.items)
    keyed = shape.kind in (KEYED, SET)

    def items(value: Any) -> bool:
        if type(value) is not list:
            return value is None
        return fit(value) and (not keyed or apart(shape, value))

    return items


# Of one such type, values are the same where Python holds them for equal.
_PLAIN: Final[tuple[frozenset[type], ...]] = (frozenset({str}), frozenset({int}))


def apart(shape: Shape, items: list[Any]) -> bool:
    """Whether items of a SET or KEYED surely are what such lists may have, each there once."""
    are_apart = _keyed_apart if shape.kind == KEYED else _set_apart
    if len(items) > _MANY and not are_apart(shape, items[:_MANY]):  # what is bad mostly is so from the beginning
        return False
    return are_apart(shape, items)


def _set_apart(shape: Shape, items: list[Any]) -> bool:
    """Whether items of a set surely are scalars, each there once."""
    kinds: frozenset[type] = frozenset(map(type, items))
    if kinds & {dict, list, type(None)}:
        return False
    return len(set(items if kinds in _PLAIN else shape.elements(items))) == len(items)


def _keyed_apart(shape: Shape, items: list[Any]) -> bool:
    """Whether items of a list by key surely are maps with keys, each there once."""
    if set(map(type, items)) - {dict}:
        return False
    if len(items) == 1 and not shape.needs_key:
        return True
    columns = shape.columns(items) if len(items) >= _MANY else None
    if columns is not None:  # so all have keys
        return len(set(columns[0] if len(columns) == 1 else zip(*columns, strict=True))) == len(items)
    elements = set(shape.elements(items))
    return len(elements) == len(items) and not (shape.needs_key and NO_KEYS in elements)
