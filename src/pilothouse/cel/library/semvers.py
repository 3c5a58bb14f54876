"""Versions by the rules of semver.org."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.values import Fault

_NUMBER: Final = r"(0|[1-9][0-9]*)"
_TAG: Final = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_FORM: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_TAG}(?:\.{_TAG})*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?", re.ASCII
)


class Semver:
    """Builds do not count when versions are compared."""

    __slots__ = ("numbers", "tags")

    type_name: Final = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, int, int], tags: tuple[str, ...]) -> None:
        self.numbers = numbers
        self.tags = tags

    def _rank(self) -> tuple[Any, ...]:
        tags = tuple((0, int(tag), "") if tag.isdigit() else (1, 0, tag) for tag in self.tags)
        return (*self.numbers, not self.tags, tags)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.numbers == other.numbers and self.tags == other.tags

    def __hash__(self) -> int:
        return hash((self.numbers, self.tags))

    def compare(self, other: Semver) -> int:
        one, two = self._rank(), other._rank()
        return (one > two) - (one < two)


def _normal(text: str) -> str:
    """What is lenient: a `v`, missing parts, leading zeros."""
    text = text.removeprefix("v")
    parts = text.split(".", 2)
    if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
        return text
    parts += ["0"] * (3 - len(parts))
    for place, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[place] = stripped if stripped and stripped[0].isdigit() else f"0{stripped}"
    return ".".join(parts)


def _parse(text: str, lenient: bool) -> Semver | None:
    found = _FORM.fullmatch(_normal(text) if lenient else text)
    if found is None or any(len(found[place]) > 20 or int(found[place]) >= 2**64 for place in (1, 2, 3)):
        return None
    return Semver((int(found[1]), int(found[2]), int(found[3])), tuple(found[4].split(".")) if found[4] else ())


def semver_of(text: str, lenient: bool = False) -> Semver:
    """Raises Fault."""
    found = _parse(text, lenient)
    if found is None:
        raise Fault(f"semver parse error during conversion from string: {_problem(text)}")
    return found


def _problem(text: str) -> str:
    if not text:
        return "Version string empty"
    if text.count(".") < 2:
        return "No Major.Minor.Patch elements found"
    return f'Invalid character(s) found in version "{text}"'


_ONCE: Final = work.traverse(0)
_ONE: Final = work.fixed(1)  # what is thought of it before does not know the text


def _is_semver(text: str, lenient: bool = False) -> bool:
    return _parse(text, lenient) is not None


SEMVERS: Final = (
    overload("semver", "(string) -> semver", semver_of, work=_ONCE, guess=_ONE),
    overload("semver", "(string, bool) -> semver", semver_of, work=_ONCE, guess=_ONE),
    overload("isSemver", "(string) -> bool", _is_semver, work=_ONCE, guess=_ONE),
    overload("isSemver", "(string, bool) -> bool", _is_semver, work=_ONCE, guess=_ONE),
    overload("major", "semver.() -> int", lambda one: one.numbers[0]),
    overload("minor", "semver.() -> int", lambda one: one.numbers[1]),
    overload("patch", "semver.() -> int", lambda one: one.numbers[2]),
    overload("isGreaterThan", "semver.(semver) -> bool", lambda one, other: one.compare(other) > 0),
    overload("isLessThan", "semver.(semver) -> bool", lambda one, other: one.compare(other) < 0),
    overload("compareTo", "semver.(semver) -> int", Semver.compare),
)
