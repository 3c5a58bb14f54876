"""What is remembered, and that it stays little."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.kit.memo import Stamped


def test_a_value_is_known_by_its_text() -> None:
    known: Stamped[str] = Stamped()
    known.keep(known.key({"a": [1]}), "made")
    assert known.get(known.key({"a": [1]})) == "made"
    assert known.get(known.key({"a": [1.0]})) is None
    assert known.get(known.key({"a": [2]})) is None


def test_it_begins_anew_when_it_is_full() -> None:
    known: Stamped[int] = Stamped(most=3)
    for number in range(10):
        known.keep(known.key(number), number)
        assert known.get(known.key(number)) == number
    assert sum(known.get(known.key(number)) is not None for number in range(10)) == 1


@pytest.mark.parametrize("value", ["x" * 20, {"big": 2**80}, {"odd": object()}])
def test_long_values_and_those_without_a_text_are_not_remembered(value: Any) -> None:
    known: Stamped[int] = Stamped(longest=10)
    key = known.key(value)
    known.keep(key, 1)
    assert known.get(key) is None
