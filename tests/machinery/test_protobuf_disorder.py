"""Messages that are written otherwise than the original does it: other orders, unknown fields, parts, damage."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, META, builtin_types
from pilothouse.machinery import protobuf
from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.wire import (
    LENGTH,
    VARINT,
    read_int32,
    read_int64,
    read_unsigned,
    varint,
)
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.unordered import put_all_in_order
from support.chance import random_object

EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
KINDS = (
    (CORE, "Pod"), (CORE, "Service"), (CORE, "ConfigMap"), (CORE, "Node"), (META, "ObjectMeta"),
    (EXTENSIONS, "CustomResourceDefinition"), (EXTENSIONS, "JSONSchemaProps"),
)  # fmt: skip
UNKNOWN = (b"\x98\x7f\x01", b"\x9a\x7f\x02ab", b"\x9b\x7f\x08\x01\x9c\x7f", b"\x9d\x7f1234", b"\x99\x7f12345678")


def number(value: int) -> bytes:
    return varint(value).encode("latin-1")


def field(place: int, payload: bytes) -> bytes:
    return number(place << 3 | LENGTH) + number(len(payload)) + payload


def fields(data: bytes) -> list[tuple[int, bytes, bool]]:
    """(number, payload or value, whether it has a length) of each field."""
    found = []
    at = 0
    while at < len(data):
        tag, at = read_unsigned(data, at)
        size, behind = read_unsigned(data, at)
        if tag & 7 == LENGTH:
            at, behind = behind, behind + size
        elif tag & 7 != VARINT:
            behind = at + 8
        found.append((tag, data[at:behind], tag & 7 == LENGTH))
        at = behind
    return found


def disordered(schema: Schema, data: bytes, rng: random.Random) -> bytes:
    """The same message in another order, at every level, with unknown fields in it."""
    slots = {slot.number: slot for slot in plan.slots(schema)}
    groups: dict[int, list[bytes]] = {}
    for tag, payload, sized in fields(data):
        slot = slots[tag >> 3]
        inner = plan.message_of(slot) if slot.kind == "struct" and slot.label != plan.MAP else None
        if inner is not None:
            payload = disordered(inner, payload, rng)
        written = number(tag) + (number(len(payload)) + payload if sized else payload)
        groups.setdefault(tag, []).append(written)
    order = [tag for tag, several in groups.items() for _ in several]
    if rng.random() < 0.5:
        rng.shuffle(order)
    out = [groups[tag].pop(0) for tag in order]  # within a list the order stays
    for _ in range(rng.choice((0, 0, 1, 3))):
        out.insert(rng.randint(0, len(out)), rng.choice(UNKNOWN) * rng.randint(1, 3))
    return b"".join(out)


@given(st.sampled_from(KINDS), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_any_order_tells_the_same_object_in_the_same_order(kind: tuple[str, str], seed: int) -> None:
    rng = random.Random(seed)
    schema = builtin_types().get(*kind)
    data = protobuf.encode_message(schema, random_object(schema, rng))
    expected = orjson.dumps(protobuf.decode_message(schema, data))
    other = disordered(schema, data, rng)
    assert orjson.dumps(protobuf.decode_message(schema, other)) == expected


def read(kind: str, data: bytes) -> dict[str, Any]:
    return protobuf.decode_message(builtin_types().get(CORE, kind), data)


def test_a_message_in_parts_is_all_of_them_and_of_a_value_the_last_counts() -> None:
    parts = field(1, field(1, b"a") + field(3, b"x")), field(2, field(10, b"node")), field(1, field(1, b"b"))
    assert read("Pod", b"".join(parts))["metadata"] == {"name": "b", "namespace": "x"}
    assert read("Pod", field(1, field(1, b"a") + field(1, b"b") + field(1, b"b")))["metadata"] == {"name": "b"}
    empty_ones = field(1, field(1, b"a")) + field(2, b"") + field(1, b"") * 3
    assert read("Pod", empty_ones)["metadata"] == {"name": "a"}


def test_lists_and_maps_go_on_behind_other_fields() -> None:
    one, two = (field(2, field(1, key) + field(2, b"x")) for key in (b"b", b"a"))
    assert list(read("ConfigMap", one + field(1, b"") + two)["data"].items()) == [("a", "x"), ("b", "x")]
    spec = field(2, field(1, b"a")) + field(1, field(1, b"v")) + field(2, field(1, b"b"))
    assert [one["name"] for one in read("PodSpec", spec)["containers"]] == ["a", "b"]


def test_what_an_entry_leaves_out_is_empty() -> None:
    """Some writers do so (Rust's prost): a label without a value is common."""
    only_key, only_value = field(2, field(1, b"a")), field(2, field(2, b"x"))
    assert read("ConfigMap", only_value + only_key)["data"] == {"": "x", "a": ""}
    assert read("ConfigMap", field(2, b""))["data"] == {"": ""}
    assert read("ConfigMap", field(3, field(1, b"a")))["binaryData"] == {"a": ""}
    assert read("ResourceRequirements", field(1, field(1, b"cpu")))["limits"] == {"cpu": "0"}
    assert read("ConfigMap", field(2, field(2, b"x") + field(1, b"a")))["data"] == {"a": "x"}


def random_entry(rng: random.Random) -> tuple[bytes, str, str]:
    """An entry's payload, and what it tells: some leave something out, tell it in another order, or more than once."""
    key, value = (rng.choice(("", "é", "a" * 130, f"{rng.randrange(5000):x}", "\x12\n")) for _ in range(2))
    one, two = field(1, key.encode()), field(2, value.encode())
    return rng.choice(
        (
            (one + two, key, value), (one + two, key, value), (one, key, ""), (two, "", value), (b"", "", ""),
            (two + one, key, value), (one + two + one, key, value), (two + two + one + one, key, value),
            (field(1, b"other") + one + b"\x98\x7f\x01" + two, key, value),
        )
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_many_entries_are_read_as_each_of_them_would_be(seed: int) -> None:
    rng = random.Random(seed)
    entries = [random_entry(rng) for _ in range(3000)]
    if seed % 2:  # few, again and again
        entries = rng.choices(entries[:20], k=9000)
    told = {key: value for _, key, value in entries}
    data = b"".join(field(2, payload) for payload, _, _ in entries)
    assert list(read("ConfigMap", data)["data"].items()) == sorted(told.items())
    for wrong in (field(2, b"\x0a\x05"), b"\x12\x7f", field(2, b"\x0c")):
        for place in (len(data), len(b"".join(field(2, payload) for payload, _, _ in entries[:2000]))):
            with pytest.raises(protobuf.ProtobufError, match=r"unexpected (EOF|end of group)"):
                read("ConfigMap", data[:place] + wrong + data[place:])


@pytest.mark.parametrize("form", range(5))
def test_entries_that_look_alike_are_read_as_others_are(form: int) -> None:
    """Their keys and values are as long; where these are and what stands beside them is the same."""

    def entry(key: str) -> bytes:
        one, two = field(1, key.encode()), field(2, key[::-1].encode())
        return field(2, (one + two, two + one, one, one + b"\x98\x7f\x01" + two, field(1, b"x") + one + two)[form])

    keys = [f"{number * 7919 % 9999:04x}" for number in range(4000)]
    keys += [f"é{number}" for number in range(1000, 3000)] + ["odd"] + keys[:2000]
    data = b"".join(map(entry, keys))
    told = {key: "" if form == 2 else key[::-1] for key in keys}
    assert list(read("ConfigMap", data)["data"].items()) == sorted(told.items())
    later = field(2, field(1, keys[3].encode()) + field(2, b"last"))
    assert read("ConfigMap", data + later)["data"][keys[3]] == "last"
    for at in range(len(data) - 3, len(data)):
        with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
            read("ConfigMap", data[:at])


@pytest.mark.parametrize("place", [2, 11, 12])
@pytest.mark.parametrize("longest", [8, 40])
@pytest.mark.parametrize("seldom", ["", "\x12", "\0\0", "é", "Zb", "a" * 300])
def test_short_entries_of_any_length_are_what_each_of_them_is(place: int, longest: int, seldom: str) -> None:
    rng = random.Random(longest)
    told = {}
    data = b""
    for index in range(4000):
        key, value = (f"{rng.randrange(1 << 30):0{rng.randrange(longest)}x}" for _ in range(2))
        if not index % 700:
            key, value = key + seldom, seldom + value
        told[key] = value
        data += field(place, field(1, key.encode()) + field(2, value.encode()))
    kind, name = ("ConfigMap", "data") if place == 2 else ("ObjectMeta", "labels" if place == 11 else "annotations")
    found = protobuf.decode_message(builtin_types().get(CORE if place == 2 else META, kind), data)
    assert list(found[name].items()) == sorted(told.items())


def test_a_long_map_may_be_put_in_order_later() -> None:
    keys = [f"{number * 7919 % 9999:04x}" for number in range(1000)]
    data = b"".join(field(2, field(1, key.encode())) for key in keys)
    waiting: list[dict[str, Any]] = []
    obj = protobuf.decode_message(builtin_types().get(CORE, "ConfigMap"), data, unordered=waiting)
    assert waiting == [obj["data"]] and list(obj["data"]) == keys
    obj["copy"] = [{"spec": dict(obj["data"])}]
    put_all_in_order(obj)
    assert list(obj["data"]) == list(obj["copy"][0]["spec"]) == sorted(keys)
    short = protobuf.decode_message(builtin_types().get(CORE, "ConfigMap"), data[:1000], unordered=waiting)
    assert list(short["data"]) == sorted(short["data"])


@pytest.mark.parametrize("signs", [b"ab", b"a\xff\xc3\xa9", bytes(range(256))])
def test_keys_and_values_that_are_no_text_are_replaced_as_each_of_them_would_be(signs: bytes) -> None:
    rng = random.Random(len(signs))
    entries = [(bytes(rng.choices(signs, k=4)), bytes(rng.choices(signs, k=2))) for _ in range(3000)]
    expected = {}
    for key, value in entries:
        one = read("ConfigMap", field(2, field(1, key) + field(2, value)))["data"]
        expected.update(one)
    data = b"".join(field(2, field(1, key) + field(2, value)) for key, value in entries)
    assert read("ConfigMap", data)["data"] == expected


def test_numbers_of_a_list_may_be_packed_or_not() -> None:
    def groups(data: bytes) -> object:
        return read("PodSecurityContext", data).get("supplementalGroups")

    long = number(300) + number(-1) + b"\x07"
    assert groups(field(4, long)) == [300, -1, 7]
    assert groups(b"\x20\x01" + field(4, long) + b"\x20\x02" + field(4, b"\x05\x06")) == [1, 300, -1, 7, 2, 5, 6]
    with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
        groups(field(4, b"\x01\x80"))
    with pytest.raises(protobuf.ProtobufError, match="integer overflow"):
        groups(field(4, b"\xff" * 10 + b"\x01"))


def test_of_what_is_wrong_the_first_is_named() -> None:
    wrong_name, wrong_place = field(1, b"\x08\x01"), b"\x10\x01"  # a number where texts or messages belong
    for data, told in (
        (field(1, field(11, b"\x0a\x05a")) + wrong_place, "unexpected EOF"),  # an entry of a map
        (wrong_name + wrong_place, "wrong wireType = 0 for field Name"),
        (wrong_place + wrong_name, "wrong wireType = 0 for field Spec"),
        (field(2, field(2, b"\x08\x01")) + wrong_name, "wrong wireType = 0 for field Name"),
        (field(2, b"\x0c") + wrong_name, "proto: PodSpec: wiretype end group for non-group"),
        (field(1, field(1, b"a"))[:-1], "unexpected EOF"),
        (field(2, field(2, b"\x0a\x05abc")) + wrong_place, "unexpected EOF"),
    ):
        with pytest.raises(protobuf.ProtobufError, match=told):
            read("Pod", data)


def test_a_message_that_is_cut_anywhere_is_an_error() -> None:
    """Fractions among them, which are read in one piece."""
    schema = builtin_types().get(EXTENSIONS, "CustomResourceSubresources")
    props = protobuf.encode_message(builtin_types().get(EXTENSIONS, "JSONSchemaProps"), {"maximum": 1.5, "title": "a"})
    validation = builtin_types().get(EXTENSIONS, "CustomResourceValidation")
    for message, data in ((schema, field(1, b"")), (validation, field(1, props))):
        for length in range(1, len(data)):
            with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
                protobuf.decode_message(message, data[:length])


def test_quantities_are_read_as_in_json() -> None:
    def cpu(text: bytes) -> object:
        limits = read("ResourceRequirements", field(1, field(1, b"cpu") + field(2, field(1, text))))["limits"]
        assert isinstance(limits, dict)
        return limits["cpu"]

    assert [cpu(text) for text in (b"1000m", b"1.5Gi", b"+3", b"0.5")] == ["1", "1536Mi", "+3", "500m"]
    for text in (b"", b"a", b"1 ", b"1Q", b"."):
        with pytest.raises(protobuf.ProtobufError, match=r"^(quantities must match|unable to parse)"):
            cpu(text)


def test_a_quantity_that_is_none_is_refused_before_what_comes_later() -> None:
    amount = field(2, field(8, field(1, field(1, b"cpu") + field(2, field(1, b"a")))))
    for later in (b"", b"\x10\x01", field(1, b"\x0a")):
        with pytest.raises(protobuf.ProtobufError, match="quantities must match"):
            read("Pod", field(2, amount + later))


@pytest.mark.parametrize("between", [b"", b"\x0a\x01n", UNKNOWN[0]])
def test_the_same_fields_over_and_over_are_all_read(between: bytes) -> None:
    """In order, and with other fields between them; among the same there is one that is not."""
    names = ["a", "b", "b", "c"] * 700
    names[1501] = "other"
    data = b"".join(field(14, name.encode()) + (between if at % 2 else b"") for at, name in enumerate(names))
    assert read("Pod", field(1, data))["metadata"]["finalizers"] == names
    with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
        read("Pod", field(1, data + b"\x72\x02a"))


def test_the_same_messages_over_and_over_are_all_read() -> None:
    unit = field(2, field(1, b"a")) + field(1, field(1, b"v")) + field(2, field(1, b"b"))
    data = unit * 900 + field(2, field(1, b"c")) + unit * 900
    spec = read("PodSpec", data)
    names = ["a", "b"] * 900
    assert [one["name"] for one in spec["containers"]] == [*names, "c", *names]
    assert [one["name"] for one in spec["volumes"]] == ["v"] * 1800
    with pytest.raises(protobuf.ProtobufError, match="wrong wireType = 0 for field Name"):
        read("PodSpec", data + field(1, b"\x08\x01"))


@pytest.mark.parametrize("told", [(7,), (300,), (300, 7, -1), (70000, 5)])
def test_many_packed_numbers_are_read_as_few_are(told: tuple[int, ...]) -> None:
    data = b"".join(map(number, told))
    for groups in (field(4, data * 40_000), (field(4, data) + b"\x20\x05") * 3_000):
        expected = [*told] * 40_000 if groups[:2] != field(4, data)[:2] else [*told, 5] * 3_000
        assert read("PodSecurityContext", groups)["supplementalGroups"] == expected
        assert read("PodSecurityContext", groups + b"\x10\x01" + groups)["supplementalGroups"] == expected * 2
        for nothing in (b"\x10\x01\x22\x00", b"\x10\x01\x22\x00\x18\x01"):
            assert read("PodSecurityContext", groups + nothing)["supplementalGroups"] == expected


def packed(data: bytes) -> tuple[list[int], list[int]]:
    """What is read of a packed list of 64-bit numbers, and of 32-bit ones."""
    ports = Schema(s.LIST, items=lambda: Schema(s.INT32))
    short = Schema(s.STRUCT, name="Short", fields=lambda: (Field("ports", lambda: ports, number=4),))
    groups = read("PodSecurityContext", field(4, data))["supplementalGroups"]
    return groups, protobuf.decode_message(short, field(4, data))["ports"]


def each(texts: list[bytes]) -> tuple[list[int], list[int]]:
    """The same, one by one."""
    return [read_int64(text, 0)[0] for text in texts], [read_int32(text, 0)[0] for text in texts]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**31) | st.integers(0, 20_000), min_size=1, max_size=40))
