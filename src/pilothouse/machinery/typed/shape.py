"""How a type's value is owned: whole, field by field, or item by item. Every walk of this package is made from a
`Shape`.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.turns import TURNS

ATOM: Final = "atom"  # owned whole: scalars, atomic lists and maps, free-form objects of built-in kinds
STRUCT: Final = "struct"
MAP: Final = "map"
SET: Final = "set"
KEYED: Final = "keyed"
FREE: Final = "free"  # no schema: maps key by key, all else whole


class _Sign:
    """Stands for something that is no JSON value."""


Duplicated: Final = _Sign()  # in an index, for an item whose key comes more than once
LACKING: Final = _Sign()


class Key:
    """One key of a keyed list. `start`: how it begins in an element. `default`: what items have that lack it, or
    None.
    """

    def __init__(self, name: str, default: Any) -> None:
        self.name = name
        self.default = default
        self.start = f"{encode_basestring(name)}:"

    def of(self, item: Any) -> Any:
        """What an item has as the key; `LACKING` where neither it nor its type tells."""
        if isinstance(item, dict):
            value = item.get(self.name, LACKING)
            if value is not LACKING:
                return value
        return LACKING if self.default is None else self.default


class Shape:
    """Made once a schema. `fields` of a STRUCT by name; `item` of a MAP, SET or KEYED; `keys` of a KEYED.

    `needs_key`: items of a KEYED must have one of the keys, as none has a default. `open`: undeclared fields of a
    STRUCT are kept (FREE).
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kind: str = _kind(schema)
        self.fields: dict[str, Field] = schema.properties if self.kind == STRUCT else {}
        self.item: Schema | None = schema.items if self.kind in (MAP, SET, KEYED) else None
        self.keys: list[Key] = []
        self.needs_key: bool = False
        self.open: bool = schema.preserve_unknown
        if self.kind == KEYED and self.item is not None:
            properties = self.item.properties
            for name in sorted(schema.list_keys):
                self.keys.append(Key(name, _key_default(properties[name]) if name in properties else None))
            self.needs_key = all(key.name in properties and key.default is None for key in self.keys)

    def element(self, item: Any) -> str:
        """The path element of an item of a SET or KEYED. Keys that it lacks and that have no default are left out."""
        if self.kind != KEYED:
            return f"v:{json_text(item)}"
        text = ""
        for key in self.keys:
            value = key.of(item)
            if value is not LACKING:
                text = f"{text},{key.start}{json_text(value)}" if text else key.start + json_text(value)
        return f"k:{{{text}}}"

    def elements(self, items: list[Any]) -> list[str]:
        """`element` of all."""
        found: list[str] = []
        for item in items:
            found.append(self.element(item))
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        return found

    def identities(self, items: list[Any]) -> list[Any]:
        """`identity` of all."""
        found: list[Any] = []
        for item in items:
            found.append(self.identity(item))
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        return found

    def identity(self, item: Any) -> Any:
        """What is the same of items of a SET or KEYED whose elements are; None of one without keys."""
        if self.kind != KEYED:
            return _identity(item)
        if len(self.keys) == 1:
            value = self.keys[0].of(item)
            return None if value is LACKING else _identity(value)
        values = [key.of(item) for key in self.keys]
        if values.count(LACKING) == len(values):
            return None
        return tuple([value if value is LACKING else _identity(value) for value in values])


def _identity(value: Any) -> Any:
    if type(value) is str or type(value) is int:
        return value
    if type(value) is float and value.is_integer() and abs(value) < _WRITTEN_WHOLE:
        return int(value)
    return (json_text(value),)  # true is not 1


_WRITTEN_WHOLE: Final = 1e15  # floats below that are written as integers where they are some
_ZERO: Final[dict[str, Any]] = {s.STRING: "", s.INT32: 0, s.INT64: 0, s.BOOL: False}


def _key_default(field: Field) -> Any:
    """What a key is that an item lacks: the zero value where that is always written."""
    if field.default is not None or field.pointer or field.omitempty:
        return field.default
    return _ZERO.get(field.schema.kind)


def shape_of(schema: Schema) -> Shape:
    found: Shape | None = schema.compiled.get("typed.shape")
    if found is None:
        found = schema.compiled["typed.shape"] = Shape(schema)
    return found


def _kind(schema: Schema) -> str:
    kind = schema.kind
    if kind == s.STRUCT:
        if schema.map_type == "atomic":
            return ATOM
        return STRUCT if schema.properties or not schema.preserve_unknown else FREE
    if kind == s.MAP:
        return ATOM if schema.map_type == "atomic" else MAP
    if kind == s.LIST:
        if schema.list_type == "set":
            return SET
        if schema.list_type == "map" and schema.items.kind == s.STRUCT:
            return KEYED
        return ATOM
    return FREE if kind == s.JSON else ATOM


def json_text(value: Any) -> str:
    """JSON as the original writes it inside a path element: sorted keys, no blanks, text as it is."""
    if type(value) is str:
        return encode_basestring(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return str(int(value)) if value.is_integer() and abs(value) < _WRITTEN_WHOLE else float.__repr__(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def index(shape: Shape, items: list[Any]) -> dict[str, Any]:
    """Items by path element, in order of first appearance; `Duplicated` for those that come more than once."""
    found: dict[str, Any] = {}
    for item in items:
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
        element = shape.element(item)
        found[element] = Duplicated if element in found else item
    return found
