"""What is said to be a quantity is one."""

from __future__ import annotations

import random

from pilothouse.machinery.decode.amounts import is_readable
from pilothouse.machinery.quantity import QuantityError, shown


def test_what_is_readable_is_read() -> None:
    chance = random.Random(1)
    readable = 0
    for _ in range(20_000):
        text = "".join(chance.choice("+-0159.numkKMGTPEie é") for _ in range(chance.randint(0, 5)))
        if is_readable(text):
            readable += 1
            shown(text)
    assert readable > 1000


def test_usual_quantities_are_readable_and_others_are_not() -> None:
    assert all(map(is_readable, ("0", "100m", "1.5Gi", "-3", "+1.k", "128Mi", "1E")))
    for text in ("", "x", "1x", ".", "1.1.1", "Ki", "1 ", "1mm"):
        assert not is_readable(text)
        try:
            shown(text)
        except QuantityError:
            continue
        assert text == "1 "  # spaces around do not count
