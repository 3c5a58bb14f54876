"""CBOR: long rows of members and items that are alike, wanted or not."""

from __future__ import annotations

import random
from typing import Any

import cbor2
import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import cbor
from pilothouse.machinery.decode import DecodeError, decode_once
from pilothouse.machinery.schema import Schema


def config_map() -> Schema:
    return builtin_types().get(CORE, "ConfigMap")


def members(value: bytes, number: int) -> bytes:
    """An object of so many members with this value."""
    return b"\xbf" + b"".join(b"\x45%05d" % name + value for name in range(number)) + b"\xff"


@pytest.mark.parametrize(
    "value", [b"\x82\x01\x01", b"\xbf\x41a\x01\xff", b"\xc1\x1a\x10\x00\x00\x00", b"\xd6\x41a", b"\xfb" + b"\x47" * 8]
)
def test_equal_values_are_read_once_and_none_is_another(value: bytes) -> None:
    one = cbor.loads(value)
    read = cbor.loads(members(value, 300))
    assert list(read) == [f"{name:05}" for name in range(300)]
    assert all(item == one for item in read.values())
    listed = cbor.loads(b"\x9f" + value * 600 + b"\xff")
    assert listed == [one] * 600
    if not isinstance(one, (str, float)):
        assert len({id(item) for item in read.values()}) == 300
        assert len({id(item) for item in listed}) == 600


def test_values_that_are_alike_and_not_equal_are_told_apart() -> None:
    pairs = [[number % 24, -1 - number % 7] for number in range(700)]
    assert cbor.loads(b"\x9f" + b"".join(map(cbor2.dumps, pairs)) + b"\xff") == pairs
    texts = {f"{number:03}".encode(): [f"{number:05}".encode()] for number in range(300)}
    assert cbor.loads(cbor2.dumps(texts)) == {key.decode(): [item[0].decode()] for key, item in texts.items()}


def test_bytes_within_equal_values_that_are_no_utf8_are_shown_as_others_are() -> None:
    assert set(map(tuple, cbor.loads(members(b"\x81\x42\xffa", 300)).values())) == {("\ufffda",)}


def test_values_under_a_tag_become_what_it_says() -> None:
    assert cbor.loads(b"\xd6" + members(b"\x81\x41a", 300))["00100"] == ["YQ=="]
    assert cbor.loads(b"\xd6\x9f" + b"\x81\x41a" * 600 + b"\xff") == [["YQ=="]] * 600


@pytest.mark.parametrize("around", [b"\x44data", b"\x41x", b"\x48metadata\xa1\x46labels", b"\x4abinaryData"])
@pytest.mark.parametrize("value", [b"\x82\x01\x01", b"\xbf\x41a\x01\xff", b"\xfb" + b"\x47" * 8, b"\xd7\x41a"])
def test_values_nobody_wants_change_no_answer(around: bytes, value: bytes) -> None:
    data = b"\xa1" + around + members(value, 400)
    assert _told(cbor.loads_body(data, config_map())) == _told(cbor.loads(data))
    for bad, words in ((b"\xff", b"\x45!\x82\x01"), (b"\xff", b"\x4500000\x01\xff"), (b"\xff", b"\x45abcde\xf7\xff")):
        with pytest.raises(cbor.CBORError) as told:
            cbor.loads_body(data.removesuffix(bad) + words, config_map())
        with pytest.raises(cbor.CBORError) as expected:
            cbor.loads(data.removesuffix(bad) + words)
        assert str(told.value) == str(expected.value)


def test_values_nobody_wants_may_be_of_many_forms_and_names_of_any_length() -> None:
    chance = random.Random(2)
    values: list[Any] = [[1, 70_000], b"a text", {b"a": 1}, 3, None, cbor2.CBORTag(300, 5)]
    wrong = {f"{chance.randrange(1000)}-{number}".encode(): chance.choice(values) for number in range(5000)}
    for around in ("data", "x"):
        data = cbor2.dumps({around.encode(): wrong}, indefinite_containers=True)
        read = cbor.loads_body(data, config_map())
        kept = wrong if around == "data" else []  # of what no type knows nothing is
        assert list(read[around]) == [name.decode() for name in kept]
        assert _told(read) == _told(cbor.loads(data))
        twice = data[:-2] + cbor2.dumps([*wrong][4000]) + b"\x01\xff\xff"
        with pytest.raises(cbor.CBORError, match=r"duplicate map key .* at map element index 5000"):
            cbor.loads_body(twice, config_map())
        with pytest.raises(cbor.CBORError, match="EOF"):
            cbor.loads_body(data[:-2] + b"\x41b\x82\x01", config_map())


def _told(value: Any) -> str:
    """Why a value is no ConfigMap; what becomes of it otherwise."""
    try:
        return repr(decode_once(config_map(), value))
    except DecodeError as wrong:
        return str(wrong)


def test_objects_that_would_be_too_long_are_refused_early() -> None:
    with pytest.raises(cbor.CBORTooLong):
        cbor.loads_body(b"\xa1\x44data" + members(b"\xc1\x1a\x10\x00\x00\x00", 3000), config_map(), 60_000)
    assert cbor.loads_body(b"\xa1\x44data" + members(b"\xc1\x1a\x10\x00\x00\x00", 3000), config_map(), 100_000)