def test_packed_numbers_are_what_each_of_them_is(numbers: list[int]) -> None:
    texts = [number(value) for value in numbers]
    data = b"".join(texts)
    assert packed(data) == each(texts)
    assert packed(b"\x81\x00" + data)[0] == [1, *each(texts)[0]]


@pytest.mark.parametrize("bits", [7, 8, 14, 21, 28, 32, 35, 63, 64])
@pytest.mark.parametrize("seldom", [-1, 1 << 20, 1 << 31, (1 << 64) - 1])
def test_packed_numbers_of_any_length_are_what_each_of_them_is(bits: int, seldom: int) -> None:
    rng = random.Random(bits)
    texts = [number(seldom if index % 5000 == 77 else rng.getrandbits(rng.randint(1, bits))) for index in range(12_000)]
    assert packed(b"".join(texts)) == each(texts)


@pytest.mark.parametrize("bits", [7, 8, 31, 64])
def test_many_numbers_that_are_not_packed_are_what_each_of_them_is(bits: int) -> None:
    rng = random.Random(bits)
    numbers = [rng.getrandbits(bits) for _ in range(5000)]
    told = [read_int64(number(value), 0)[0] for value in numbers]
    data = b"".join(b"\x20" + number(value) for value in numbers)
    for before, behind in (
        (b"", b"\x30\x01"),
        (b"\x30\x01", b""),
        (b"\x30\x01", b"\x9a\x7f\x02ab"),
        (b"", b"\x22\x00"),
    ):
        read_so = read("PodSecurityContext", before + data + behind)
        assert read_so["supplementalGroups"] == told and read_so.get("runAsGroup") == (
            1 if b"\x30\x01" in (before, behind) else None
        )
        with pytest.raises(protobuf.ProtobufError):
            read("PodSecurityContext", before + data + b"\x20")


