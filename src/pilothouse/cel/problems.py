"""What is wrong with an expression, and how the original shows it: a line, a column, the text and a caret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pilothouse.kit.record import record

_SOURCE: Final = "<input>"
_LONGEST: Final = 16384  # longer lines are not shown
_MOST: Final = 100  # more problems than that are not told


@record
class Problem:
    """`at`: offset in the text, in characters."""

    at: int
    text: str


def shown(source: str, problems: Iterable[Problem]) -> str:
    """All problems, in the order of their places."""
    if not source:  # there is no line to point at
        return "\n".join(f"ERROR: {_SOURCE}:1:0: {problem.text}" for problem in problems)
    lines = source.split("\n")
    found: list[tuple[int, int, str]] = []
    for problem in problems:
        before = source[: problem.at]
        found.append((before.count("\n"), len(before) - before.rfind("\n") - 1, problem.text))
    found.sort(key=lambda one: one[:2])
    return "\n".join(_one(lines, *one) for one in found[:_MOST])


def _one(lines: list[str], line: int, column: int, text: str) -> str:
    head = f"ERROR: {_SOURCE}:{line + 1}:{column + 1}: {text}"
    snippet = lines[line].replace("\t", " ") if line < len(lines) else ""
    if len(snippet) > _LONGEST:
        return head
    # Wide letters push the caret by a wide dot, so that both stand below each other.
    dots = "".join("." if ord(letter) < 0x80 else "\uff0e" for letter in snippet[:column])
    dots += "." * (column - len(dots))
    return f"{head}\n | {snippet}\n | {dots}^"
