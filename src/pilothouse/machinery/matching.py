"""Selectors as fast tests. All that is asked of one label becomes one test, and of many labels only those are looked at
that the object has: the work for an object does not grow with the length of the selector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pilothouse.machinery.requirements import (
    EXISTS,
    GREATER,
    LESS,
    NOT_EQUALS,
    NOT_EXISTS,
    NOT_IN,
    FieldRequirement,
    Requirement,
)

Labels = Mapping[str, str]
Predicate = Callable[[Labels], bool]
ValueTest = Callable[[str | None], bool]  # of the value of one label, None where it is not there

_INTEGER: Final = re.compile(r"[-+]?[0-9]+", re.ASCII)
_FEW: Final = 8  # labels that are asked about; of more, those that the object has are looked up


class _Wanted:
    """All that is asked of one label."""

    __slots__ = ("above", "absent", "among", "below", "outside", "present")

    def __init__(self) -> None:
        self.present = False
        self.absent = False
        self.among: frozenset[str] | None = None
        self.outside: set[str] = set()
        self.above: int | None = None
        self.below: int | None = None

    def add(self, requirement: Requirement) -> None:
        operator, values = requirement.operator, requirement.values
        if operator in (NOT_IN, NOT_EQUALS):
            self.outside.update(values)
            return
        if operator == NOT_EXISTS:
            self.absent = True
            return
        self.present = True
        if operator == GREATER:
            bound = int(values[0])
            self.above = bound if self.above is None else max(self.above, bound)
        elif operator == LESS:
            bound = int(values[0])
            self.below = bound if self.below is None else min(self.below, bound)
        elif operator != EXISTS:
            self.among = frozenset(values) if self.among is None else self.among.intersection(values)

    @property
    def plain(self) -> bool:
        """Only values that it must be among."""
        return self.among is not None and not self.outside and not self.absent and not self.ranged

    @property
    def ranged(self) -> bool:
        return self.above is not None or self.below is not None

    def test(self) -> ValueTest:
        """The test of the label's value."""
        among, outside = self.among, frozenset(self.outside)
        present, absent, above, below, ranged = self.present, self.absent, self.above, self.below, self.ranged

        def test(value: str | None) -> bool:
            if value is None:
                return not present
            if absent or value in outside or (among is not None and value not in among):
                return False
            return not ranged or _within(value, above, below)

        return test

    def predicate(self, key: str) -> Predicate:
        """The test of an object's labels; the usual ones are short."""
        if self.plain and self.among is not None:
            among = self.among
            if len(among) == 1:
                (only,) = among
                return lambda labels: labels.get(key) == only
            return lambda labels: labels.get(key) in among
        if not self.absent and not self.ranged and self.among is None:
            if not self.outside:
                return lambda labels: key in labels
            if not self.present:
                outside = frozenset(self.outside)
                return lambda labels: labels.get(key) not in outside
        test = self.test()
        return lambda labels: test(labels.get(key))


def _within(value: str, above: int | None, below: int | None) -> bool:
    if _INTEGER.fullmatch(value) is None:
        return False
    number = int(value)
    if not -(2**63) <= number < 2**63:
        return False
    return (above is None or number > above) and (below is None or number < below)


def compile_labels(requirements: Iterable[Requirement]) -> Predicate:
    """The test whether labels meet all requirements."""
    wanted: dict[str, _Wanted] = {}
    for requirement in requirements:
        wanted.setdefault(requirement.key, _Wanted()).add(requirement)
    if len(wanted) > _FEW:
        return _many(wanted)
    return _all([one.predicate(key) for key, one in wanted.items()])


def _many(wanted: dict[str, _Wanted]) -> Predicate:
    needed = frozenset(key for key, one in wanted.items() if one.present)
    tests = {key: one.test() for key, one in wanted.items()}

    def matches(labels: Labels) -> bool:
        if len(needed) > len(labels) or not needed <= labels.keys():
            return False
        for key, value in labels.items():
            test = tests.get(key)
            if test is not None and not test(value):
                return False
        return True

    return matches


def compile_fields(requirements: Iterable[FieldRequirement]) -> Predicate:
    """The test whether the values of fields meet all requirements; a field that is not there is empty."""
    equal: dict[str, set[str]] = {}
    other: dict[str, set[str]] = {}
    for requirement in requirements:
        (equal if requirement.equal else other).setdefault(requirement.label, set()).add(requirement.value)
    tests = [_equals(label, values) for label, values in equal.items()]
    tests += [_differs(label, frozenset(values)) for label, values in other.items()]
    return _all(tests)


def _equals(label: str, values: set[str]) -> Predicate:
    if len(values) > 1:  # it cannot be both
        return lambda fields: False
    (value,) = values
    return lambda fields: fields.get(label, "") == value


def _differs(label: str, values: frozenset[str]) -> Predicate:
    return lambda fields: fields.get(label, "") not in values


def _all(tests: list[Predicate]) -> Predicate:
    if not tests:
        return lambda labels: True
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda labels: first(labels) and second(labels)
    return lambda labels: all(test(labels) for test in tests)
