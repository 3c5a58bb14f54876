"""Whether an applied configuration fits its type, in the words of the original's typed objects."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.columns import CONTAINERS
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.apart import Fault
from pilothouse.machinery.typed.fits import ANY_SCALAR, NUMBERS, TEXTS, Misfits, fits
from pilothouse.machinery.typed.shape import KEYED, SET, shape_of
from pilothouse.machinery.typed.text import element_text, plain, syntax, type_name

_MOST_TEXT: Final = 1 << 20  # signs of all that is told
_Path = tuple[Any, str] | None  # (where the parent is, element); None is the root


def problems(schema: Schema, value: Any, duplicates: bool = False) -> list[str]:
    """What is wrong, each as `.path: reason`, as far as it is told; empty when all fits. `duplicates`: keys of a list
    may come twice (live objects).
    """
    if fits(schema)(value):
        return []
    misfits = Misfits(duplicates)
    return _Walk(misfits).run(schema, value) if misfits.among(schema, [value]) else []


def joined(found: list[str]) -> str:
    """Several problems in one message."""
    return found[0] if len(found) == 1 else "\n".join(["errors:", *(f"  {problem}" for problem in found)])


class _Full(Exception):
    """As much is wrong as is told."""


class _Walk:
    """Tells all that is wrong. Paths are (parent, element): most of them are never shown."""

    def __init__(self, misfits: Misfits) -> None:
        self.found: list[str] = []
        self._misfits = misfits
        self._room = _MOST_TEXT
        self._parent: tuple[_Path, str] = (None, "")

    def run(self, schema: Schema, value: Any) -> list[str]:
        with contextlib.suppress(_Full):
            self._value(schema, value, None)
        return self.found

    def _wrong(self, path: _Path, why: str) -> None:
        text = f"{self._shown(path)}: {why}"
        self.found.append(text)
        self._room -= len(text)
        if len(self.found) == MOST_CAUSES or self._room < 0:
            raise _Full

    def _shown(self, path: _Path) -> str:
        if path is None:
            return ""
        parent, element = path
        if parent is not self._parent[0]:  # many have one parent
            self._parent = parent, self._shown(parent)
        return self._parent[1] + element_text(element)

    def _value(self, schema: Schema, value: Any, path: _Path) -> None:
        if value is None:
            return
        kind = schema.kind
        if kind in CONTAINERS and id(value) not in self._misfits.ids:
            return
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
        self._items(schema.items, [*value.values()], path, lambda at, item: f"f:{names[at]}")

    def _list(self, schema: Schema, value: Any, path: _Path) -> None:
        if not isinstance(value, list):
            self._wrong(path, f"expected list, got &{{{plain(value)}}}")
            return
        shape = shape_of(schema)
        fault = self._misfits.fault(schema, value)
        if fault is not None:
            self._faulty(schema, value, path, fault)
        elif shape.kind in (SET, KEYED):
            self._items(schema.items, value, path, lambda at, item: shape.element(item))
        else:
            self._items(schema.items, value, path, lambda at, item: f"i:{at}")

    def _items(self, schema: Schema, items: list[Any], path: _Path, element: Callable[[int, Any], str]) -> None:
        for at in self._misfits.places(schema, items):
            self._value(schema, items[at], (path, element(at, items[at])))

    def _faulty(self, schema: Schema, items: list[Any], path: _Path, fault: Fault) -> None:
        """A list in which keys are repeated, or an item stands that may not be there."""
        shape = shape_of(schema)
        repeated = set(fault.repeated)
        places = self._misfits.places(schema.items, items[: fault.end])
        for at in sorted(repeated.union(places)):
            element = shape.element(items[at])
            if at in repeated and not self._misfits.duplicates:
                self._wrong(path, f"duplicate entries for key {element_text(element)}")
            self._value(schema.items, items[at], (path, element))
        if fault.why:
            self._wrong(path, f"element {fault.end}: {fault.why}")
