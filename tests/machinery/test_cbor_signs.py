"""Small items of all kinds, in each other at random, in what is refused: only whether they are well-formed counts."""

from __future__ import annotations

import random

import pytest

from pilothouse.machinery import cbor

_REFUSED = b"\xa2\x41y\xf7\x41x"  # one member that is refused, and one that need only be well-formed
_UNKNOWN = "cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized"
_SMALL = (b"\x01", b"\x18\x18", b"\x19\x18\x18", b"\x40", b"\x41a", b"\x63abc", b"\xf6", b"\xf8\x20")


def _behind(data: bytes, at: int, depth: int) -> int:
    """The place behind an item, read in the plainest way. Raises ValueError, IndexError for what is not well-formed."""
    first = data[at]
    at += 1
    if not 0x80 <= first < 0xD8:
        longer = first & 31 if first >> 5 in (2, 3) else {0x18: 1, 0x19: 2, 0xF8: 1}.get(first, 0)
        if first == 0xFF or at + longer > len(data) or (first == 0xF8 and data[at] < 0x20):
            raise ValueError
        return at + longer
    if depth == 64:
        raise ValueError
    if first in (0x9F, 0xBF):
        while data[at] != 0xFF:
            at = _behind(data, at, depth + 1)
            at = _behind(data, at, depth + 1) if first == 0xBF else at
        return at + 1
    for _ in range(1 if first >= 0xC0 else (first & 31) * (2 if first >= 0xA0 else 1)):
        at = _behind(data, at, depth + 1)
    return at


def _is_well_formed(data: bytes) -> bool:
    """What is behind it does not count."""
    try:
        _behind(data, 0, 0)
    except (ValueError, IndexError):
        return False
    return True


def _items(chance: random.Random, number: int, share: float, depth: int) -> bytes:
    made = []
    for _ in range(number):
        if chance.random() > share or depth > 70:
            made.append(chance.choice(_SMALL))
            continue
        count = chance.randrange(4)
        kind = chance.randrange(5)
        inner = _items(chance, (count, 2 * count, 1, count, 2 * count)[kind], share, depth + 1)
        heads = (bytes((0x80 + count,)), bytes((0xA0 + count,)), b"\xd5", b"\x9f", b"\xbf")
        made.append(heads[kind] + inner + b"\xff" * (kind > 2))
    return b"".join(made)


def _is_found_well_formed(data: bytes) -> bool:
    with pytest.raises(cbor.CBORError) as refused:
        cbor.loads(data)
    return str(refused.value) == _UNKNOWN


@pytest.mark.parametrize("seed", range(40))
def test_small_items_of_all_kinds_are_well_formed_or_not(seed: int) -> None:
    chance = random.Random(seed)
    items = _items(chance, chance.choice((20, 100, 400)), chance.choice((0.2, 0.4, 0.5)), 2)
    whole = _REFUSED + b"\x9f" + items + b"\xff"
    assert _is_found_well_formed(whole) == _is_well_formed(whole)
    for _ in range(20):
        place = chance.randrange(7, len(whole))
        damaged = whole[:place] + chance.choice((b"", b"\xff", b"\x81", b"\xbf", b"\x01")) + whole[place + 1 :]
        assert _is_found_well_formed(damaged) == _is_well_formed(damaged), damaged.hex()


@pytest.mark.parametrize("deep", range(30, 70))
def test_small_items_are_not_too_deep_in_each_other(deep: int) -> None:
    chance = random.Random(deep)
    inner = b"\x9f" + _items(chance, 60, 0.4, 60) + b"\x82\x81\x80\x18\x18" * 9 + b"\xff"
    whole = _REFUSED + b"\x82\x01" * (deep - 30) + b"\x82\x41a" * 20 + inner
    assert _is_found_well_formed(whole) == _is_well_formed(whole)


def test_a_list_ends_where_its_items_do_however_long_it_is() -> None:
    for size in range(1, 300):
        inner = b"\x99" + size.to_bytes(2, "big") + b"\x82\x41a\x18\x18" * size
        assert _is_found_well_formed(_REFUSED + inner)
        assert _is_found_well_formed(b"\xa3\x41y\xf7\x41x" + inner + b"\x41z" + inner)
        assert not _is_found_well_formed(_REFUSED + inner[:-1])


@pytest.mark.parametrize("around", [55, 59, 61, 62, 63])
@pytest.mark.parametrize("kind", [b"\x81", b"\xd5", b"\xa1\x41a", b"\xd9\xd9\xf7"])
def test_texts_as_deep_as_may_be_are_as_good_as_others(around: int, kind: bytes) -> None:
    deeper = 64 - 1 - around  # which may still be in each other there
    for levels in range(4):
        items = b"\x43abc\x01" * 500 + kind * levels + b"\x01" + b"\x42ab" * 500
        data = _REFUSED + b"\x9f" * around + items + b"\xff" * around
        with pytest.raises(cbor.CBORError) as refused:
            cbor.loads(data)
        assert str(refused.value) == (_UNKNOWN if levels <= deeper else "cbor: exceeded max nested level 64")
