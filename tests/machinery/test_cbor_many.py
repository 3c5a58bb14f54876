"""CBOR: many members and items, which are taken or stepped over at once, are what one by one would give."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import cbor
from pilothouse.machinery.decode import DecodeError, decode_once
from pilothouse.machinery.schema import Schema


def config_map() -> Schema:
    return builtin_types().get(CORE, "ConfigMap")


NAMES: tuple[Callable[[int], bytes], ...] = (
    lambda number: b"%d" % number,
    lambda number: b"%06d" % number,
    lambda number: b"a name of %05d" % number,
    lambda number: f"\xe9{number}".encode(),
    lambda number: b"x" * (number + 1),
)
VALUES: tuple[Callable[[int], Any], ...] = (
    lambda number: b"",
    lambda number: b"value",
    lambda number: b"v%d" % number,
    lambda number: b"longer than all that is short %04d" % number,
    lambda number: (1, -3, b"", None, True, {}, [])[number % 7],
    lambda number: b"with \0 in it" if number == 90 else b"wit no 0 in it"[:12],
    lambda number: [number],
    lambda number: "texts" if number % 90 else "\xe9\xe9a",
)


def as_read(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [as_read(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", NAMES)
def test_many_members_are_read_as_few_are(
    name: Callable[[int], bytes], value: Callable[[int], Any], endless: bool
) -> None:
    members = {name(number): value(number) for number in range(200)}
    data = cbor2.dumps(members, indefinite_containers=endless)
    assert cbor.loads(data) == {key.decode(): as_read(item) for key, item in members.items()}


def test_members_in_rows_keep_their_order_and_do_not_share_their_values() -> None:
    read = cbor.loads(cbor2.dumps({b"%03d" % (number * 7 % 1000): {} for number in range(1000)}))
    assert list(read) == [f"{number * 7 % 1000:03}" for number in range(1000)]
    read["007"]["x"] = 1
    assert read["014"] == {}


@given(st.integers(0, 399), st.integers(0, 399), st.sampled_from([b"\x41v", b"\x01", b"\x58\x18" + b"v" * 24]))
@settings(max_examples=40, deadline=None)
def test_the_first_name_that_is_there_twice_is_told(first: int, other: int, value: bytes) -> None:
    names = [b"%04d" % number for number in range(400)]
    names[first] = names[other]
    data = b"\xb9\x01\x90" + b"".join(b"\x44" + name + value for name in names)
    if first == other:
        assert len(cbor.loads(data)) == 400
        return
    with pytest.raises(cbor.CBORError) as caught:
        cbor.loads(data)
    assert str(caught.value) == (
        f'cbor: found duplicate map key "{names[other].decode()}" at map element index {max(first, other)}'
    )


def test_byte_strings_in_rows_that_are_no_utf8_are_shown_as_others_are() -> None:
    row = b"".join(b"\x43%03d\x42\xff%c" % (number, 0x61 + number % 26) for number in range(300))
    read = cbor.loads(b"\xbf" + row + b"\xff")
    assert read["027"] == "\ufffdb"
    assert set(read.values()) == {f"\ufffd{chr(0x61 + number)}" for number in range(26)}
    texts = b"".join(b"\x43%03d\x62\xff%c" % (number, 0x61 + number % 26) for number in range(300))
    with pytest.raises(cbor.CBORError, match="invalid UTF-8"):
        cbor.loads(b"\xbf" + texts + b"\xff")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (b"\x01\x01" * 300, 'duplicate map key "" at map element index 1'),
        (b"\x41a\x01" * 300, 'duplicate map key "a" at map element index 1'),
        (b"\x41a\x01" * 300 + b"\x01", 'unexpected "break" code'),
        (b"\x41a\x81\x01" * 300 + b"\x41b\x1c", "invalid additional information 28"),
    ],
)
def test_members_that_are_stepped_over_must_be_whole(members: bytes, words: str) -> None:
    for around in (b"", b"\xa1\x41x"):
        with pytest.raises(cbor.CBORError) as caught:
            cbor.loads(around + b"\xbf" + members + b"\xff")
        assert words in str(caught.value) or str(caught.value).startswith("cbor: cannot unmarshal")


ITEMS = st.recursive(
    st.integers(-70_000, 70_000) | st.booleans() | st.none() | st.binary(max_size=30) | st.text("ab\xe9", max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.binary(max_size=2), inner, max_size=3)
    | st.builds(cbor2.CBORTag, st.sampled_from([0, 1, 2, 21, 22, 300]), inner),
    max_leaves=8,
)  # fmt: skip


REFUSED = (
    b"\xf7",
    b"\xf8\x30",
    b"\x61\xff",
    b"\xc2\x41\x01",
    b"\xf9\x7c\x00",
    b"\xa1\x01\x02",
    b"\xa2\x41a\x01\x41a\x01",
    b"\x1b" + b"\xff" * 8,
    b"\xc1\x1b\x7f" + b"\xff" * 7,
)


@given(st.lists(ITEMS, min_size=1, max_size=4), st.integers(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_what_is_stepped_over_is_what_can_be_read(items: list[Any], wrong: int, chance: random.Random) -> None:
    """In what no type knows the same is refused, in the same words, as in what is kept."""
    encoded = [cbor2.dumps(item, indefinite_containers=chance.random() < 0.3) for item in items]
    encoded += [chance.choice(REFUSED)] * (wrong == 3)
    inner = bytearray(b"".join(encoded * chance.randrange(1, 40)))
    for _ in range(wrong):
        inner[chance.randrange(len(inner))] = chance.randrange(256)
    around = chance.choice((b"\x9f", b"\xbf", b"\xd5\x9f\x81\x9f", b"\xa1\x41y\x9f"))
    data = (
        b"\xa2\x43pad\x59\x20\x00" + b"p" * 0x2000 + b"\x41x" + around + inner + b"\xff" * (around.count(b"\x9f") or 1)
    )
    kept, stepped = _told(lambda: cbor.loads(data)), _told(lambda: cbor.loads_body(data, config_map()))
    assert kept == stepped


def _told(read: Callable[[], Any]) -> tuple[str, bool]:
    try:
        read()
    except cbor.CBORError as refused:
        return str(refused), refused.readable
    return "", True


def test_a_list_that_its_type_refuses_is_not_kept() -> None:
    for data in (
        b"\xa1\x44data\x9f" + b"\x82\x01\x01" * 2000 + b"\xff",
        b"\xa1\x48metadata\xa1\x4afinalizers\x9f" + b"\x19\x01\x00\x01" * 2000 + b"\xff",
    ):
        read, whole = cbor.loads_body(data, config_map()), cbor.loads(data)
        with pytest.raises(DecodeError) as told:
            decode_once(config_map(), read)
        with pytest.raises(DecodeError) as expected:
            decode_once(config_map(), whole)
        assert str(told.value) == str(expected.value)
        assert len(cbor.dumps(read)) < 3000
        assert cbor.loads_applied(data, config_map()) == whole  # what is applied is shown where it is refused


def test_lists_of_changing_shapes_are_stepped_over() -> None:
    pod = builtin_types().get(CORE, "Pod")
    parts = [
        b"\x01",
        b"\x82\x01\x41a",
        b"\xa2\x41a\x01\x41b\xf5",
        b"\x58\x20" + b"a" * 32,
        b"\xd5\x81\x01",
        b"\xc1\x01",
    ]
    chance = random.Random(1)
    items = [chance.choice(parts) for _ in range(20_000)]
    for data in (b"\x9f" + b"".join(items) + b"\xff", b"\x99\x4e\x20" + b"".join(items)):
        read = cbor.loads_body(b"\xa2\x41x" + data + b"\x44kind\x43Pod", pod)
        assert read["kind"] == "Pod"
        assert len(read["x"]) < 1000
    with pytest.raises(cbor.CBORError, match="duplicate map key"):
        cbor.loads_body(b"\xa1\x41x\x9f" + b"".join(items) + b"\xa2\x41a\x01\x41a\x01\xff", pod)


def test_unknown_members_at_the_top_may_have_any_value() -> None:
    """They are stepped over; what is known among them is not, and no name may be there twice."""
    chance = random.Random(3)
    values: list[Any] = [7, 70_000, -3, 1.5, b"a", [1, 2], [b"a", [1]], {b"b": 2}, None]
    unknown = {f"x{number}".encode(): chance.choice(values) for number in range(2000)}
    for known in (100, 1500, 1999):
        members = [*unknown.items()]
        members[known] = (b"data", {b"key": b"value"})
        data = b"\xbf" + b"".join(cbor2.dumps(part) for member in members for part in member) + b"\xff"
        assert cbor.loads_body(data, config_map())["data"] == {"key": "value"}
        with pytest.raises(cbor.CBORError, match='duplicate map key "x7" at map element index 2000'):
            cbor.loads_body(data[:-1] + b"\x42x7\x01\xff", config_map())


BAD = (b"\xff", b"\xe2\x82", b"a\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc3\xa9\xff", "\ufffd\xe9".encode())


@pytest.mark.parametrize("around", ["data", "binaryData", "labels"])
@pytest.mark.parametrize("names", ["%d", "%05d", "\xe9%05d"])
def test_bytes_that_are_no_utf8_are_told_as_if_one_by_one(around: str, names: str) -> None:
    """In rows and alone: each byte becomes a sign of its own where a text belongs, and is refused where base64 does."""
    for bad in BAD:
        for others in (bad, b"text"):
            values = {(names % number).encode(): bad if number in (0, 70) else others for number in range(300)}
            shape = {b"metadata": {b"labels": values}} if around == "labels" else {around.encode(): values}
            data = cbor2.dumps(shape)
            told = [_read(read, data) for read in (cbor.loads, cbor.loads_body)]
            assert told[0] == told[1]


PARTS = (b"\xff", b"\xc3\xa9", b"\xe2\x82", b"\xac", b"\0", b"\1", b"\2", b"?", "\ue000\uf8ff".encode(), b"a")
RAW = st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join)


@given(st.lists(RAW | st.lists(RAW, max_size=3), max_size=30), st.booleans(), st.sampled_from(("data", "binaryData")))
@settings(max_examples=100, deadline=None)
def test_bytes_beyond_ascii_are_made_together_as_if_one_by_one(values: list[Any], tagged: bool, name: str) -> None:
    shown = [cbor2.CBORTag(30, value) for value in values] if tagged else values
    names = {b"%d\xc3\xa9" % number: value for number, value in enumerate(shown)}
    data = cbor2.dumps({b"metadata": {b"finalizers": shown, b"labels": names}, b"x": [names, shown], name: names})
    assert _read(cbor.loads, data) == _read(cbor.loads_body, data)


def _read(read: Callable[..., Any], data: bytes) -> str:
    try:
        return repr(read(data, config_map()))
    except cbor.CBORError as refused:
        return str(refused)
