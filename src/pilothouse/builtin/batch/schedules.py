"""Schedules of cron jobs, read only to say what is wrong with them; and the names of time zones."""

from __future__ import annotations

import importlib.resources
from functools import cache
from typing import Final

from pilothouse.machinery.digits import whole
from pilothouse.machinery.times import TimeError, parse_duration

_FIELDS: Final = 5
_DESCRIPTORS: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_MONTHS: Final = {
    name: index
    for index, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_DAYS: Final = {name: index for index, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_BOUNDS: Final[tuple[tuple[int, int, dict[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)


class BadSchedule(ValueError):
    """The message is the original's."""


def _number(text: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise BadSchedule(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = whole(text)
    if not -(2**63) <= number < 2**63:
        raise BadSchedule(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if number < 0:
        raise BadSchedule(f"negative number ({number}) not allowed: {text}")
    return number


def _named(text: str, names: dict[str, int]) -> int:
    found = names.get(text.lower())
    return found if found is not None else _number(text)


def _range(text: str, low: int, high: int, names: dict[str, int]) -> None:
    whole, *steps = text.split("/")
    ends = whole.split("-")
    single = len(ends) == 1
    if ends[0] in ("*", "?"):
        start, end = low, high
    else:
        start = end = _named(ends[0], names)
        if len(ends) == 2:
            end = _named(ends[1], names)
        elif len(ends) > 2:
            raise BadSchedule(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0])
        if single:
            end = high
    elif len(steps) > 1:
        raise BadSchedule(f"too many slashes: {text}")
    if start < low:
        raise BadSchedule(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise BadSchedule(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise BadSchedule(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise BadSchedule(f"step of range should be a positive number: {text}")


def _without_zone(text: str) -> str:
    """The schedule behind a time zone. Raises BadSchedule for a zone that nobody knows."""
    zone, _, rest = text.partition("=")[2].partition(" ")
    if zone not in ("", "UTC", "Local") and zone not in time_zones():
        raise BadSchedule(f"provided bad location {zone}: unknown time zone {zone}")
    return rest.strip()


def check_schedule(text: str) -> None:
    """Raises BadSchedule for what is no schedule of five fields and no `@` word."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        text = _without_zone(text)
    if text.startswith("@"):
        if text in _DESCRIPTORS:
            return
        if text.startswith("@every "):
            duration = text.removeprefix("@every ")
            try:
                parse_duration(duration)
            except TimeError as error:
                raise BadSchedule(f"failed to parse duration {text}: {error}") from None
            return
        raise BadSchedule(f"unrecognized descriptor: {text}")
    fields = text.split()
    if len(fields) != _FIELDS:
        raise BadSchedule(f"expected exactly {_FIELDS} fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, (low, high, names) in zip(fields, _BOUNDS, strict=True):
        for part in field.split(","):
            if part:
                _range(part, low, high, names)


@cache
def time_zones() -> frozenset[str]:
    """All names of the tz database that the original carries with it."""
    text = (importlib.resources.files("pilothouse.builtin") / "data" / "timezones.txt").read_text()
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))
