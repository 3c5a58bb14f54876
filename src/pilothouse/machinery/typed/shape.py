"""How a type's value is owned: whole, field by field, or item by item. Every walk of this package is made from a
`Shape`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

ATOM: Final = "atom"  # owned whole: scalars, atomic lists and maps, free-form objects of built-in kinds
STRUCT: Final = "struct"
MAP: Final = "map"
SET: Final = "set"
KEYED: Final = "keyed"
FREE: Final = "free"  # no schema: maps key by key, all else whole

Duplicated: Final = object()  # stands in an index for an item whose key comes more than once


class Shape:
    """Made once a schema. `fields` of a STRUCT by name; `item` of a MAP, SET or KEYED; `keys` of a KEYED: (name,
    default or None).

    `needs_key`: items of a KEYED must have one of the keys, as none has a default.
    `element(item)` of SET and KEYED gives the path element of an item, `elements(items)` those of all. `open`:
    undeclared fields of a STRUCT are kept (FREE).
    """

    __slots__ = ("element", "elements", "fields", "item", "keys", "kind", "needs_key", "open", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kind = _kind(schema)
        self.fields: dict[str, Field] = schema.properties if self.kind == STRUCT else {}
        self.item: Schema | None = schema.items if self.kind in (MAP, SET, KEYED) else None
        self.keys: tuple[tuple[str, Any], ...] = ()
        self.needs_key = False
        self.open = schema.preserve_unknown
        self.element: Callable[[Any], str] = set_element
        self.elements: Callable[[list[Any]], list[str]] = set_elements
        if self.kind == KEYED and self.item is not None:
            properties = self.item.properties
            self.keys = tuple(
                (name, _key_default(properties[name]) if name in properties else None)
                for name in sorted(schema.list_keys)
            )
            self.element = _keyed_element(self.keys)
            self.elements = self._keyed_elements
            self.needs_key = all(name in properties and default is None for name, default in self.keys)

    def columns(self, items: list[Any]) -> list[list[Any]] | None:
        """Of a KEYED with items: what all have as each key, if those of one key are of one kind, texts or numbers."""
        columns = _key_columns(self.keys, items)
        uniform = columns and all(_kinds(values) in _UNIFORM for values in columns)
        return columns if uniform else None

    def elements_of(self, columns: list[list[Any]]) -> list[str]:
        """The path elements of items whose keys are these."""
        names = [encode_basestring(name) for name, _ in self.keys]
        quotes, texts = zip(*map(_written, columns), strict=True)
        if len(columns) == 1:
            start, end = f"k:{{{names[0]}:{quotes[0]}", f"{quotes[0]}}}"
            return [f"{start}{text}{end}" for text in texts[0]]
        pairs = [name.replace("%", "%%") + f":{quote}%s{quote}" for name, quote in zip(names, quotes, strict=True)]
        pattern = f"k:{{{','.join(pairs)}}}"
        return [pattern % keys for keys in zip(*texts, strict=True)]

    def identities(self, items: list[Any], kinds: frozenset[type]) -> tuple[Sequence[Hashable], bool]:
        """What tells items of a SET or KEYED from each other, and whether these are their path elements. `kinds`: the
        types of the items, and maybe more.
        """
        if self.kind == SET:
            return (items, False) if kinds in _UNIFORM else (self.elements(items), True)
        columns = _key_columns(self.keys, items)
        if columns and all(_kinds(values) in _UNIFORM for values in columns):
            return (columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))), False
        return self._elements(items, columns), True

    def _keyed_elements(self, items: list[Any]) -> list[str]:
        return self._elements(items, _key_columns(self.keys, items) if len(items) >= _MANY else None)

    def _elements(self, items: list[Any], columns: list[list[Any]] | None) -> list[str]:
        if not columns:
            return list(map(self.element, items))
        elements = self.elements_of(columns)
        for values in columns:
            if _Lacking in _kinds(values):  # what an item has no key for is left out
                for at in [at for at, value in enumerate(values) if value is _LACKING]:
                    elements[at] = self.element(items[at])
        return elements


_ZERO: Final = {s.STRING: "", s.INT32: 0, s.INT64: 0, s.BOOL: False}


def _key_default(field: Field) -> Any:
    """What a key is that an item lacks: the zero value where that is always written."""
    if field.default is not None or field.pointer or field.omitempty:
        return field.default
    return _ZERO.get(field.schema.kind)


def shape_of(schema: Schema) -> Shape:
    found = schema.compiled.get("typed.shape")
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
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else float.__repr__(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def set_element(item: Any) -> str:
    return f"v:{json_text(item)}"


_MANY: Final = 8  # items from which on the columns are worth making
_Kinds = frozenset[type]
_TEXTS: Final[_Kinds] = frozenset({str})
# Kinds of values that are the same where Python holds them for equal, and how one is written.
_UNIFORM: Final[dict[_Kinds, Callable[[Any], str]]] = {
    _TEXTS: encode_basestring,
    frozenset({int}): str,
    frozenset({float}): json_text,
}


class _Lacking:
    """Stands for a key that neither an item has nor its type tells."""


_LACKING: Final = _Lacking()


def _kinds(values: list[Any]) -> _Kinds:
    return frozenset(map(type, values))


def _written(values: list[Any]) -> tuple[str, Iterable[Any]]:
    """How the values of one key are written into elements: the quotes around each, and what stands in them."""
    kinds = _kinds(values)
    if kinds == _TEXTS and are_plain(values):
        return '"', values
    if kinds in _UNIFORM:
        return "", map(_UNIFORM[kinds], values)
    if _Lacking in kinds:
        return "", ["" if value is _LACKING else json_text(value) for value in values]
    return "", map(json_text, values)


_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]').search


def are_plain(texts: Collection[str]) -> bool:
    """Whether JSON has all of some texts as they are."""
    return _ESCAPED("".join(texts)) is None


def set_elements(items: list[Any]) -> list[str]:
    """`set_element` of all."""
    if len(items) < _MANY:
        return list(map(set_element, items))
    quote, texts = _written(items)
    return [f"v:{quote}{text}{quote}" for text in texts]


def _key_columns(keys: tuple[tuple[str, Any], ...], items: list[Any]) -> list[list[Any]] | None:
    """What items have as each key, `_LACKING` where that is not known; None where one of them is no map."""
    columns = []
    try:
        for name, default in keys:
            try:
                columns.append(list(map(itemgetter(name), items)))
            except KeyError:
                otherwise = _LACKING if default is None else default
                columns.append([item.get(name, otherwise) for item in items])
    except (AttributeError, TypeError):
        return None
    return columns


def _keyed_element(keys: tuple[tuple[str, Any], ...]) -> Callable[[Any], str]:
    """The path element of a list item. Keys that the item lacks and that have no default are left out."""
    if len(keys) == 1:
        name, without = keys[0]
        start = f"k:{{{encode_basestring(name)}:"
        lacking = "k:{}" if without is None else f"{start}{json_text(without)}}}"

        def single(item: Any) -> str:
            value = item.get(name, single) if type(item) is dict else single
            if type(value) is str:
                return start + encode_basestring(value) + "}"
            return lacking if value is single else f"{start}{json_text(value)}}}"

        return single
    named = [(name, f"{encode_basestring(name)}:", default) for name, default in keys]

    def several(item: Any) -> str:
        parts = []
        known = item if type(item) is dict else {}
        for name, start, default in named:
            if name in known:
                parts.append(start + json_text(known[name]))
            elif default is not None:
                parts.append(start + json_text(default))
        return "k:{" + ",".join(parts) + "}"

    return several


def index(shape: Shape, items: list[Any]) -> dict[str, Any]:
    """Items by path element, in order of first appearance; `Duplicated` for those that come more than once."""
    return index_by(shape.elements(items), items)


def index_by(elements: list[str], items: list[Any]) -> dict[str, Any]:
    """As `index`, where the elements are known."""
    found: dict[str, Any] = dict(zip(elements, items, strict=True))
    if len(found) < len(items):
        found.update((element, Duplicated) for element, count in Counter(elements).items() if count > 1)
    return found