def test_packed_numbers_that_are_none_are_refused() -> None:
    packed(b"\x01\xff\x01" * 9000 + b"\xff" * 9 + b"\x7f")
    with pytest.raises(protobuf.ProtobufError, match="integer overflow"):
        packed(b"\x01\xff\x01" * 9000 + b"\xff" * 10 + b"\x01")
    with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
        packed(b"\x01\xff\x01" * 9000 + b"\xff")


def test_messages_in_parts_are_put_together_at_every_depth() -> None:
    one, two = field(2, field(1, b"a")), field(16, field(3, b"\x08\x01"))
    other = field(2, field(1, b"b")) + field(16, field(3, b"\x10\x02") + field(4, b"\x05"))
    spec = read("Pod", field(2, one + two) + field(1, field(1, b"n")) + field(2, other) + field(2, b"\x52\x01n"))[
        "spec"
    ]
    whole = read("PodSpec", one + two + other + b"\x52\x01n")
    assert spec == whole
    assert [each["name"] for each in spec["containers"]] == ["a", "b"]
    assert spec["nodeName"] == "n"


@pytest.mark.parametrize("seldom", [1, 3, 12, 500])
def test_packed_numbers_of_one_byte_and_of_more_stand_in_any_order(seldom: int) -> None:
    rng = random.Random(seldom)
    numbers = [rng.choice((300, 70_000, -1)) if rng.randrange(seldom) == 0 else at % 128 for at in range(40_000)]
    texts = [*map(number, numbers)]
    assert packed(b"".join(texts)) == (numbers, numbers)
    with pytest.raises(protobuf.ProtobufError, match="unexpected EOF"):
        packed(b"".join(texts) + b"\x80")


@given(st.sampled_from(KINDS), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_many_unknown_fields_change_nothing(kind: tuple[str, str], seed: int) -> None:
    """Of every wire type, with short and long tags, known fields among them."""
    rng = random.Random(seed)
    schema = builtin_types().get(*kind)
    data = protobuf.encode_message(schema, random_object(schema, rng))
    known = {slot.number for slot in plan.slots(schema)}
    places = [place for place in (*range(1, 20), 60, 2047, 2048, 9000) if place not in known]
    out = b""
    for tag, payload, is_sized in fields(data):
        out += number(tag) + (number(len(payload)) + payload if is_sized else payload)
        for _ in range(rng.choice((0, 1, 30))):
            tag = rng.choice(places) << 3
            long = field(tag >> 3, b"x" * rng.choice((0, 1, 90, 127, 128)))
            value = number(rng.choice((0, 5, 300, -1)))
            out += rng.choice((long, number(tag) + value, number(tag | 1) + b"\x0a" * 8, number(tag | 5) + b"\x0a" * 4))
    assert protobuf.decode_message(schema, out) == protobuf.decode_message(schema, data)
