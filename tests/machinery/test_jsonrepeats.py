"""Repeated members are found in pieces as they are in the whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.jsoncodec import Repeated, exact
from pilothouse.machinery.jsonrepeats import repeats


def _told(value: Any, repeated: Repeated) -> Any:
    """A value with the members that its objects repeat, each in its place."""
    if isinstance(value, dict):
        pairs = repeated.get(id(value))
        members = {name: _told(item, repeated) for name, item in value.items()}
        return members if pairs is None else {"members": members, "pairs": json.dumps(pairs)}
    return [_told(item, repeated) for item in value] if isinstance(value, list) else value


def _document(chance: random.Random) -> bytes:
    """Objects in lists and objects, few of which repeat a member."""
    once = [b'{"name":"a%d","port":80}', b'{"a":{"b":[1,"x:y"],"c":"\\u003a"}}', b"[1,2]", b'"a%d"']
    twice = [b'{"a":1,"a":2}', b'{"a":{"b":1},"a":{"c":2}}', b'{"x":[{"a":"","b":1,"a":"z"}]}']
    parts = [
        part % number if b"%d" in part else part
        for number in range(chance.choice((3, 60, 400)))
        for part in [chance.choice(once if chance.random() < 0.99 else twice)]
    ]
    if chance.random() < 0.5:
        return b'{"spec":{"items":[%b]},"spec2":1}' % b", ".join(parts)
    names = [b"m%d" % (number if chance.random() < 0.999 else 0) for number in range(len(parts))]
    return b'{"spec": {%b}}' % b",".join(b'"%b":%b' % pair for pair in zip(names, parts, strict=True))


def test_repeated_members_are_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonpieces, "PIECE", 256)
    chance = random.Random(1)
    for _ in range(200):
        document = _document(chance)
        assert _told(*repeats(document)) == _told(*exact(document)), document
