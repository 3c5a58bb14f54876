"""What calls cost, as functions of the sizes of their arguments.

The same functions serve the estimate (of the least and the greatest sizes) and the count at run time, since all of
them grow with the sizes. A unit is a simple step; ten letters of a text are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.cel.declarations import Sizes, Work

UNBOUNDED: Final = 2**64 - 1
LIST_COST: Final = 10
MAP_COST: Final = 30
STRUCT_COST: Final = 40
AUTHORIZER_COST: Final = 350_000


def tenth(size: int) -> int:
    """A tenth, rounded up: what it costs to look at a text."""
    return -(-size // 10) if size < UNBOUNDED else UNBOUNDED


def quarter(size: int) -> int:
    """A guess at how many parts a pattern of that length has."""
    return -(-size // 4) if size < UNBOUNDED else UNBOUNDED


def size_of(value: Any) -> int:
    """Elements of what has any; 1 of the rest."""
    kind = value.__class__
    if kind is str or kind is list or kind is dict:
        return len(value)
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def traverse(*which: int) -> Work:
    """Looks at each letter of these arguments."""
    return lambda sizes: sum(tenth(sizes[index]) for index in which)


def twice(which: int = 0) -> Work:
    """Looks at each letter, and makes as many."""
    return lambda sizes: fifth(sizes[which])


def fifth(size: int) -> int:
    return -(-size // 5) if size < UNBOUNDED else UNBOUNDED


def of_range(text: int | None = None, more: int = 0) -> Work:
    """Compares an address with a range, which is read from a text first."""
    return lambda sizes: 4 + more + (tenth(sizes[text]) if text is not None else 0)


def selector(sizes: Sequence[int]) -> int:
    """A list of requirements, each at least two letters long."""
    letters = sizes[1]
    return LIST_COST + tenth(letters) + (-(-letters // 2)) * (LIST_COST + STRUCT_COST)


def by_name(letters: int) -> Work:
    """Holds a text to a pattern of so many letters."""
    return lambda sizes: tenth(sizes[1] + 1) * quarter(letters)


def elements(which: int = 0) -> Work:
    """Looks at each item."""
    return lambda sizes: sizes[which]


def pattern(text: int = 0, form: int = 1) -> Work:
    """Searches a text for a pattern."""
    return lambda sizes: tenth(sizes[text] + 1) * quarter(sizes[form])


def found_in(text: int = 0, part: int = 1) -> Work:
    """Searches a text for another one."""
    return lambda sizes: tenth(sizes[text]) * tenth(sizes[part])


def joined(one: int = 0, other: int = 1) -> Work:
    """Copies both texts."""
    return lambda sizes: tenth(sizes[one] + sizes[other])


def compared(sizes: Sequence[int]) -> int:
    """Looks at as much of two values as the smaller one has."""
    return tenth(min(sizes))


def crossed(sizes: Sequence[int]) -> int:
    """Holds each item of one list to each of the other."""
    return 1 + sizes[0] * sizes[1]


def crossed_twice(sizes: Sequence[int]) -> int:
    return 1 + 2 * sizes[0] * sizes[1]


def crossed_self(sizes: Sequence[int]) -> int:
    """Holds each item of a list to the others."""
    return 1 + sizes[0] * sizes[0]


def counted(sizes: Sequence[int]) -> int:
    """Makes as many items as the argument says; its size is its value."""
    return sizes[0]


def fixed(cost: int) -> Work:
    return lambda sizes: cost


def same(which: int = 0) -> Sizes:
    """The result is as big as that argument."""
    return lambda least, most: (least[which], most[which])


def up_to(which: int = 0) -> Sizes:
    """The result is a part of that argument."""
    return lambda least, most: (0, most[which])


def total(one: int = 0, other: int = 1) -> Sizes:
    """The result is as big as both together."""
    return lambda least, most: (least[one] + least[other], most[one] + most[other])


def doubled(least: Sequence[int], most: Sequence[int]) -> tuple[int, int]:
    """A text with quotes, in which every letter may need an escape."""
    return least[0] + 2, most[0] * 2 + 2


def encoded(least: Sequence[int], most: Sequence[int]) -> tuple[int, int]:
    """Letters as bytes."""
    return least[0], most[0] * 4


def decoded(least: Sequence[int], most: Sequence[int]) -> tuple[int, int]:
    """Bytes as letters."""
    return least[0] // 4, most[0]


def replaced(least: Sequence[int], most: Sequence[int]) -> tuple[int, int]:
    """At worst each letter, or each place between two, becomes the replacement."""
    if least[1] == 0:
        return 0, min(UNBOUNDED, (most[0] + 1) * most[2] + most[0])
    if most[2] <= least[1]:
        return 0, most[0]
    return 0, min(UNBOUNDED, -(-most[0] // least[1]) * most[2])
