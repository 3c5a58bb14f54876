"""Many texts are sorted like few, but not in one call."""

from __future__ import annotations

import random

import pytest

from pilothouse.kit.sorting import MANY, in_order, smallest_first


@pytest.mark.parametrize("size", [0, 1, MANY, MANY + 1, 4 * MANY + 7])
@pytest.mark.parametrize("digits", [1, 3, 12])
def test_texts_are_in_order(size: int, digits: int) -> None:
    chance = random.Random(size)
    texts = ["".join(chance.choices("0159é\U0001f600", k=digits)) for _ in range(size)]
    assert in_order(texts) == sorted(texts)
    assert in_order(sorted(texts)) == sorted(texts)
    assert in_order(dict.fromkeys(texts)) == sorted(set(texts))
    assert in_order(sorted(texts, reverse=True)) == sorted(texts)


@pytest.mark.parametrize("size", [0, 1, MANY, 2 * MANY])
def test_the_smallest_texts_come_first(size: int) -> None:
    texts = [str(number * 7919 % 99991) for number in range(size)]
    assert list(smallest_first(texts)) == sorted(texts)
