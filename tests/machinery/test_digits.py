"""Looking for numbers in JSON text without reading it."""

from __future__ import annotations

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.machinery.digits import has_digits, may_have_floats, may_have_odd_floats, text_of_real

TEXTS = st.text("0159.eE-+ab", max_size=30).map(str.encode)


@given(TEXTS)
def test_numbers_with_a_point_or_an_exponent_are_found(text: bytes) -> None:
    assert may_have_floats(text) == (re.search(rb"[0-9][.eE]", text) is not None)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9).map(float))
def test_floats_that_are_whole_or_have_an_exponent_are_found(value: float) -> None:
    for document in (value, [value], [value, 1], {"a": value}):
        text = orjson.dumps(document)
        assert may_have_odd_floats(text) == (value.is_integer() or b"e" in text)


@given(TEXTS)
def test_long_numbers_are_found(text: bytes) -> None:
    for count in (1, 3, 9):
        assert has_digits(text, count) == (re.search(b"[0-9]{%d}" % count, text) is not None)


@pytest.mark.parametrize(
    ("document", "value", "text"),
    [
        (b'{"a":1e300}', 1e300, "1e300"),
        (b'{"a":[-0.0,0.0]}', -0.0, "-0.0"),
        (b'{"a":"1e300","b":1e300}', 1e300, "1e300"),
        (b"[12345678901234567890123]", 12345678901234567890123.0, "12345678901234567890123"),
        (b"[1e2,100.0]", 100.0, None),
    ],
)
def test_the_text_of_a_number_is_found_where_it_can_be_but_one(document: bytes, value: float, text: str | None) -> None:
    assert text_of_real(document, value) == text
