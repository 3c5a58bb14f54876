"""Sets of a job's indexes as text: `0-3,5,7-9`."""

from __future__ import annotations

from pilothouse.machinery.digits import whole


class BadIndexes(ValueError):
    """The text is no set of indexes; the message is the original's."""


def _index(text: str, completions: int) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit() and abs(whole(digits)) < 2**63):
        raise BadIndexes(f'cannot convert string to integer for index: "{text}"')
    number = whole(text)
    if number >= completions:
        raise BadIndexes(f'too large index: "{text}"')
    return number


def count_indexes(text: str, completions: int) -> int:
    """How many indexes the text means. Raises BadIndexes where it is not an increasing list below `completions`."""
    if not text:
        return 0
    total, last = 0, None
    for part in text.split(","):
        first, end = _interval(part, completions)
        if last is not None and first <= last:
            raise BadIndexes(f"non-increasing order, previous: {last}, current: {first}")
        last = end
        total += end - first + 1
    return total


def _interval(part: str, completions: int) -> tuple[int, int]:
    """First and last of `3` or `3-5`. Raises BadIndexes."""
    ends = part.split("-")
    if len(ends) > 2:
        raise BadIndexes(
            f'the fragment "{part}" violates the requirement that an index interval can have at most two parts '
            "separated by '-'"
        )
    first = _index(ends[0], completions)
    if len(ends) == 1:
        return first, first
    end = _index(ends[1], completions)
    if end <= first:
        raise BadIndexes(f"non-increasing order, previous: {first}, current: {end}")
    return first, end


def first_common(one: str, other: str, completions: int) -> int | None:
    """The least index that both texts mean; parts that cannot be read are passed over."""
    found = [
        max(first[0], second[0])
        for first in _readable(one, completions)
        for second in _readable(other, completions)
        if first[0] <= second[1] and second[0] <= first[1]
    ]
    return min(found, default=None)


def _readable(text: str, completions: int) -> list[tuple[int, int]]:
    found = []
    for part in text.split(",") if text else ():
        try:
            found.append(_interval(part, completions))
        except BadIndexes:
            continue
    return found
