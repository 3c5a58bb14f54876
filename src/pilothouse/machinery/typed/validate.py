"""Whether an applied configuration fits its type, in the words of the original's typed objects."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.fits import ANY_SCALAR, NO_KEYS, NUMBERS, TEXTS, all_fit, apart, fits
from pilothouse.machinery.typed.shape import KEYED, SET, Shape, shape_of
from pilothouse.machinery.typed.text import element_text, path_text, plain, syntax, type_name

_MOST_TEXT: Final = 1 << 20  # signs of all that is told
_SHALLOW: Final = 8  # lists and maps in each other
_FEW: Final = 16  # items each of which is soon asked
_Path = tuple[Any, str] | None  # (where the parent is, element); None is the root


def problems(schema: Schema, value: Any, duplicates: bool = False) -> list[str]:
    """What is wrong, each as `.path: reason`, as far as it is told; empty when all fits. `duplicates`: keys of a list
    may come twice (live objects).
    """
    if fits(schema)(value):
        return []
    return _Walk(duplicates).run(schema, value)


def joined(found: list[str]) -> str:
    """Several problems in one message."""
    return found[0] if len(found) == 1 else "\n".join(["errors:", *(f"  {problem}" for problem in found)])


class _Full(Exception):
    """As much is wrong as is told."""


class _Walk:
    """Finds all that is wrong. Paths are (parent, element): most of them are never shown."""

    def __init__(self, duplicates: bool) -> None:
        self.found: list[str] = []
        self._duplicates = duplicates
        self._room = _MOST_TEXT
        self._depth = 0  # lists and maps that the value at hand stands in

    def run(self, schema: Schema, value: Any) -> list[str]:
        with contextlib.suppress(_Full):
            self._value(schema, value, None)
        return self.found

    def _wrong(self, path: _Path, why: str) -> None:
        text = f"{_shown(path)}: {why}"
        self.found.append(text)
        self._room -= len(text)
        if len(self.found) == MOST_CAUSES or self._room < 0:
            raise _Full

    def _value(self, schema: Schema, value: Any, path: _Path) -> None:
        if value is None:
            return
        kind = schema.kind
        if kind == s.STRUCT:
            self._struct(schema, value, path)
        elif kind == s.MAP:
            self._map(schema, value, path)
        elif kind == s.LIST:
            self._list(schema, value, path)
        elif kind in NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | float):
                self._wrong(path, f"expected numeric (int or float), got {type_name(value)}")
        elif kind in TEXTS:
            if not isinstance(value, str):
                self._wrong(path, f"expected string, got &value.valueUnstructured{{Value:{syntax(value)}}}")
        elif kind == s.BOOL:
            if not isinstance(value, bool):
                self._wrong(path, f"expected boolean, got &{{{plain(value)}}}")
        elif kind in ANY_SCALAR and isinstance(value, dict | list):
            self._wrong(path, f"expected any scalar, got &{{{plain(value)}}}")

    def _struct(self, schema: Schema, value: Any, path: _Path) -> None:
        if not isinstance(value, dict):
            self._wrong(path, f"expected map, got &{{{plain(value)}}}")
            return
        fields = schema.properties
        for name, inner in value.items():
            field = fields.get(name)
            if field is not None:
                self._value(field.schema, inner, (path, f"f:{name}"))
            elif not schema.preserve_unknown:
                self._wrong((path, f"f:{name}"), "field not declared in schema")

    def _map(self, schema: Schema, value: Any, path: _Path) -> None:
        if not isinstance(value, dict):
            self._wrong(path, f"expected map, got &{{{plain(value)}}}")
            return
        names = [*value]
        self._items(schema.items, self._doubtful(schema.items, [*value.values()], lambda at: f"f:{names[at]}"), path)

    def _list(self, schema: Schema, value: Any, path: _Path) -> None:
        if not isinstance(value, list):
            self._wrong(path, f"expected list, got &{{{plain(value)}}}")
            return
        shape = shape_of(schema)
        if shape.kind not in (SET, KEYED):
            items = self._doubtful(schema.items, value, lambda at: f"i:{at}")
        elif apart(shape, value):
            items = self._doubtful(schema.items, value, lambda at: shape.element(value[at]))
        else:
            items = self._elements(shape, value, path)
        self._items(schema.items, items, path)

    def _elements(self, shape: Shape, items: list[Any], path: _Path) -> Iterator[tuple[Any, str]]:
        """Each item and its path element, as far as the original looks."""
        seen: set[str] = set()
        for position, item in enumerate(items):
            wrong = _wrong_item(shape, item)
            if wrong:
                self._wrong(path, f"element {position}: {wrong}")
                return
            element = shape.element(item)
            if element in seen and not self._duplicates:
                self._wrong(path, f"duplicate entries for key {element_text(element)}")
            seen.add(element)
            yield item, element

    def _doubtful(self, schema: Schema, items: list[Any], element: Callable[[int], str]) -> Iterator[tuple[Any, str]]:
        """The items that may not fit, each with its path element, which `element` tells of its place."""
        fine = all_fit(schema) if self._depth + 1 < _SHALLOW and len(items) > _FEW else _surely_not
        return ((item, element(at)) for at, item in doubtful(items, fine))

    def _items(self, schema: Schema, items: Iterator[tuple[Any, str]], path: _Path) -> None:
        self._depth += 1
        # Far inside a type that holds itself, it would be asked again and again what fits.
        fit = fits(schema) if self._depth < _SHALLOW else _surely_not
        for item, element in items:
            if not fit(item):
                self._value(schema, item, (path, element))
        self._depth -= 1


def _surely_not(value: Any) -> bool:
    return False


def _shown(path: _Path) -> str:
    elements = []
    while path is not None:
        path, element = path
        elements.append(element)
    return path_text(reversed(elements))


def _wrong_item(shape: Shape, item: Any) -> str:
    if shape.kind == KEYED:
        if item is None:
            return "associative list with keys may not have a null element"
        if not isinstance(item, dict):
            return "associative list with keys may not have non-map elements"
        if shape.needs_key and shape.element(item) == NO_KEYS:
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
