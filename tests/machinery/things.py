"""A type with every way of owning, and objects of it, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

TEXT = Schema(s.STRING, name="string")
TEXTS = Schema(s.MAP, items=lambda: TEXT)


def struct(fields: dict[str, Schema], **more: Any) -> Schema:
    made = [Field(name, lambda schema=schema: schema, pointer=True) for name, schema in fields.items()]
    return Schema(s.STRUCT, fields=lambda: made, **more)


def listed(of: Schema, kind: str = "atomic", keys: tuple[str, ...] = ()) -> Schema:
    return Schema(s.LIST, items=lambda: of, list_type=kind, list_keys=keys)


INNER = struct({"name": TEXT, "note": TEXT, "tags": listed(TEXT, "set"), "extra": TEXTS})
THING = struct(
    {
        "text": TEXT,
        "map": TEXTS,
        "sealed": struct({"a": TEXT, "b": TEXT}, map_type="atomic"),
        "whole": listed(TEXT),
        "set": listed(TEXT, "set"),
        "items": listed(INNER, "map", ("name",)),
        "inner": INNER,
        "maps": Schema(s.MAP, items=lambda: INNER),
        "free": Schema(s.JSON),
    }
)

_words = st.sampled_from(["a", "b", "c", "a b", "x!", 'q"'])
_texts = st.one_of(_words, st.none())
_text_maps = st.one_of(st.none(), st.dictionaries(_words, _texts, max_size=3))
_sets = st.one_of(st.none(), st.lists(_words, max_size=3, unique=True))
_json = st.recursive(
    st.one_of(_words, st.none(), st.integers(0, 2)),
    lambda inner: st.dictionaries(_words, inner, max_size=2) | st.lists(inner, max_size=2),
    max_leaves=4,
)
_inner_fields = {"note": _texts, "tags": _sets, "extra": _text_maps}


def _optional(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


_item = _optional({"name": _words}, _inner_fields)
_items = st.one_of(st.none(), st.lists(_item, max_size=4, unique_by=lambda item: item["name"]))
_inner = st.one_of(st.none(), _optional({}, {"name": _texts, **_inner_fields}))
things = _optional(
    {},
    {
        "text": _texts,
        "map": _text_maps,
        "sealed": st.one_of(st.none(), _optional({}, {"a": _texts, "b": _texts})),
        "whole": st.one_of(st.none(), st.lists(_words, max_size=3)),
        "set": _sets,
        "items": _items,
        "inner": _inner,
        "maps": st.one_of(st.none(), st.dictionaries(_words, _inner, max_size=2)),
        "free": _json,
    },
)
