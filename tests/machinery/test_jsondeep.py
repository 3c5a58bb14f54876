"""Documents deeper than the fast parser goes: read in parts, with the value that the slow reader gives."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from pilothouse.machinery import jsondeep
from pilothouse.machinery.jsoncodec import JSONError, dumps, exact, loads, plain_floats, surely_unique


def deep(rng: random.Random, levels: int) -> bytes:
    """A document with a path of so many levels, and something beside it here and there."""
    text = rng.choice([b"1", b"[]", b'"~0"', b"{}", b"1.5", b'"[{"', b'"\\\\\\""'])
    for _ in range(levels):
        beside = rng.choice([b"", b"", b"", b"1,", b'"~",', b'{"b":[2,{}]},', b"[[[]]],", b'"]]",', b'"\\u007e0",'])
        if rng.random() < 0.5:
            text = b"[%b%b]" % (beside, text)
        else:
            text = b'{"%b":[%b],"a":%b}' % (rng.choice([b"x", b"a", b"~0"]), beside.rstrip(b","), text)
    return text


def outcome(read: Callable[[bytes], Any], data: bytes) -> bytes | str:
    try:
        return dumps(read(data))
    except JSONError as error:
        return str(error)


def slowly(data: bytes) -> Any:
    return plain_floats(exact(data)[0])


@pytest.mark.parametrize("seed", range(12))
def test_deep_documents_have_the_value_that_the_slow_reader_gives(seed: int) -> None:
    rng = random.Random(seed)
    document = deep(rng, rng.choice([500, 1025, 1400, 3100]))
    wide = b"[%b]" % b",".join(deep(rng, rng.choice([3, 600, 1100])) for _ in range(5))
    for data in (document, wide):
        assert dumps(jsondeep.loads(data)) == outcome(loads, data) == outcome(slowly, data)
        assert surely_unique(data, loads(data)) is (b'"a":[' not in data)


@pytest.mark.parametrize("seed", range(25))
def test_damaged_deep_documents_are_told_as_by_the_slow_reader(seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(deep(rng, 1500))
    place = rng.randrange(len(data))
    data[place : place + rng.randrange(2)] = rng.choice([b"]", b"[", b'"', b":", b",", b"x", b"{"])
    assert outcome(loads, bytes(data)) == outcome(slowly, bytes(data))


@pytest.mark.parametrize("text", [b"[" * 10_001 + b"]" * 10_001, b"[" * 2000 + b"]" * 1999, b"]" + b"[" * 2000])
def test_what_goes_too_deep_or_does_not_end_is_refused(text: bytes) -> None:
    with pytest.raises((jsondeep.OddError, orjson.JSONDecodeError)):
        jsondeep.loads(text)
    with pytest.raises(JSONError):
        loads(text)


def test_many_deep_ones_take_time_that_grows_with_their_length() -> None:
    one = b"[" * 3000 + b"]" * 3000
    took = []
    gc.collect()
    gc.freeze()  # what other tests left is not looked through meanwhile
    try:
        for many in (5, 40):
            data = b"[" + b",".join([one] * many) + b"]"
            begun = time.process_time()
            loads(data)
            took.append(time.process_time() - begun)
    finally:
        gc.unfreeze()
    assert took[1] < 40 * max(took[0], 0.005)
