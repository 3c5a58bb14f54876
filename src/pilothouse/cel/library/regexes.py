"""Patterns: RE2, so that no text takes longer than its length."""

from __future__ import annotations

from typing import Any, Final

import re2  # type: ignore[import-untyped]

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.values import Fault
from pilothouse.kit.memo import remembered
from pilothouse.machinery.structural.patterns import BadPattern, pattern_problem, searcher


@remembered(1024)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        raise Fault(pattern_problem(pattern)) from None


def matches(text: str, pattern: str) -> bool:
    """Whether the pattern is found anywhere. Raises Fault for what is no pattern."""
    try:
        return searcher(pattern)(text)
    except BadPattern:
        raise Fault(pattern_problem(pattern)) from None


def find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return str(found.group(0)) if found is not None else ""


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """`most`: negative for all."""
    found: list[str] = []
    for one in _compiled(pattern).finditer(text):
        if 0 <= most <= len(found):
            break
        found.append(str(one.group(0)))
    return found


REGEXES: Final = (
    overload("find", "string.(string) -> string", find, work=work.pattern(), size=work.up_to()),
    overload("findAll", "string.(string) -> list(string)", find_all, work=work.pattern(), size=work.up_to()),
    overload("findAll", "string.(string, int) -> list(string)", find_all, work=work.pattern(), size=work.up_to()),
)
