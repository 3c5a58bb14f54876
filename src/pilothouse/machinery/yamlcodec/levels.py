"""How a line of block style goes on from the line before: by the columns in which the two begin.

A level stands for the collections that are open. What a beginning of a line means for it is found once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

_DASH: Final = re.compile("-")
_DEEPEST: Final = 128  # levels

Maker = Callable[[], Any]  # of a list or an object


class Misplaced(Exception):
    """A line begins where none can, or where it is not sure what it means."""


class Step(NamedTuple):
    """What one line does to the collections that are open."""

    closed: int  # how many of the innermost are over
    value: Maker | None  # what makes the one that is the value of what came last
    items: tuple[Maker, ...]  # and those that are new items of the list, one in the other
    level: Level


class Level:
    """A collection within others: in which column its items or members begin, and what it is."""

    def __init__(self, column: int, made: Maker, around: Level | None) -> None:
        self.column = column
        self.made = made
        self.around = around
        self.members = " " * column  # how lines begin that are members of it
        self.steps: dict[tuple[str, bool, bool], Step] = {}
        self._depth: int = 0 if around is None else around._depth + 1
        self._inner: dict[tuple[int, Maker], Level] = {}

    def step(self, prefix: str, named: bool, awaits: bool) -> Step:
        """What a line does that begins with `prefix`, spaces and the dashes of items; `named`: a name follows.

        `awaits`: the line before has a name or a dash and no value. Raises Misplaced.
        """
        step = self.steps[prefix, named, awaits] = self._found(prefix, named, awaits)
        return step

    def _found(self, prefix: str, named: bool, awaits: bool) -> Step:
        dashes = [found.start() for found in _DASH.finditer(prefix)]
        first, made = (dashes[0], list) if dashes else (len(prefix), dict)
        level, closed = self, 0
        while level.around is not None and level.column > first:
            level, closed = level.around, closed + 1
        value = None
        if level.column < first or (level.column == first and made is list and level.made is dict):
            if closed or not awaits:
                raise Misplaced
            level, value = level._within(first, made), made
        elif level.made is list and made is dict and level.around is not None:  # a list in the column of its name ends
            level, closed = level.around, closed + 1
        if level.column != first or level.made is not made:
            raise Misplaced
        items: list[Maker] = []
        for column in dashes[1:]:
            level = level._within(column, list)
            items.append(list)
        if dashes and named:
            level = level._within(len(prefix), dict)
            items.append(dict)
        return Step(closed, value, tuple(items), level)

    def _within(self, column: int, made: Maker) -> Level:
        if self._depth >= _DEEPEST:
            raise Misplaced
        found = self._inner.get((column, made))
        if found is None:
            found = self._inner[column, made] = Level(column, made, self)
        return found
