"""Times, durations and ages as text: RFC 3339 in seconds (Time), with six fraction digits (MicroTime), Go durations,
kubectl's ages.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from pilothouse.machinery.digits import whole

ZERO: Final = "0001-01-01T00:00:00Z"  # Go's zero time: shown as null
_SECONDS: Final = "2006-01-02T15:04:05Z07:00"
_MICROS: Final = "2006-01-02T15:04:05.000000Z07:00"
# A day that each year has, in the form that times are kept in.
_PLAIN: Final = re.compile(
    r"\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z",
    re.ASCII,
)
_PARTS: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))", re.ASCII
)
# Pieces of the layout in order: pattern of what is accepted, how Go names the piece, most and least value, its name
# in range errors.
_PIECES: Final = (
    (re.compile(r"\d{4}", re.ASCII), "2006", 0, 9999, ""),
    (re.compile("-"), "-", 0, 0, ""),
    (re.compile(r"\d\d", re.ASCII), "01", 1, 12, "month"),
    (re.compile("-"), "-", 0, 0, ""),
    (re.compile(r"\d\d", re.ASCII), "02", 0, 99, ""),
    (re.compile("T"), "T", 0, 0, ""),
    (re.compile(r"\d\d?", re.ASCII), "15", 0, 23, "hour"),
    (re.compile(":"), ":", 0, 0, ""),
    (re.compile(r"\d\d", re.ASCII), "04", 0, 59, "minute"),
    (re.compile(":"), ":", 0, 0, ""),
    (re.compile(r"\d\d", re.ASCII), "05", 0, 59, "second"),
)
_ZONE: Final = re.compile(r"Z|[+-]\d\d:\d\d", re.ASCII)
_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class TimeError(ValueError):
    """Not a time or a duration; the text is Go's."""


_TIME_FORM: Final = "%04d-%02d-%02dT%02d:%02d:%02dZ"


def format_time(moment: datetime) -> str:
    """`2026-01-02T03:04:05Z`: UTC, whole seconds. `moment` must know its zone."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return _TIME_FORM % (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def format_micro_time(moment: datetime) -> str:
    """`2026-01-02T03:04:05.000006Z`: UTC, six fraction digits."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z".rjust(27, "0")


def parse_time(text: str) -> datetime:
    """A Time with any zone and any fraction (cut to microseconds). Raises TimeError with Go's text."""
    return _moment(text, _SECONDS)


def parse_micro_time(text: str) -> datetime:
    """A MicroTime: exactly six fraction digits. Raises TimeError with Go's text."""
    return _moment(text, _MICROS)


def canonical_time(text: str) -> str | None:
    """The text of a Time as it is kept: UTC seconds; None for Go's zero time. Raises TimeError."""
    found = _PLAIN.fullmatch(text)
    if found is not None and found[1] is None:
        return text if text != ZERO else None
    moment = _moment(text, _SECONDS)
    shown = format_time(moment)
    return shown if shown != ZERO or moment.microsecond else None


def canonical_micro_time(text: str) -> str | None:
    """The text of a MicroTime as it is kept: UTC with six digits; None for Go's zero time. Raises TimeError."""
    found = _PLAIN.fullmatch(text)
    if found is not None and found[1] is not None:
        return text if text != "0001-01-01T00:00:00.000000Z" else None
    shown = format_micro_time(_moment(text, _MICROS))
    return shown if shown != "0001-01-01T00:00:00.000000Z" else None


def _moment(text: str, layout: str) -> datetime:
    found = _PARTS.fullmatch(text)
    micro = layout is _MICROS
    if found is None or (micro and (found[7] is None or len(found[7]) != 6)):
        raise _wrong(text, layout)
    year, month, day, hour, minute, second = (int(found[number]) for number in range(1, 7))
    offset = timedelta(0)
    if found[9]:
        offset = timedelta(hours=int(found[10]), minutes=int(found[11])) * (1 if found[9] == "+" else -1)
    fraction = int((found[7] or "0")[:6].ljust(6, "0"))
    if int(found[10] or 0) > 24:
        raise _out(text, "time zone offset hour")
    if int(found[11] or 0) > 60:
        raise _out(text, "time zone offset minute")
    try:
        return datetime(year, month, day, hour, minute, second, fraction, UTC) - offset
    except (ValueError, OverflowError):
        raise _wrong(text, layout) from None


def _out(text: str, what: str) -> TimeError:
    return TimeError(f'parsing time "{text}": {what} out of range')


