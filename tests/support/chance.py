"""Random objects of any type, as the original's JSON would have them, with texts and numbers at the edges."""

from __future__ import annotations

import base64
import random
from typing import Any

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

_TEXTS = ("", "a", "web", "example.com/name", "x" * 130, "é", "\u2028<&>", "日本", "😀", "\x00", "\x7f\x80", "0", "-1")
_QUANTITIES = ("0", "1", "100m", "128Mi", "1e3", "-5", "1.5Gi", "9" * 80)
_NUMBERS = (0, 1, -1, 5, 127, 128, 300, 16383, 16384, 2**31 - 1, -(2**31))
_TIMES = ("2026-11-29T20:57:11Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "0001-01-01T00:00:01Z")
_MICROS = ("2026-01-02T03:04:05.999999Z", "1969-12-31T23:59:59.000001Z", "2026-01-02T03:04:05.000000Z")
_JSON = ({}, {"a": [1, None, "é"]}, [], "x", 5, True, {"f:a": {".": {}}})
_CHOICES = ("JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")


class Room:
    """How many more values a random object may have."""

    def __init__(self, values: int) -> None:
        self.values = values


def random_object(schema: Schema, rng: random.Random, depth: int = 0, room: Room | None = None) -> dict[str, Any]:
    """An object of a struct type as the original's JSON would have it."""
    room = room or Room(rng.choice((20, 100, 400)))
    obj: dict[str, Any] = {}
    for name, field in schema.properties.items():
        if not field.number:
            continue
        under = field.schema
        if room.values <= 0 or rng.random() > 0.5 / (1 + depth / 3):
            continue
        room.values -= 1
        if under.kind == s.MAP:
            value: Any = {
                rng.choice(_TEXTS[1:]): _random_value(schema, under.items, rng, depth + 1, room)
                for _ in range(rng.randint(1, 3))
            }
        elif under.kind == s.LIST:
            value = [_random_value(schema, under.items, rng, depth + 1, room) for _ in range(rng.randint(1, 3))]
        else:
            value = _random_value(schema, under, rng, depth + 1, room)
        obj[name] = value
    return obj


def _random_value(owner: Schema, schema: Schema, rng: random.Random, depth: int, room: Room) -> Any:
    if schema.name in _CHOICES:
        props = random_object(owner, rng, depth + 3, room)
        if schema.name == "JSONSchemaPropsOrBool":
            return rng.choice((True, False, props))
        return rng.choice((props, [props] if schema.name == "JSONSchemaPropsOrArray" else ["a", "é"]))
    made = {
        s.STRUCT: lambda: random_object(schema, rng, depth, room),
        s.LIST: lambda: [rng.choice(_TEXTS) for _ in range(rng.randint(1, 3))],
        s.STRING: lambda: rng.choice(_TEXTS),
        s.BOOL: lambda: rng.random() < 0.5,
        s.INT32: lambda: rng.choice(_NUMBERS),
        s.INT64: lambda: rng.choice((*_NUMBERS, 2**63 - 1, -(2**63), 2**40)),
        s.FLOAT64: lambda: rng.choice((0, 1, -3, 1.5, 1e300, -0.25)),
        s.BYTES: lambda: base64.b64encode(rng.randbytes(rng.choice((0, 1, 2, 200)))).decode(),
        s.QUANTITY: lambda: rng.choice(_QUANTITIES),
        s.INT_OR_STRING: lambda: rng.choice((0, 80, -1, 2**31 - 1, "", "http", "25%", "é", "x" * 100)),
        s.TIME: lambda: rng.choice(_TIMES),
        s.MICRO_TIME: lambda: rng.choice(_MICROS),
    }
    return made[schema.kind]() if schema.kind in made else rng.choice(_JSON)
