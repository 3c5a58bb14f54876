"""Damaged and hostile messages: nothing but the codec's error, in time that grows with the length only."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, META, builtin_types
from pilothouse.machinery import protobuf
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.wire import varint
from pilothouse.machinery.schema import Schema
from support.chance import random_object

PROPS = ("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "JSONSchemaProps")
KINDS = ((CORE, "Pod"), (CORE, "Service"), (CORE, "Secret"), (META, "Status"), PROPS)
MIB = 1 << 20


def read(schema: Schema, data: bytes) -> bool:
    try:
        protobuf.decode_message(schema, data)
    except protobuf.ProtobufError:
        return False
    return True


@given(st.sampled_from(KINDS), st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_random_bytes_raise_nothing_else(kind: tuple[str, str], data: bytes) -> None:
    read(builtin_types().get(*kind), data)


@given(st.sampled_from(KINDS), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_mutated_messages_raise_nothing_else_and_what_is_read_can_be_written(kind: tuple[str, str], seed: int) -> None:
    rng = random.Random(seed)
    schema = builtin_types().get(*kind)
    data = bytearray(protobuf.encode_message(schema, random_object(schema, rng)))
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        change = rng.randrange(4)
        if change == 0:
            data[at] = rng.randrange(256)
        elif change == 1:
            del data[at : at + rng.randint(1, 8)]
        elif change == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 4))
        else:
            data[at:at] = data[: rng.randint(1, 30)]
    if read(schema, bytes(data)):
        obj = protobuf.decode_message(schema, bytes(data))
        protobuf.encode_message(schema, obj)


@given(st.binary(max_size=40))
@settings(max_examples=200, deadline=None)
def test_random_envelopes_raise_nothing_else(data: bytes) -> None:
    for body in (data, b"k8s\x00" + data):
        try:
            protobuf.unwrap(body)
        except protobuf.ProtobufError:
            continue


def nested(field: str, levels: int, filling: bytes = b"") -> bytes:
    """A JSONSchemaProps in itself, `levels` deep, with `filling` in front of each."""
    slot = next(slot for slot in plan.slots(builtin_types().get(*PROPS)) if slot.name == field)
    data = b""
    for _ in range(levels):
        if slot.kind in plan.UNIONS:
            data = one(2 if slot.kind == plan.OR_BOOL else 1, data)
        data = filling + one(slot.number, data)
    return data


def one(number: int, payload: bytes) -> bytes:
    return (varint(number << 3 | 2) + varint(len(payload))).encode("latin-1") + payload


def test_messages_in_themselves_are_read_to_a_limit() -> None:
    schema = builtin_types().get(*PROPS)
    assert read(schema, nested("not", 90))
    for field in ("not", "items", "allOf", "additionalProperties"):
        with pytest.raises(protobuf.ProtobufError, match="nested too deep"):
            protobuf.decode_message(schema, nested(field, 3000))


def test_objects_in_themselves_are_written_to_a_limit() -> None:
    obj: dict[str, object] = {}
    for _ in range(5000):
        obj = {"not": obj}
    with pytest.raises(protobuf.ProtobufError, match="nested too deep"):
        protobuf.encode_message(builtin_types().get(*PROPS), obj)


HOSTILE: dict[str, tuple[tuple[str, str], Callable[[int], bytes]]] = {
    "noise": ((CORE, "Pod"), lambda size: random.Random(1).randbytes(size)),
    "a number without an end": ((CORE, "Pod"), lambda size: b"\xff" * size),
    "empty containers": ((CORE, "PodSpec"), lambda size: b"\x12\x00" * (size // 2)),
    "the same field again and again": ((CORE, "Pod"), lambda size: b"\x0a\x02\x0a\x00" * (size // 4)),
    "unknown fields": ((CORE, "Pod"), lambda size: b"\x98\x06\x01" * (size // 3)),
    "open groups": ((CORE, "Pod"), lambda size: b"\x9b\x06" * (size // 2)),
    "groups in groups": ((CORE, "Pod"), lambda size: b"\x9b\x06" * (size // 4) + b"\x9c\x06" * (size // 4)),
    "text that is no text": ((CORE, "Event"), lambda size: one(4, b"\xff" * size)),
    "a time said again and again": ((META, "ObjectMeta"), lambda size: one(8, b"\x08\x01" * (size // 2))),
    "empty containers in disorder": ((CORE, "PodSpec"), lambda size: b"\x12\x00" * (size // 2) + b"\x0a\x00"),
    "containers in disorder": ((CORE, "PodSpec"), lambda size: b"\x12\x02\x3a\x00" * (size // 4) + b"\x0a\x00"),
    "disorder in the depth": (
        (CORE, "Pod"),
        lambda size: one(2, one(2, b"\x3a\x00" * (size // 2) + b"\x0a\x00")),
    ),
    "entries in disorder": (
        (CORE, "ConfigMap"),
        lambda size: b"".join(
            b"\x12\x0a\x0a\x06%06x\x12\x00" % (number * 7919 % 0xFFFFFF) for number in range(size // 12)
        ),
    ),
    "one entry again and again": ((CORE, "ConfigMap"), lambda size: b"\x12\x04\x0a\x00\x12\x00" * (size // 6)),
    "packed numbers": ((CORE, "PodSecurityContext"), lambda size: one(4, b"\x01" * size)),
    "long packed numbers": (
        (CORE, "PodSecurityContext"),
        lambda size: one(4, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" * (size // 10)),
    ),
    "a text said again and again": ((META, "ObjectMeta"), lambda size: b"\x0a\x00" * (size // 2)),
    "a number said again and again": ((META, "ObjectMeta"), lambda size: b"\x38\x01" * (size // 2)),
    "long unknown tags": ((CORE, "Pod"), lambda size: b"\xf8\xff\xff\xff\x0f\x01" * (size // 6)),
    "disorder at every depth": (PROPS, lambda size: nested("not", 90, b"\x98\x06\x01" * (size // 270))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_for_hostile_messages_grows_with_their_length_only(name: str) -> None:
    kind, make = HOSTILE[name]
    schema = builtin_types().get(*kind)
    read(schema, make(3000))  # compiled

    def seconds(size: int) -> float:
        data = make(size)
        best = 1e9
        for _ in range(2):
            started = time.process_time()
            read(schema, data)
            best = min(best, time.process_time() - started)
        return best

    gc.disable()  # what it costs depends on all that the other tests hold
    try:
        small, large = seconds(MIB // 32), seconds(MIB // 4)
    finally:
        gc.enable()
    assert large < 25 * small + 0.05  # eight times as long; a squared cost would be 64 times


def test_no_numbers_in_packed_form_are_no_list() -> None:
    schema = builtin_types().get(CORE, "PodSecurityContext")
    assert protobuf.decode_message(schema, b"\x22\x00") == {}
    assert protobuf.decode_message(schema, b"\x22\x02\x01\x02") == {"supplementalGroups": [1, 2]}


def test_a_mebibyte_in_one_value_is_read_at_once() -> None:
    obj = {"data": {"key": "x" * MIB}, "binaryData": {"key": "A" * MIB}}
    schema = builtin_types().get(CORE, "ConfigMap")
    data = protobuf.encode_message(schema, obj)
    started = time.process_time()
    assert protobuf.decode_message(schema, data)["data"] == obj["data"]
    assert time.process_time() - started < 0.2


def test_more_messages_than_any_object_can_hold_are_refused_before_all_are_read() -> None:
    schema = builtin_types().get(CORE, "PodSpec")
    for filling in (b"\x12\x00", b"\x12\x02\x3a\x00"):
        for rest in (b"", b"\x0a\x00"):  # in order, and not
            with pytest.raises(protobuf.ProtobufError, match="proto: Containers: more than 116508 messages"):
                protobuf.decode_message(schema, filling * 200_000 + rest)
    for filling in (b"\x12\x00", b"\x12\x02\x3a\x00"):
        with pytest.raises(protobuf.TooLong):  # once each has its defaults
            protobuf.decode_message(schema, filling * 100_000)
    assert len(protobuf.decode_message(schema, b"\x12\x00" * 50_000)["containers"]) == 50_000


@pytest.mark.parametrize("names", [b"c", b"%05d"])
def test_messages_that_are_too_long_with_their_defaults_are_refused_before_all_are_read(names: bytes) -> None:
    """Whether all are the same or not; others, not so many, are read as they are."""
    schema = builtin_types().get(CORE, "PodSpec")

    def containers(count: int, port: bytes) -> bytes:
        named = (names % number if b"%" in names else names for number in range(count))
        return b"".join(one(2, one(1, name) + port) for name in named)

    def length_with_defaults(count: int) -> int:
        return count * (len('{"name":"c","resources":{}},') + 109 + (4 if b"%" in names else 0))

    assert length_with_defaults(40_000) < 6 * MIB < length_with_defaults(47_000)
    with pytest.raises(protobuf.TooLong):
        protobuf.decode_message(schema, containers(47_000, b""))
    with pytest.raises(protobuf.TooLong):
        protobuf.decode_message(schema, containers(40_000, one(6, b"\x18\x50\x22\x03TCP")))
    read = protobuf.decode_message(schema, containers(40_000, b""))["containers"]
    assert len(read) == 40_000
    assert read[-1] == {"name": "39999" if b"%" in names else "c", "resources": {}}
    read[-1]["resources"]["limits"] = {}  # each has its own
    assert read[-2]["resources"] == {}


def test_a_list_of_objects_may_be_as_long_as_it_is() -> None:
    pods = protobuf.decode_message(builtin_types().get(CORE, "PodList"), b"\x12\x00" * 100_000)
    assert len(pods["items"]) == 100_000
