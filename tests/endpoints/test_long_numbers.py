"""Long runs of one sign are read in time that grows with their length only, wherever patterns meet them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pilothouse.cel.library.conversions import _FLOAT
from pilothouse.endpoints.negotiation import _NUMBER
from pilothouse.machinery.selectors import read_label_selector

DIGITS = "0" * 300_000


@pytest.mark.parametrize(
    "read",
    [
        lambda: _NUMBER.fullmatch(DIGITS + "!"),
        lambda: _NUMBER.fullmatch("1e" + DIGITS + "!"),
        lambda: _FLOAT.fullmatch("." + DIGITS + "!"),
        lambda: read_label_selector("a=b" + " " * 300_000),
    ],
)
def test_long_runs(read: Callable[[], object]) -> None:
    began = time.process_time()
    read()
    assert time.process_time() - began < 1.0
