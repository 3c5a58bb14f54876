"""A long list decodes as its objects do one by one, whatever they hold and whoever owns them."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import schema as s
from pilothouse.machinery.decode import Findings, decode_json
from pilothouse.machinery.decode.findings import DecodeError
from pilothouse.machinery.decode.walker import REFUSALS, decode
from pilothouse.machinery.schema import Field, Schema

LONG: Final = 48  # objects

_RESOURCE: Final = "k8s.io/api/resource/v1"
_TYPES: Final = (
    (CORE, "Container"), (CORE, "ServicePort"), (CORE, "Volume"), (CORE, "Toleration"), (CORE, "KeyToPath"),
    (CORE, "Event"), (CORE, "PodCondition"), (CORE, "LimitRangeItem"), (_RESOURCE, "Device"),
    (_RESOURCE, "DeviceRequest"),
)  # fmt: skip
_GOOD: Final[dict[str, tuple[Any, ...]]] = {
    s.STRING: ("", "a", "b"), s.BOOL: (True, False), s.INT32: (0, 1, -5, 2**31 - 1), s.INT64: (0, 1, 2**63 - 1),
    s.FLOAT64: (0, 1.5, 2.0), s.BYTES: ("", "YQ=="), s.QUANTITY: ("1", "1000m", 5, 1.5), s.INT_OR_STRING: (0, "", "5%"),
    s.TIME: ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+02:00"), s.MICRO_TIME: ("2020-01-01T00:00:00.1Z",),
    s.DURATION: ("60s",), s.FIELDS_V1: ({},), s.RAW: ({"a": 1},), s.JSON: (1, {"b": 2.0, "a": [1]}),
}  # fmt: skip
_BAD: Final = (1, "x", True, {}, [], 2**31, 2**64, 1.5, {"a": 1}, [1])


def _value(chance: random.Random, schema: Schema, depth: int, faults: float) -> Any:
    if chance.random() < 0.03:
        return None
    if chance.random() < faults:
        return chance.choice(_BAD)
    if schema.kind == s.STRUCT:
        names = chance.sample([*schema.properties], min(len(schema.properties), chance.randint(0, 4))) if depth else []
        return _object(chance, schema, names, depth, faults)
    if schema.kind == s.LIST:
        return [
            _value(chance, schema.items, depth - 1, faults) for _ in range(chance.choice((0, 1, 2)) if depth else 0)
        ]
    if schema.kind == s.MAP:
        return {name: _value(chance, schema.items, depth - 1, faults) for name in "ba"[: 2 if depth else 0]}
    return chance.choice(_GOOD[schema.kind])


def _object(chance: random.Random, schema: Schema, names: list[str], depth: int, faults: float) -> dict[str, Any]:
    made = {name: _value(chance, schema.properties[name].schema, depth - 1, faults) for name in names}
    return {**made, "unknown": 1} if chance.random() < faults else made


def _objects(chance: random.Random, schema: Schema) -> list[Any]:
    """Of few forms or of many, in the order of the type or in another."""
    forms = []
    for _ in range(chance.choice((1, 1, 2, 12))):
        names = chance.sample([*schema.properties], min(len(schema.properties), chance.randint(0, 5)))
        forms.append(names if chance.random() < 0.5 else [name for name in schema.properties if name in names])
    faults = chance.choice((0.0, 0.0, 0.001))
    return [_object(chance, schema, chance.choice(forms), 2, faults) for _ in range(chance.choice((LONG, 300)))]


def _list_of(schema: Schema) -> Schema:
    """A type whose one field is a list of these objects."""
    many = Schema(s.LIST, items=lambda: schema)
    return Schema(s.STRUCT, fields=lambda: [Field("many", lambda: many)])


def _one_by_one(schema: Schema, values: list[Any]) -> tuple[Any, ...]:
    findings = Findings()
    try:
        made = [decode(schema, value, findings) for value in values]
    except REFUSALS:
        return ("refused",)
    return json.dumps(made), findings.unknown, findings.inexact


@pytest.mark.parametrize("owned", [False, True])
def test_long_lists_are_decoded_as_their_objects(owned: bool) -> None:
    chance = random.Random(owned)
    for _ in range(150):
        schema = builtin_types().get(*chance.choice(_TYPES))
        values = _objects(chance, schema)
        sent = json.dumps(values)
        expected = _one_by_one(schema, json.loads(sent))
        findings = Findings()
        findings.owned = owned
        made: tuple[Any, ...]
        try:
            made = json.dumps(decode(_list_of(schema), {"many": values}, findings)["many"])
            made = made, findings.unknown, findings.inexact
        except REFUSALS:
            made = ("refused",)
        assert made == expected, sent
        assert owned or json.dumps(values) == sent  # others have it too


def test_what_is_unknown_in_a_long_list_is_told() -> None:
    """Also where objects of the document become part of the one that is made."""
    volumes = [{"name": f"v{number}", "projected": {"sources": []}} for number in range(3 * LONG)]
    volumes[70] = {"name": "v70", "projected": {"sourcess": []}}
    findings = Findings()
    decode_json(builtin_types().get(CORE, "PodSpec"), json.dumps({"volumes": volumes}).encode(), findings)
    assert findings.strict == ['unknown field "volumes[70].projected.sourcess"']


def test_what_is_wrong_in_a_long_list_is_told_as_in_a_short_one() -> None:
    ports: list[dict[str, Any]] = [{"port": 80} for _ in range(3 * LONG)]
    ports[-1] = {"port": "x"}
    schema = builtin_types().get(CORE, "ServiceSpec")
    told = []
    for sent in (ports, ports[-1:]):
        with pytest.raises(DecodeError) as refused:
            decode_json(schema, json.dumps({"ports": sent}).encode())
        told.append(str(refused.value))
    assert told[0] == told[1]
