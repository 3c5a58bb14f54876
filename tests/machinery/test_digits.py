"""Looking for numbers in JSON text without reading it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pilothouse.machinery.digits import has_digits, may_have_floats

TEXTS = st.text("0159.eE-+ab", max_size=30).map(str.encode)


@given(TEXTS)
def test_numbers_with_a_point_or_an_exponent_are_found(text: bytes) -> None:
    assert may_have_floats(text) == (re.search(rb"[0-9][.eE]", text) is not None)


@given(TEXTS)
def test_long_numbers_are_found(text: bytes) -> None:
    for count in (1, 3, 9):
        assert has_digits(text, count) == (re.search(b"[0-9]{%d}" % count, text) is not None)
