"""Whether an applied configuration fits its type, in the words of the original's typed objects: one walk in the order
of the document, which ends when as much is wrong as is told.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.paths import element_text
from pilothouse.machinery.typed.shape import KEYED, SET, Shape, shape_of
from pilothouse.machinery.typed.text import plain, syntax, type_name
from pilothouse.machinery.typed.turns import DEEPEST, TURNS

_MOST_TEXT: Final = 1 << 20  # signs of all that is told

# What a value may be.
_ANY: Final = 0
_NUMBER: Final = 1
_TEXT: Final = 2
_BOOL: Final = 3
_SCALAR: Final = 4
_STRUCT: Final = 5
_MAP: Final = 6
_LIST: Final = 7
_KINDS: Final[dict[str, int]] = {
    s.INT32: _NUMBER, s.INT64: _NUMBER, s.FLOAT64: _NUMBER, s.STRING: _TEXT, s.BYTES: _TEXT, s.TIME: _TEXT,
    s.MICRO_TIME: _TEXT, s.DURATION: _TEXT, s.BOOL: _BOOL, s.QUANTITY: _SCALAR, s.INT_OR_STRING: _SCALAR,
    s.STRUCT: _STRUCT, s.MAP: _MAP, s.LIST: _LIST,
}  # fmt: skip
_LIKELY: Final[dict[int, type]] = {_NUMBER: int, _TEXT: str, _BOOL: bool, _SCALAR: str}


def problems(schema: Schema, value: Any, duplicates: bool = False) -> list[str]:
    """What is wrong, each as `.path: reason`, as far as it is told; empty when all fits. `duplicates`: keys of a list
    may come twice (live objects). Raises RecursionError.
    """
    walk = _Walk(duplicates)
    with contextlib.suppress(_Full):
        walk.value(_type_of(schema), value, None, 0)
    return walk.found


def joined(found: list[str]) -> str:
    """Several problems in one message."""
    return found[0] if len(found) == 1 else "\n".join(["errors:", *(f"  {problem}" for problem in found)])


class _Full(Exception):
    """As much is wrong as is told."""


class _Type:
    """A schema, as the walk asks for it. `likely`: the class of nearly all values of a scalar, of which there is no
    more to ask.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kind: i64 = _KINDS.get(schema.kind, _ANY)
        self.likely: type = _LIKELY.get(self.kind, _Type)
        self.kept: bool = schema.preserve_unknown
        self.shape: Shape = shape_of(schema)
        self.once: bool = self.kind == _LIST and self.shape.kind in (SET, KEYED)
        self.keyed: bool = self.shape.kind == KEYED
        self.fields: dict[str, _Type] = {}  # as they are met: types may hold themselves
        self._item: _Type | None = None

    def field(self, name: str) -> _Type | None:
        """One that was not met before."""
        declared = self.schema.properties.get(name)
        if declared is None:
            return None
        found = self.fields[name] = _type_of(declared.schema)
        return found

    def item(self) -> _Type:
        if self._item is None:
            self._item = _type_of(self.schema.items)
        return self._item


def _type_of(schema: Schema) -> _Type:
    found: _Type | None = schema.compiled.get("typed.validate")
    if found is None:
        found = schema.compiled["typed.validate"] = _Type(schema)
    return found


class _Place:
    """Where a value is; its path is only made when it is told. `key`: a name, or the item itself of a SET or KEYED, or
    its number in another list.
    """

    def __init__(self, parent: _Place | None, within: _Type, key: Any) -> None:
        self.parent = parent
        self.within = within
        self.key = key
        self._text = ""

    def text(self) -> str:
        element = element_text(_element(self.within, self.key))
        return element if self.parent is None else self.parent._kept() + element

    def _kept(self) -> str:
        """The text, which is kept: many have one parent."""
        if not self._text:
            parts: list[str] = []
            place: _Place | None = self
            while place is not None and not place._text:
                parts.append(element_text(_element(place.within, place.key)))
                place = place.parent
            if place is not None:
                parts.append(place._text)
            parts.reverse()
            self._text = "".join(parts)
        return self._text


def _element(within: _Type, key: Any) -> str:
    if within.kind != _LIST:
        return f"f:{key}"
    return within.shape.element(key) if within.once else f"i:{key}"