def _wrong(text: str, layout: str) -> TimeError:
    """Where Go stops reading `text`, and what it would have liked there."""

    def cannot(rest: str, piece: str) -> TimeError:
        return TimeError(f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{piece}"')

    at = 0
    seen: list[int] = []
    for pattern, piece, least, most, name in _PIECES:
        found = pattern.match(text, at)
        if found is None:
            return cannot(text[at:], piece)
        if name:
            number = int(found[0])
            if not least <= number <= most:
                return _out(text, name)
        if piece[0] in "0123456789":
            seen.append(int(found[0]))
        at = found.end()
    if layout is _MICROS:
        fraction = re.compile(r"\.\d{6}", re.ASCII).match(text, at)
        if fraction is None:
            return cannot(text[at:], ".000000")
        at = fraction.end()
    else:
        fraction = re.compile(r"[.,]\d+", re.ASCII).match(text, at)
        at = fraction.end() if fraction else at
    zone = _ZONE.match(text, at)
    if zone is None:
        return cannot(text[at:], "Z07:00")
    if zone.end() != len(text):
        return TimeError(f'parsing time "{text}": extra text: "{text[zone.end() :]}"')
    year, month, day = seen[:3]
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if day < 1 or day > _MONTHS[month - 1] or (month == 2 and day == 29 and not leap):
        return _out(text, "day")
    return _out(text, "year")  # Go knows the year 0, Python does not


_UNITS: Final = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
_TERM: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)", re.ASCII)
_LONGEST: Final = 2**63
_FRACTION_DIGITS: Final = 30  # more say nothing of nanoseconds


def _behind_point(digits: str, unit: int) -> int:
    """What stands behind the point, in nanoseconds."""
    kept = digits[:_FRACTION_DIGITS]
    return int(kept or "0") * unit // int(10 ** len(kept))


def parse_duration(text: str) -> int:
    """A Go duration (`1m30s`, `1.5h`, `-2ms`) in nanoseconds. Raises TimeError with Go's text."""
    rest = text[1:] if text[:1] in ("-", "+") else text
    invalid = TimeError(f'time: invalid duration "{text}"')
    if rest == "0":
        return 0
    if not rest:
        raise invalid
    total = 0
    at = 0
    while at < len(rest):
        found = _TERM.match(rest, at)
        if found is None or not (found[1] or found[2]):
            raise invalid
        if not found[3]:
            raise TimeError(f'time: missing unit in duration "{text}"')
        unit = _UNITS.get(found[3])
        if unit is None:
            raise TimeError(f'time: unknown unit "{found[3]}" in duration "{text}"')
        total += whole(found[1] or "0") * unit + _behind_point(found[2] or "", unit)
        if total > _LONGEST:
            raise invalid
        at = found.end()
    if text.startswith("-"):
        return -total
    if total >= _LONGEST:
        raise invalid
    return total


def format_duration(nanos: int) -> str:
    """Nanoseconds as Go writes them: `1m30s`, `1.5s`, `250ms`, `0s`."""
    sign, left = ("-", -nanos) if nanos < 0 else ("", nanos)
    if left == 0:
        return "0s"
    if left < 10**9:
        for name, size in (("ms", 10**6), ("µs", 10**3), ("ns", 1)):
            if left >= size:
                return f"{sign}{_fraction(left, size)}{name}"
    minutes, rest = divmod(left, 60 * 10**9)
    shown = f"{_fraction(rest, 10**9)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        shown = f"{hours}h{minutes}m{shown}" if hours else f"{minutes}m{shown}"
    return sign + shown


def _fraction(amount: int, size: int) -> str:
    whole, rest = divmod(amount, size)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).rjust(len(str(size)) - 1, '0').rstrip('0')}"


_OLDEST: Final = 2**63 // 10**9  # seconds


def human_duration(seconds: float) -> str:
    """An age as kubectl shows it: `5s`, `3m20s`, `3d4h`, `2y30d`. A little in the future is `0s`, more is
    `<invalid>`. No age is above 292 years: that is as much as 64 bits of nanoseconds hold.
    """
    whole = int(min(seconds, _OLDEST))
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 120:
        return f"{whole}s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if hours < 24 * 365 * 2:
        return f"{days}d"
    if hours < 24 * 365 * 8:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(first: int, unit: str, second: int, small: str) -> str:
    return f"{first}{unit}{second}{small}" if second else f"{first}{unit}"


def age(created: str | None, now: datetime) -> str:
    """The age of a Time text at `now`; `<unknown>` without one."""
    if not created:
        return "<unknown>"
    return human_duration((now - parse_time(created)).total_seconds())
