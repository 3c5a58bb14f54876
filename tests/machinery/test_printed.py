"""Long documents in messages: what is made of JSON in a few calls is what a walk over the values says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.typed.printed import plain_of, syntax_of
from pilothouse.machinery.typed.text import _syntax, number, plain, plain_each, syntax

_ODD = st.lists(
    st.sampled_from(["a", '"', "\\", "\n", "\0", "\x7f", ",", "{", "}", "null", "1.0", "1e5", "é", "\\u0041"])
)
_TEXTS = st.text(max_size=5) | _ODD.map("".join)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1.0, 1e16, 1e21, 1e-5, 1e-7, 100000.0])
_SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _FLOATS | _TEXTS
_VALUES: Any = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(_TEXTS, inner, max_size=6), max_leaves=30
)


def walked(value: Any) -> str:
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{walked(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(walked, value))}]"
    return plain(value)


@given(st.lists(_VALUES) | st.dictionaries(_TEXTS, _VALUES))
def test_a_document_is_what_its_parts_are(value: Any) -> None:
    assert plain_of(value, number) == plain(value) == walked(value)


@given(st.lists(_VALUES) | st.dictionaries(_TEXTS, _VALUES))
def test_so_it_is_in_the_syntax_of_programs(value: Any) -> None:
    assert syntax_of(value, number) == syntax(value) == _syntax(value)


@given(st.lists(st.lists(_VALUES, max_size=3) | st.dictionaries(_TEXTS, _VALUES, max_size=3), min_size=1))
def test_many_are_what_each_is(values: list[Any]) -> None:
    assert plain_each(values) == list(map(walked, values))


@given(st.lists(_VALUES, min_size=1, max_size=4), st.sampled_from(["", "a", '"', "{" * 70_000]), st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_a_long_document_is_what_its_parts_are(values: list[Any], text: str, shift: int) -> None:
    """It is printed in pieces, which may end anywhere."""
    shown = " ".join(map(walked, values))
    count = 80_000 // len(shown) + 1
    document = ["-" * shift, *values * count, text, *values]
    assert plain_of(document, number) == f"[{'-' * shift} {' '.join([shown] * count)} {text} {shown}]"
