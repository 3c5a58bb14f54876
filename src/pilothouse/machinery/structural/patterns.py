"""Patterns that users write: RE2's language, in time linear to the text, as the original has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import re2  # type: ignore[import-untyped]

from pilothouse.kit.memo import remembered

Matches = Callable[[str], bool]


_REMEMBERED: Final = 256  # short texts, such as names, come again and again


class BadPattern(ValueError):
    """Not a pattern."""


@remembered(4096)
def searcher(pattern: str) -> Matches:
    """`f(text)`: whether the pattern is found anywhere in it. Raises BadPattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        raise BadPattern(error.args[0].decode("utf-8", "replace")) from error

    @remembered(_REMEMBERED)
    def found(text: str) -> bool:
        return search(text) is not None

    return found


# How RE2 in C++ and Go's port of it call the same mistakes.
_WORDS: Final = (
    ("missing ): ", "missing closing ): "),
    ("unexpected ): ", "unexpected ): "),
    ("missing ]: ", "missing closing ]: "),
    ("invalid perl operator: ", "invalid or unsupported Perl syntax: "),
    ("invalid character class range: ", "invalid character class range: "),
    ("bad repetition operator: ", "invalid nested repetition operator: "),
    ("no argument for repetition operator: ", "missing argument to repetition operator: "),
    ("invalid repetition size: ", "invalid repeat count: "),
    ("invalid escape sequence: ", "invalid escape sequence: "),
    ("trailing \\", "trailing backslash at end of expression: "),
    ("invalid named capture group: ", "invalid named capture: "),
    ("invalid UTF-8", "invalid UTF-8: "),
)


def pattern_problem(pattern: str) -> str:
    """What is wrong with a pattern, in the words of Go's parser; "" where it is good."""
    try:
        searcher(pattern)
    except BadPattern as error:
        text = str(error)
        for found, told in _WORDS:
            if text.startswith(found):
                return f"error parsing regexp: {told}`{text[len(found) :]}`"
        return f"error parsing regexp: {text}"
    return ""
