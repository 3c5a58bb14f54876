"""The merge of an applied configuration into the live object: what it says wins, what it does not mention stays.

Unchanged parts of the live object are shared, never copied. Made once a type.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.schema import STRING, Schema
from pilothouse.machinery.typed.same import same
from pilothouse.machinery.typed.shape import ATOM, FREE, MAP, SET, STRUCT, Shape, shape_of
from pilothouse.machinery.typed.turns import DEEPEST, TURNS


def merge(schema: Schema, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The object with the configuration in it: `live` itself when that changes nothing. Raises RecursionError."""
    merged: dict[str, Any] = _merge_of(schema).run(live, config, 0)
    return merged


class _Merge:
    """How values of a type are merged, of which the applied one is taken whole here."""

    def run(self, live: Any, config: Any, depth: i64) -> Any:
        return live if same(live, config) else config


def _merge_of(schema: Schema) -> _Merge:
    found: _Merge | None = schema.compiled.get("typed.merge")
    if found is None:
        found = schema.compiled["typed.merge"] = _made(shape_of(schema))
    return found


def _made(shape: Shape) -> _Merge:
    if shape.kind == ATOM:
        return _WHOLE
    if shape.kind == FREE:
        return _FREE
    if shape.kind == STRUCT:
        return _Struct(shape)
    if shape.item is None:
        raise TypeError("a container without items")
    if shape.kind == MAP:
        if shape.item.kind == STRING:
            return _TEXTS
        return _Map(_merge_of(shape.item))
    return _List(shape, _WHOLE if shape.kind == SET else _merge_of(shape.item))


class _Maps(_Merge):
    """Objects, member by member."""

    def child(self, name: str) -> _Merge:
        raise NotImplementedError

    def run(self, live: Any, config: Any, depth: i64) -> Any:
        if not isinstance(live, dict) or not live:
            return live if same(live, config) else config
        if not isinstance(config, dict):
            return live  # null says nothing about what is in the map
        if depth > DEEPEST:
            raise RecursionError
        out: dict[str, Any] | None = None
        for name, value in config.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            if name in live:
                before = live[name]
                if before is value:
                    continue
                if type(value) is str and type(before) is str:
                    if value == before:
                        continue
                else:
                    value = self.child(name).run(before, value, depth + 1)
                    if value is before:
                        continue
            if out is None:
                out = dict(live)
            out[name] = value
        return live if out is None else out


class _Struct(_Maps):
    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._other: _Merge = _FREE if shape.open else _WHOLE
        self._fields: dict[str, _Merge] = {}

    def child(self, name: str) -> _Merge:
        found = self._fields.get(name)
        if found is None:
            field = self._shape.fields.get(name)
            if field is None:
                return self._other
            found = self._fields[name] = _merge_of(field.schema)
        return found


class _Map(_Maps):
    def __init__(self, item: _Merge) -> None:
        self._item = item

    def child(self, name: str) -> _Merge:
        return self._item


class _Texts(_Merge):
    """Maps of texts, of which there may be a hundred thousand."""

    def run(self, live: Any, config: Any, depth: i64) -> Any:
        if not isinstance(live, dict) or not live:
            return live if same(live, config) else config
        if not isinstance(config, dict):
            return live
        merged = live | config
        return live if merged == live else merged


class _Free(_Maps):
    """Values without a schema: maps key by key, all else whole."""

    def child(self, name: str) -> _Merge:
        return self

    def run(self, live: Any, config: Any, depth: i64) -> Any:
        if isinstance(config, dict) and isinstance(live, dict) and live:
            return super().run(live, config, depth)
        return live if same(live, config) else config


_WHOLE: Final = _Merge()
_FREE: Final = _Free()
_TEXTS: Final = _Texts()


class _List(_Merge):
    """Lists by key and sets."""

    def __init__(self, shape: Shape, item: _Merge) -> None:
        self._shape = shape
        self._item = item

    def run(self, live: Any, config: Any, depth: i64) -> Any:
        if not isinstance(live, list) or not live:
            return live if same(live, config) else config
        if not isinstance(config, list) or not config or (len(live) == len(config) and same(live, config)):
            return live
        if depth > DEEPEST:
            raise RecursionError
        live_keys = self._shape.identities(live)
        places: dict[Any, int] = {}  # of live items, -1 of those whose key comes more than once
        for at, key in enumerate(live_keys):
            places[key] = -1 if key in places else at
        keys: dict[Any, int] = {}
        for at, key in enumerate(self._shape.identities(config)):
            if key not in keys:
                keys[key] = at
        applied = list(keys)
        out: list[Any] = []
        changed = False
        for at in merged_order(live_keys, applied):
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            if at >= 0:
                out.append(live[at])
                continue
            key = applied[-1 - at]
            item = config[keys[key]]
            place = places.get(key, -1)
            if place >= 0:
                was = live[place]
                item = self._item.run(was, item, depth + 1)
                changed = changed or item is not was
            else:
                changed = True
            out.append(item)
        return out if changed or not _are_the_same(out, live) else live


def _are_the_same(some: list[Any], others: list[Any]) -> bool:
    """Whether the very same items are in two lists."""
    return len(some) == len(others) and not any(item is not others[at] for at, item in enumerate(some))


def merged_order(live: list[Any], applied: list[Any]) -> list[int]:
    """The order of a merged list, told by keys: the place of a live item, or -1 less that of an applied one.

    Shared items come in the applied order. Live items that are not applied keep their place before the shared item
    they stood before; applied items that are new stand before the shared item they are written before, or at the end.
    """
    wanted = set(applied)
    there = set(live)
    shared = [at for at, key in enumerate(applied) if key in there]
    found: list[int] = []
    awaited = 0
    position = 0
    for at, key in enumerate(live):
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
        if key not in wanted:
            found.append(at)
        elif awaited < len(shared) and key == applied[shared[awaited]]:
            while position <= shared[awaited]:
                found.append(-1 - position)
                position += 1
            awaited += 1
    while position < len(applied):
        found.append(-1 - position)
        position += 1
    return found