class _Walk:
    """Tells all that is wrong."""

    def __init__(self, duplicates: bool) -> None:
        self.found: list[str] = []
        self._duplicates: bool = duplicates
        self._room: i64 = _MOST_TEXT

    def _wrong(self, place: _Place | None, why: str) -> None:
        text = f"{'' if place is None else place.text()}: {why}"
        self.found.append(text)
        self._room -= len(text)
        if len(self.found) == MOST_CAUSES or self._room < 0:
            raise _Full

    def value(self, of: _Type, value: Any, place: _Place | None, depth: i64) -> None:
        if value is None:
            return
        if of.kind == _STRUCT or of.kind == _MAP:
            if not isinstance(value, dict):
                self._wrong(place, f"expected map, got &{{{plain(value)}}}")
            elif depth > DEEPEST:
                raise RecursionError
            elif of.kind == _STRUCT:
                self._struct(of, value, place, depth)
            else:
                self._map(of, value, place, depth)
        elif of.kind == _LIST:
            if not isinstance(value, list):
                self._wrong(place, f"expected list, got &{{{plain(value)}}}")
            elif depth > DEEPEST:
                raise RecursionError
            elif of.once:
                self._once(of, value, place, depth)
            else:
                self._list(of, value, place, depth)
        elif type(value) is not of.likely:
            self._scalar(of, value, place)

    def _scalar(self, of: _Type, value: Any, place: _Place | None) -> None:
        if of.kind == _NUMBER:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                self._wrong(place, f"expected numeric (int or float), got {type_name(value)}")
        elif of.kind == _TEXT:
            if not isinstance(value, str):
                self._wrong(place, f"expected string, got &value.valueUnstructured{{Value:{syntax(value)}}}")
        elif of.kind == _BOOL:
            if not isinstance(value, bool):
                self._wrong(place, f"expected boolean, got &{{{plain(value)}}}")
        elif of.kind == _SCALAR and isinstance(value, (dict, list)):
            self._wrong(place, f"expected any scalar, got &{{{plain(value)}}}")

    def _struct(self, of: _Type, value: dict[str, Any], place: _Place | None, depth: i64) -> None:
        for name, inner in value.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            field = of.fields.get(name) or of.field(name)
            if field is None:
                if not of.kept:
                    self._wrong(_Place(place, of, name), "field not declared in schema")
            elif inner is not None and type(inner) is not field.likely:
                self.value(field, inner, _Place(place, of, name), depth + 1)

    def _map(self, of: _Type, value: dict[str, Any], place: _Place | None, depth: i64) -> None:
        item = of.item()
        for name, inner in value.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            if inner is not None and type(inner) is not item.likely:
                self.value(item, inner, _Place(place, of, name), depth + 1)

    def _list(self, of: _Type, value: list[Any], place: _Place | None, depth: i64) -> None:
        item = of.item()
        for at, inner in enumerate(value):
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            if inner is not None and type(inner) is not item.likely:
                self.value(item, inner, _Place(place, of, at), depth + 1)

    def _once(self, of: _Type, value: list[Any], place: _Place | None, depth: i64) -> None:
        """A list in which each item has a key of its own, or is there once. Nothing is told behind an item that may not
        be there.
        """
        item = of.item()
        known: set[Any] = set()
        for at, inner in enumerate(value):
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            why = _refused(of, inner)
            key = None if why else of.shape.identity(inner)
            if not why and key is None and of.shape.needs_key:
                why = _omits(of.shape)
            if why:
                self._wrong(place, f"element {at}: {why}")
                return
            if key in known:
                if not self._duplicates:
                    element = element_text(of.shape.element(inner))
                    self._wrong(place, f"duplicate entries for key {element}")
            else:
                known.add(key)
            if type(inner) is not item.likely:
                self.value(item, inner, _Place(place, of, inner), depth + 1)


def _refused(of: _Type, item: Any) -> str:
    """Why an item may not be in such a list, whatever its key is; or nothing."""
    if of.keyed:
        if isinstance(item, dict):
            return ""
        if item is None:
            return "associative list with keys may not have a null element"
        return "associative list with keys may not have non-map elements"
    if item is None:
        return "associative list without keys has an element that's an explicit null"
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    return "not supported: associative list with lists as elements" if isinstance(item, list) else ""


def _omits(shape: Shape) -> str:
    """Why an item without any key may not be there."""
    keys = " ".join(f'"{name}"' for name in shape.schema.list_keys)
    why = f"associative list with keys has an element that omits all key fields [{keys}]"
    return f"{why} (and doesn't have default values for any key fields)"
