"""Long JSON that is read in pieces is what it would be when read at once."""

from __future__ import annotations

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery import jsonpieces

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12) | st.just('"[{,]}\\'),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=40,
)


@pytest.fixture(params=[3, 20])
def tiny(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Pieces of a few bytes, so that small documents have many."""
    monkeypatch.setattr(jsonpieces, "PIECE", request.param)
    monkeypatch.setattr(jsonpieces, "is_heavy", lambda data: True)


def same(data: bytes) -> None:
    """Read or refused alike, members in the same order."""
    try:
        expected = orjson.loads(data)
    except orjson.JSONDecodeError:
        with pytest.raises(orjson.JSONDecodeError):
            jsonpieces.loads(data)
        return
    assert json.dumps(jsonpieces.loads(data)) == json.dumps(expected)


@pytest.mark.usefixtures("tiny")
def test_any_document_is_read_as_at_once() -> None:
    @given(values, st.sampled_from([None, 1]), st.integers(0, 2**30))
    @settings(max_examples=400, deadline=None, database=None)
    def check(value: Any, indent: int | None, damage: int) -> None:
        data = json.dumps(value, indent=indent).encode()
        same(data)
        at = damage % len(data)
        same(data[:at] + data[at + 1 :])
        same(data[:at] + b'[]{},"\\ '[damage % 8 : damage % 8 + 1] + data[at:])

    check()


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, 2, 3, 4, 5, 6], "a": 2, "c": {"d": [1111, 2222, 3333], "d": 5}}',
        "[[1, 2, 3, 4, 5, 6] , [1, 2, 3, 4, 5, 6], 7]",
        "[[1, 2, 3, 4, 5, 6] [1, 2, 3, 4, 5, 6]]",
        "[[1, 2, 3, 4, 5, 6] 7, 8]",
        "[1111, 2222, 3333, ]",
        "[1111, 2222, , 3333]",
        "[, 1111, 2222]",
        '{ ,"aa": 1111}',
        '{"a": [1111, 2222] ,, "b": 1}',
        '{"a": [1111, 2222] , }',
        '{"aaaa": 1, "bbbb"}',
        "[1111, 2222}",
        '{"aaaa": 1, "b": [1, 2, 3, 4, 5]',
        "[1111, 2222]]",
        "x[1111, 2222, 3333]",
        "\\[1111, [2222, 3333]]",
        " \n [1111, 2222, 3333]",
        "[1111, 2222] x",
        "[1111, 2222]  \n",
        "",
        " ",
        "1",
        '"[,]"',
        "[]",
        '{"a": {"b": {"c": {"d": [111, 222, 333, 444]}}, "e": 1}, "f": [{"g": [5555, 6666, 7777]}]}',
        "{1: [111, 222, 333]}",
        '{"a" [111, 222, 333]}',
        "[x [111, 222, 333]]",
        '["\\"\\\\", "[", "\\u005b", "\\\\"]',
        '[{"a": 1}, {"a": 1}, {"a": {"b": 2}, "c": {"b": 3}, "d": {}}, {"a": 1}, {"a": 1}, {"a": "},", "b": 1}, {}]',
        "[[1], [2], [3], [[4], [5], [6], [7], [8], [9], [0]], [1], [2], [3], [4], [5], [6]]",
        '["aa", "bb", "cc\\",", "dd", "e,e", "f\\",f", "gg", "hh", "ii", "jj", "kk"]',
        '{"a": {}, "b": {}, "c": {}, "d": {}, "a": {"x": 1}, "e": {}, "f": {}, "g": 5, "h": 6, "i": 7}',
        '[{"a": 1}, {"a": 1}, {"a": 1}, , {"a": 1}, {"a": 1}]',
        '[{"a": 1}, {"a": 1}, {"a": 1}, {"a": 1}}, {"a": 1}]',
    ],
)
def test_odd_documents_are_read_or_refused_as_at_once(text: str) -> None:
    same(text.encode())


def test_only_long_and_dense_documents_are_read_in_pieces() -> None:
    assert jsonpieces.is_heavy(b"[" + b"[]," * 400_000 + b"[]]")
    assert not jsonpieces.is_heavy(b"[" + b"[]," * 30_000 + b"[]]")
    assert not jsonpieces.is_heavy(json.dumps([{"name": "usual", "value": "x" * 40}] * 15_000).encode())
    assert not jsonpieces.is_heavy(b'["' + b"x" * (1 << 20) + b'"]')


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"[]," * 300_000 + b"[]]",
        b'{"a":{"b":[' + b'{"a":1},' * 100_000 + b"1]}}",
        b"{" + b",".join(b'"%d":[]' % number for number in range(90_000)) + b"}",
        b"[" * 200_000 + b"]" * 200_000,
        b"[" * 200_000 + b"1," * 100_000 + b"1" + b"]" * 200_000,
        b"[" + (b"[" * 900 + b"11111," * 11_000 + b"1" + b"]" * 900 + b",") * 10 + b"1]",
        b'["' + b'\\"' * 500_000,
        b'"\\' * 400_000 + b"," * 100_000,
        b"[" + b'"",' * 300_000,
    ],
)
def test_long_documents_take_time_that_grows_with_their_length(data: bytes) -> None:
    started = time.process_time()
    same(data)
    assert time.process_time() - started < 5


def test_what_stands_in_texts_makes_a_document_no_heavier() -> None:
    """Brackets in a text cost nothing, however many they are."""
    text = b'["%b"]' % (b"{[" * 300_000)
    assert not jsonpieces.is_heavy(text)
    assert jsonpieces.is_heavy(b"[%b]" % b",".join([b"[[]]"] * 300_000))
    assert jsonpieces.is_heavy(b"[%b]" % b",".join([b'"","{"'] * 100_000 + [b"[[]]"] * 100_000))


def test_texts_are_blanked_in_place() -> None:
    part = b'{"a":"[,]","b{":"c","d":["}"'
    assert jsonpieces.without_texts(part) == b'{"a":"\0\0\0","b\0":"c","d":["\0"'
    assert jsonpieces.without_texts(b'["a"]') == b'["a"]'


def test_a_document_whose_quotes_do_not_fit_is_refused_as_a_whole_one() -> None:
    data = b"[%b]" % b",".join([b'"a"'] * 200_000 + [b'"b'] + [b'"a"'] * 200_000)
    with pytest.raises(orjson.JSONDecodeError) as refused:
        jsonpieces.loads(data)
    assert refused.value.pos == 1 + 4 * 200_000 + 4
