"""CBOR: items of one shape, or members, and short strings behind each other are read at once as they are one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cbor2
import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import cbor

_WORDS = ("", "a", "web", "é", "a name that is longer than most", "\U0001f600", "x" * 300)
ITEMS: dict[str, Callable[[random.Random, int], Any]] = {
    "ports": lambda chance, number: {"name": f"p{number}", "port": number, "protocol": "TCP"},
    "few changes": lambda chance, number: {"name": "a", "on": number % 400 != 399, "args": [], "x": {}},
    "numbers": lambda chance, number: {
        "a": chance.choice((-1, 0, 23, 24, 300, -70000)), "b": number * 2**33, "c": number / 7 + 0.01,
    },
    "objects in objects": lambda chance, number: {
        "env": [{"name": f"N{number}", "value": "v" * chance.randrange(40)}, {"name": "B"}], "limits": {"cpu": number},
    },
    "texts of all lengths": lambda chance, number: {"name": "n" * chance.randrange(24), "value": chance.choice(_WORDS)},
    "anything": lambda chance, number: {"value": chance.choice((None, True, 1, 1.5, "a", 10**6))},
    "two shapes": lambda chance, number: {"name": f"n{number}"} if number % 3 else {"name": "n", "value": "a"},
    "others now and then": lambda chance, number: {"a": number} if number % 90 else chance.choice(([], 1, {"b": 2})),
    "lists": lambda chance, number: [number, "a", [], {}],
    "texts": lambda chance, number: f"text {number}" if number % 50 else chance.choice(_WORDS),
    "texts, and what is none": lambda chance, number: chance.choice(("a", "b", 1, None, "c" * 30)),
}  # fmt: skip


def _as_bytes(value: Any) -> Any:
    """With byte strings for texts."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict):
        return {name.encode(): _as_bytes(inner) for name, inner in value.items()}
    return [_as_bytes(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("name", ITEMS)
def test_what_is_alike_is_read_as_it_is(name: str, endless: bool) -> None:
    chance = random.Random(len(name))
    items = [ITEMS[name](chance, number) for number in range(1500)]
    members = {f"{'k' * chance.randrange(20)}{number}": item for number, item in enumerate(items)}
    for value in (items, members, {"x": items}, {"x": [items[:700], items[700:]]}):
        for form in (value, _as_bytes(value)):
            data = cbor2.dumps(form, indefinite_containers=endless)
            for read in (cbor.loads, cbor.loads_body, cbor.loads_applied):
                assert repr(read(data)) == repr(value)


@pytest.mark.parametrize("sort", [cbor2.dumps, lambda value: cbor2.dumps(_as_bytes(value))])
def test_lists_in_lists_are_of_their_own(sort: Callable[[Any], bytes]) -> None:
    chance = random.Random(1)
    containers = [
        {
            "name": f"c{number}",
            "args": [f"-{one}" for one in range(number % 30)],
            "env": [{"name": f"N{one}", "value": "v" * chance.randrange(40)} for one in range(20 + number % 3)],
            "ports": [chance.choice(({"port": one}, {"port": one, "name": "p"}, 1, [])) for one in range(17)],
        }
        for number in range(100)
    ]
    assert repr(cbor.loads_body(sort({"spec": containers}))) == repr({"spec": containers})


def test_equal_items_are_objects_of_their_own() -> None:
    read = cbor.loads(cbor2.dumps([{"name": f"n{number}", "labels": {}, "args": ["a"]} for number in range(1000)]))
    read[999]["labels"]["a"] = read[999]["args"][0] = "b"
    assert read[998] == {"name": "n998", "labels": {}, "args": ["a"]}


@pytest.mark.parametrize("place", [0, 300, 1100, 1499])
@pytest.mark.parametrize("odd, why", [
    (b"\xa2\x41a\x01\x41a\x01", 'cbor: found duplicate map key "a" at map element index 1'),
    (b"\xa2\x41a\x01\x41b\xf9\x7c\x00", "cbor: data item of cbor type primitives is not accepted by protocol: "
     "floating-point infinity"),
    (b"\xa2\x41a\x61\xff\x41b\x01", "cbor: invalid UTF-8 string"),
    (b"\x81" * 64, "cbor: exceeded max nested level 64"),
    (b"\x1c", "cbor: invalid additional information 28 for type positive integer"),
])  # fmt: skip
def test_one_that_is_refused_is_found(odd: bytes, why: str, place: int) -> None:
    items = [b"\xa2\x41a\x19%c%c\x41b\x43abc" % divmod(number + 256, 256) for number in range(1500)]
    items[place] = odd
    members = b"".join(b"\x44%04d" % number + item for number, item in enumerate(items))
    for data in (b"\x9f" + b"".join(items) + b"\xff", b"\xbf" + members + b"\xff"):
        with pytest.raises(cbor.CBORError) as refused:
            cbor.loads(data)
        assert str(refused.value) == why


@pytest.mark.parametrize("place", [1, 300, 1499])
def test_the_first_name_that_is_there_twice_is_told(place: int) -> None:
    names = [b"name%d" % number for number in range(1500)]
    names[place] = b"name0"
    for value in (b"\x43abc", b"\xa1\x41a\x41b", b"\x58\x1e" + b"a" * 30):
        members = b"".join(bytes((0x40 + len(name),)) + name + value for name in names)
        with pytest.raises(cbor.CBORError) as refused:
            cbor.loads(b"\xbf" + members + b"\xff")
        assert str(refused.value) == f'cbor: found duplicate map key "name0" at map element index {place}'


@pytest.mark.parametrize("applied", [False, True])
def test_bytes_that_are_no_utf8_are_shown_among_others(applied: bool) -> None:
    values = [bytes((0x41 + number % 20, 0xFF)) * (number % 3) for number in range(1500)]
    data = cbor2.dumps({b"data": {b"%d" % number: value for number, value in enumerate(values)}})
    read = (cbor.loads_applied if applied else cbor.loads_body)(data, builtin_types().get(CORE, "ConfigMap"))
    assert list(read["data"].values()) == [value.decode("utf-8", "replace") for value in values]


def test_a_name_that_is_there_twice_is_told_before_a_bad_text_behind_it() -> None:
    names = [b"n%d" % number for number in range(200)]
    names[150] = b"n0"
    values = [b"\x62\xff\xff" if number == 160 else b"\x61a" for number in range(200)]
    members = b"".join(bytes((0x60 + len(name),)) + name + value for name, value in zip(names, values, strict=True))
    with pytest.raises(cbor.CBORError) as refused:
        cbor.loads(b"\xbf" + members + b"\xff")
    assert str(refused.value) == 'cbor: found duplicate map key "n0" at map element index 150'
