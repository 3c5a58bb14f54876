"""Whether an applied configuration fits its type, in the words of the original's typed objects."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.shape import KEYED, SET, Shape, shape_of
from pilothouse.machinery.typed.text import element_text, plain, syntax, type_name

_NUMBERS: Final = frozenset({s.INT32, s.INT64, s.FLOAT64})
_ANY_SCALAR: Final = frozenset({s.QUANTITY, s.INT_OR_STRING})
_TEXTS: Final = frozenset({s.STRING, s.BYTES, s.TIME, s.MICRO_TIME, s.DURATION})
_TEXT_OR_NULL: Final = frozenset({str, type(None)})
_NO_KEYS: Final = "k:{}"
Fits = Callable[[Any], bool]


def problems(schema: Schema, value: Any, duplicates: bool = False) -> list[str]:
    """What is wrong, each as `.path: reason`; empty when all fits. `duplicates`: keys of a list may come twice (live
    objects).
    """
    if fits(schema)(value):
        return []
    found: list[str] = []
    _check(schema, value, "", found, duplicates)
    return found


def fits(schema: Schema) -> Fits:
    """`f(value)`: whether the value surely has no problems. Compiled once a type; null fits everywhere."""
    found = schema.compiled.get("typed.fits")
    if found is None:
        schema.compiled["typed.fits"] = found = _compile(schema)
    return found


def _compile(schema: Schema) -> Fits:
    kind = schema.kind
    if kind == s.STRUCT:
        return _struct_fits(schema)
    if kind == s.MAP:
        return _map_fits(schema)
    if kind == s.LIST:
        return _list_fits(schema)
    if kind in _NUMBERS:
        return lambda value: type(value) in (int, float) or value is None
    if kind in _TEXTS:
        return lambda value: type(value) is str or value is None
    if kind == s.BOOL:
        return lambda value: type(value) is bool or value is None
    if kind in _ANY_SCALAR:
        return lambda value: type(value) not in (dict, list)
    return lambda value: True


def _struct_fits(schema: Schema) -> Fits:
    texts = {name for name, field in schema.properties.items() if field.schema.kind in _TEXTS}
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


def _map_fits(schema: Schema) -> Fits:
    fit = _all_fit(schema.items)
    return lambda value: fit(value.values()) if type(value) is dict else value is None


def _all_fit(schema: Schema) -> Callable[[Collection[Any]], bool]:
    """Whether `schema` has all of many values fit."""
    if schema.kind in _TEXTS:
        return lambda values: set(map(type, values)) <= _TEXT_OR_NULL
    made: list[Fits] = []

    def fit(values: Collection[Any]) -> bool:
        if not made:
            made.append(fits(schema))
        return all(map(made[0], values))

    return fit


def _list_fits(schema: Schema) -> Fits:
    shape = shape_of(schema)
    keyed, elements_of = shape.kind in (SET, KEYED), shape.elements
    fit = _all_fit(schema.items)

    def items(value: Any) -> bool:
        if type(value) is not list:
            return value is None
        if not fit(value):
            return False
        if not keyed:
            return True
        kinds = set(map(type, value))
        if kinds - {dict} if shape.kind == KEYED else kinds & {dict, list, type(None)}:
            return False
        if len(value) == 1 and not shape.needs_key:
            return True
        elements = set(elements_of(value))
        return len(elements) == len(value) and not (shape.needs_key and _NO_KEYS in elements)

    return items


def joined(found: list[str]) -> str:
    """Several problems in one message."""
    return found[0] if len(found) == 1 else "\n".join(["errors:", *(f"  {problem}" for problem in found)])


def _check(schema: Schema, value: Any, path: str, found: list[str], duplicates: bool) -> None:
    if value is None:
        return
    kind = schema.kind
    if kind == s.STRUCT:
        _check_struct(schema, value, path, found, duplicates)
    elif kind == s.MAP:
        if not isinstance(value, dict):
            found.append(f"{path}: expected map, got &{{{plain(value)}}}")
            return
        for name, inner in value.items():
            _check(schema.items, inner, f"{path}.{name}", found, duplicates)
    elif kind == s.LIST:
        _check_list(schema, value, path, found, duplicates)
    elif kind in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int | float):
            found.append(f"{path}: expected numeric (int or float), got {type_name(value)}")
    elif kind in _TEXTS:
        if not isinstance(value, str):
            found.append(f"{path}: expected string, got &value.valueUnstructured{{Value:{syntax(value)}}}")
    elif kind == s.BOOL:
        if not isinstance(value, bool):
            found.append(f"{path}: expected boolean, got &{{{plain(value)}}}")
    elif kind in _ANY_SCALAR and isinstance(value, dict | list):
        found.append(f"{path}: expected any scalar, got &{{{plain(value)}}}")


def _check_struct(schema: Schema, value: Any, path: str, found: list[str], duplicates: bool) -> None:
    if not isinstance(value, dict):
        found.append(f"{path}: expected map, got &{{{plain(value)}}}")
        return
    fields = schema.properties
    for name, inner in value.items():
        field = fields.get(name)
        if field is not None:
            _check(field.schema, inner, f"{path}.{name}", found, duplicates)
        elif not schema.preserve_unknown:
            found.append(f"{path}.{name}: field not declared in schema")


def _check_list(schema: Schema, value: Any, path: str, found: list[str], duplicates: bool) -> None:
    if not isinstance(value, list):
        found.append(f"{path}: expected list, got &{{{plain(value)}}}")
        return
    shape = shape_of(schema)
    if shape.kind not in (SET, KEYED):
        for position, item in enumerate(value):
            _check(schema.items, item, f"{path}[{position}]", found, duplicates)
        return
    seen: set[str] = set()
    for position, item in enumerate(value):
        wrong = _wrong_item(shape, item)
        if wrong:
            found.append(f"{path}: element {position}: {wrong}")
            return  # the original looks no further in this list
        element = shape.element(item)
        shown = element_text(element)
        if element in seen and not duplicates:
            found.append(f"{path}: duplicate entries for key {shown}")
        seen.add(element)
        _check(schema.items, item, path + shown, found, duplicates)


def _wrong_item(shape: Shape, item: Any) -> str:
    if shape.kind == KEYED:
        if item is None:
            return "associative list with keys may not have a null element"
        if not isinstance(item, dict):
            return "associative list with keys may not have non-map elements"
        if shape.needs_key and shape.element(item) == _NO_KEYS:
            keys = " ".join(f'"{name}"' for name in shape.schema.list_keys)
            why = f"associative list with keys has an element that omits all key fields [{keys}]"
            return f"{why} (and doesn't have default values for any key fields)"
        return ""
    if item is None:
        return "associative list without keys has an element that's an explicit null"
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    return ""
