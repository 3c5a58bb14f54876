"""Objects as rules see them.

Texts of times, durations and bytes are such, whole numbers of number fields are doubles, sets are sets; null and what
the schema does not name are left out.

The work is done once for an object, by functions made of the schema. What is the same for both worlds is not copied.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final

from pilothouse.cel.schematypes import members, type_of
from pilothouse.cel.values import BadData, Fault, MapList, SetList, Struct, Timestamp, duration_of, timestamp_of
from pilothouse.machinery.structural.node import Node

Convert = Callable[[Any], Any]
_KEY: Final = "values of expressions"


def converter(node: Node) -> Convert:
    """`f(value)` for values that keep the schema. They may be shared: nothing is changed in place."""
    found: Convert | None = node.compiled.get(_KEY)
    if found is None:
        found = node.compiled[_KEY] = _make(node)
    return found


def _same(value: Any) -> Any:
    return value


def _integer(value: Any) -> Any:
    if value.__class__ is int or value is None:
        return value
    return BadData("invalid data, expected int, got float64")


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, int | float) and value.__class__ is not float else value


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return BadData("expected base64 encoded bytes")


def _date(value: Any) -> Any:
    return _read(lambda text: timestamp_of(f"{text}T00:00:00Z"), value)


def _read(read: Callable[[str], Any], value: Any) -> Any:
    if value is None:
        return None
    try:
        return read(value)
    except (Fault, TypeError):
        return BadData("invalid data")


def _date_time(value: Any) -> Any:
    return _read(_moment, value)


def _moment(text: str) -> Timestamp:
    return timestamp_of(text.replace(" ", "T", 1).replace("t", "T", 1))


def _duration(value: Any) -> Any:
    return _read(duration_of, value)


_FORMATS: Final[dict[str, Convert]] = {
    "byte": _bytes, "duration": _duration, "date": _date, "date-time": _date_time,
}  # fmt: skip
_PLAIN: Final[dict[str, Convert]] = {"integer": _integer, "number": _number}


def _make(node: Node) -> Convert:
    if node.int_or_string:
        return _same
    if node.resource or node.type == "object":
        return _map(node) if node.additional is not None else _object(node)
    if node.type == "array":
        return _list(node)
    if node.type == "string":
        return _FORMATS.get(str(node.raw.get("format") or ""), _same)
    return _PLAIN.get(node.type, _same)


def _object(node: Node) -> Convert:
    known = members(node)
    name = str(type_of(node))
    steps: dict[str, Convert] = {}  # of the members that were met

    def convert(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        found = Struct()
        found.type_name = name
        for key, held in value.items():
            if held is None:
                continue
            step = steps.get(key)
            if step is None:
                if key not in known:
                    continue
                step = steps[key] = converter(known[key])
            found[key] = held if step is _same else step(held)
        return found

    return convert


def _map(node: Node) -> Convert:
    assert node.additional is not None
    inner = converter(node.additional)
    if inner is _same:
        return _same

    def convert(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        return {key: inner(held) for key, held in value.items()}

    return convert


def _list(node: Node) -> Convert:
    inner = converter(node.items) if node.items is not None else _same
    keys = node.list_keys

    if node.list_type == "set":
        return lambda value: SetList(map(inner, value)) if value.__class__ is list else value
    if node.list_type == "map":

        def keyed(value: Any) -> Any:
            if value.__class__ is not list:
                return value
            found = MapList(map(inner, value))
            found.keys = keys
            return found

        return keyed
    if inner is _same:
        return _same
    return lambda value: list(map(inner, value)) if value.__class__ is list else value
