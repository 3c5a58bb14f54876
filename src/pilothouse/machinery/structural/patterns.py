"""Patterns that users write: RE2's language, in time linear to the text, as the original has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import re2  # type: ignore[import-untyped]

Matches = Callable[[str], bool]


class BadPattern(ValueError):
    """Not a pattern."""


@lru_cache(maxsize=4096)
def searcher(pattern: str) -> Matches:
    """`f(text)`: whether the pattern is found anywhere in it. Raises BadPattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        raise BadPattern(str(error)) from error
    return lambda text: search(text) is not None
