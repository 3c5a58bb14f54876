"""Faults of long documents: found near where the fast parser stopped, told as if all had been read slowly."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery import jsonexact
from pilothouse.machinery.jsoncodec import JSONError, loads
from pilothouse.machinery.jsonfault import sign_before

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\,[]{}:é', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab"\\,{', max_size=3), inner, max_size=4),
    max_leaves=20,
)
BEFORE = '{"before":[' + '{"a":"b,{"},[1],' * 400 + '{}],"then":'


def fault(text: bytes) -> str:
    with pytest.raises(JSONError) as raised:
        loads(text)
    return str(raised.value)


@settings(max_examples=200)
@given(VALUES, st.integers(0, 200), st.sampled_from(['"', ",", "[", "}", ":", "\\", "x", "-", "\n", "01"]))
def test_a_fault_in_a_long_document_is_told_as_in_a_short_one(value: Any, place: int, put: str) -> None:
    written = json.dumps(value, ensure_ascii=False)
    broken = written[:place] + put + written[place:]
    short, long = f'{{"then":{broken}}}', f"{BEFORE}{broken}}}"
    try:
        read = loads(short.encode())
    except JSONError as error:
        assert fault(long.encode()) == str(error)
    else:
        assert loads(long.encode())["then"] == read["then"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a":[1,{"b" |2}]}', (8, "{[")),
        ('{"a":[1,2|,]}', (7, "{[")),
        ('{"a,[":"b|', (0, "")),
        ('{"a":"\\",","b":|tru}', (10, "{")),
        ('[[],{"a":"]"},[{"b":[|x', (20, "[[{")),
        ("x|", (0, "")),
        ("]}[|", None),
    ],
)
def test_reading_begins_at_the_last_sign_outside_of_texts(text: str, found: tuple[int, str] | None) -> None:
    assert sign_before(text.replace("|", ""), text.index("|")) == found


def test_what_only_the_fast_parser_refuses_is_read() -> None:
    text = f'{BEFORE}["\\ud800", 1e5]}}'.encode()
    assert loads(text)["then"] == ["\ufffd", 1e5]
    assert fault(f"{BEFORE}[1e400]}}".encode()) == "json: cannot unmarshal number 1e400 into Go value of type float64"
    many = b"[" + b"[]," * 20_000 + b"[]]"
    assert jsonexact.loads(many, orjson.JSONDecodeError("depth limit exceeded", "", 0)) == [[]] * 20_001
