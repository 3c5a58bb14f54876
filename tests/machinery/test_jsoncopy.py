"""Copies are what writing and reading again would give, and share no container with what was copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.machinery.jsoncodec import GoFloat, TooDeep, dumps
from pilothouse.machinery.jsoncopy import copied

_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | _FLOATS | _FLOATS.map(GoFloat) | st.text(max_size=5)
)
_VALUES: Any = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=30)
        | st.dictionaries(st.text(max_size=4), inner, max_size=30)
        | st.lists(st.dictionaries(st.text(max_size=2), st.integers(0, 9)), min_size=20, max_size=30)
    ),
)


def containers(value: Any) -> Iterator[int]:
    if isinstance(value, dict | list):
        yield id(value)
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


@given(_VALUES)
def test_a_copy_is_read_again(value: Any) -> None:
    made = copied(value)
    assert dumps(made) == dumps(orjson.loads(dumps(value)))
    assert set(containers(made)).isdisjoint(containers(value))


def test_what_is_too_deep_is_refused_and_not_fatal() -> None:
    for levels, fine in ((200, True), (900, True), (1_100, False), (9_000, False)):
        deep: Any = 1
        for level in range(levels):
            deep = [deep] if level % 2 else {"a": deep}
        if fine:
            assert dumps(copied(deep)) == dumps(deep)
        else:
            with pytest.raises(TooDeep):
                copied(deep)
