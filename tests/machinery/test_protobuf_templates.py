"""Values that a template made are written once: what is remembered is always what would have been written."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import protobuf
from pilothouse.machinery.protobuf import encoder, plan
from pilothouse.machinery.protobuf.templates import REPEATED, remembering
from pilothouse.machinery.schema import Schema
from support.chance import random_object


def forgetful(schema: Schema, obj: dict[str, Any]) -> bytes:
    """The fields of an object written one by one, by an encoder that remembers nothing."""
    source, names = encoder._Source(plan.slots(schema), frozenset()).build()
    exec(compile(source, "<test>", "exec"), names)
    text: str = names["encode"](obj)
    return text.encode("latin-1")


@pytest.mark.parametrize("name", ["Container", "PodSpec", "VolumeSource", "EndpointSlice", "NodeStatus"])
def test_what_is_remembered_is_what_would_be_written(name: str) -> None:
    package = "k8s.io/api/discovery/v1" if name == "EndpointSlice" else CORE
    schema = builtin_types().get(package, name)
    chance = random.Random(1)
    for _ in range(30):
        obj = random_object(schema, chance)
        first = protobuf.encode_message(schema, obj)
        assert first == protobuf.encode_message(schema, obj) == forgetful(schema, obj)


def test_the_fields_named_are_there() -> None:
    for name, fields in REPEATED.items():
        package = "k8s.io/api/discovery/v1" if name == "EndpointSlice" else CORE
        there = {slot.name: slot for slot in plan.slots(builtin_types().get(package, name))}
        assert fields <= set(there)


def test_values_that_are_equal_in_python_but_not_in_json_are_told_apart() -> None:
    write = remembering(repr)
    assert [write(value) for value in (1, True, 1.0, "1", None, [], {})] == [
        "1", "True", "1.0", "'1'", "None", "[]", "{}",
    ]  # fmt: skip


def test_what_is_remembered_is_bounded_and_long_values_are_not() -> None:
    asked: list[Any] = []

    def make(value: Any) -> str:
        asked.append(value)
        return str(value)

    write = remembering(make)
    for value in ("x" * 5000, "x" * 5000, "short", "short"):
        write(value)
    assert [len(value) for value in asked] == [5000, 5000, 5]
    for number in range(2000):
        write(number)
    asked.clear()
    write("short")
    assert asked == ["short"]


def test_a_value_of_the_wrong_type_is_refused_by_its_path_each_time() -> None:
    pod = {"spec": {"containers": [{"name": "a", "env": [{"name": 7}]}]}}
    for _ in range(2):
        with pytest.raises(protobuf.ProtobufError, match=r"spec.containers\[0\].env\[0\].name: expected"):
            protobuf.encode_message(builtin_types().get(CORE, "Pod"), pod)
