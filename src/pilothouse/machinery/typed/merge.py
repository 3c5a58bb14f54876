"""The merge of an applied configuration into the live object: what it says wins, what it does not mention stays.

Unchanged parts of the live object are shared, never copied. Compiled to closures, once a type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pilothouse.machinery.jsoncodec import identical
from pilothouse.machinery.schema import STRING, Schema
from pilothouse.machinery.typed.shape import ATOM, FREE, MAP, SET, STRUCT, Duplicated, Shape, index, index_by, shape_of

Merge = Callable[[Any, Any], Any]


def merge(schema: Schema, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The object with the configuration in it: `live` itself when that changes nothing."""
    merged: dict[str, Any] = merger(schema)(live, config)
    return merged


def merger(schema: Schema) -> Merge:
    found = schema.compiled.get("typed.merge")
    if found is None:
        schema.compiled["typed.merge"] = found = _compile(shape_of(schema))
    return found


def same(a: Any, b: Any) -> bool:
    """Equal as the original sees it: numbers by value, but true is not 1."""
    return bool(a == b) and (type(a) is str or identical(a, b))


def _whole(live: Any, config: Any) -> Any:
    return live if same(live, config) else config


def _compile(shape: Shape) -> Merge:
    if shape.kind == ATOM:
        return _whole
    if shape.kind == FREE:
        return _free
    if shape.kind == STRUCT:
        fields = shape.fields
        other: Merge = _free if shape.open else _whole
        children: dict[str, Merge] = {}

        def child(name: str) -> Merge:
            found = children.get(name)
            if found is None:
                if name not in fields:
                    return other
                found = children[name] = merger(fields[name].schema)
            return found

        return _maps(child)
    if shape.item is None:
        raise TypeError("a list without items")
    if shape.kind == MAP:
        if shape.item.kind == STRING:
            return _text_maps
        item = merger(shape.item)
        return _maps(lambda name: item)
    return _lists(shape, _whole if shape.kind == SET else merger(shape.item))


def _maps(child: Callable[[str], Merge]) -> Merge:
    def maps(live: Any, config: Any) -> Any:
        if type(live) is not dict or not live:
            return _whole(live, config)
        if type(config) is not dict:
            return live  # null says nothing about what is in the map
        out: dict[str, Any] | None = None
        for name, value in config.items():
            if name in live:
                before = live[name]
                if before is value:
                    continue
                value = child(name)(before, value)
                if value is before:
                    continue
            if out is None:
                out = dict(live)
            out[name] = value
        return live if out is None else out

    return maps


def _text_maps(live: Any, config: Any) -> Any:
    """Maps of texts, of which there may be a hundred thousand."""
    if type(live) is not dict or not live:
        return _whole(live, config)
    if type(config) is not dict:
        return live
    merged = live | config
    return live if merged == live else merged


def _free(live: Any, config: Any) -> Any:
    if type(config) is dict and type(live) is dict and live:
        return _free_maps(live, config)
    return _whole(live, config)


_free_maps = _maps(lambda name: _free)


def _lists(shape: Shape, item: Merge) -> Merge:
    elements = shape.elements

    def lists(live: Any, config: Any) -> Any:
        if type(live) is not list or not live:
            return _whole(live, config)
        if type(config) is not list or not config or (len(live) == len(config) and same(live, config)):
            return live
        live_keys = elements(live)
        before = index_by(live_keys, live)
        now = index(shape, config)
        if before.keys().isdisjoint(now):
            return [*live, *now.values()]
        out = []
        changed = False
        for key, position in merged_order(live_keys, list(now)):
            if key is None:
                out.append(live[position])
                continue
            value = now[key]
            was = before.get(key, Duplicated)
            merged = value if was is Duplicated else item(was, value)
            changed = changed or merged is not was
            out.append(merged)
        if not changed and len(out) == len(live) and all(map(_is, out, live)):
            return live
        return out

    return lists


def _is(a: Any, b: Any) -> bool:
    return a is b


def merged_order(live: list[str], applied: list[str]) -> Iterator[tuple[str | None, int]]:
    """The order of a merged list: (key, _) takes the applied item, (None, i) the i-th live one.

    Shared items come in the applied order. Live items that are not applied keep their place before the shared item
    they stood before; applied items that are new stand before the shared item they are written before, or at the end.
    """
    wanted = frozenset(applied)
    there = frozenset(live)
    shared = [key for key in applied if key in there]
    awaited, position = 0, 0
    for at, key in enumerate(live):
        if key not in wanted:
            yield None, at
        elif awaited < len(shared) and key == shared[awaited]:
            while applied[position] != key:
                yield applied[position], -1
                position += 1
            yield key, -1
            position += 1
            awaited += 1
    for key in applied[position:]:
        yield key, -1
