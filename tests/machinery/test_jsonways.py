"""Repeated members of long documents are found on the ways that lead to them, and are those that a walk finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pilothouse.machinery import jsoncodec
from pilothouse.machinery.jsonways import leading_to


def test_the_ways_are_the_containers_that_something_stands_in() -> None:
    wanted: dict[str, Any] = {"x": 1}
    inner = [1, [], {"a": []}, {"b": wanted}]
    value = {"a": {"b": {}}, "c": {"d": inner, "e": [[2]]}, "f": 1}
    ways = leading_to({id(wanted)}, value)
    assert ways == {id(value), id(value["c"]), id(inner), id(inner[3]), id(wanted)}
    assert leading_to({id(inner), id(wanted)}, value) == ways
    assert leading_to(set(), value) == set()


def _document(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.1:
        return chance.choice(("1", '"x"', "null", "{}", "[]"))
    inner = [_document(chance, depth - 1) for _ in range(chance.randrange(1, 5))]
    if chance.random() < 0.4:
        return f"[{','.join(inner)}]"
    names = [chance.choice(("a", "b", "c")) if chance.random() < 0.3 else f"n{number}" for number in range(4)]
    return f"{{{','.join(f'{name!r}:{one}' for name, one in zip(names, inner, strict=False))}}}".replace("'", '"')


def test_what_is_found_on_the_ways_is_what_a_walk_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    documents = [_document(chance, 5).encode() for _ in range(400)]
    walked = [jsoncodec.duplicates(document) for document in documents]
    monkeypatch.setattr(jsoncodec, "_BEGINNING", 0)
    assert [jsoncodec.duplicates(document) for document in documents] == walked
    assert sum(map(bool, walked)) > 50
