"""Values of expressions that Python has no class for, and what goes wrong at run time.

bool, int, float, str, bytes, None, list and dict are themselves. An object of a declared type is a dict too (of its
JSON names), of class Struct where its type must be known at run time.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import total_ordering
from typing import Any, Final

from pilothouse.machinery.times import TimeError, parse_duration

SECOND: Final = 10**9
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MOMENT: Final = -62135596800 * SECOND
_LAST_MOMENT: Final = 253402300799 * SECOND + SECOND - 1
_LIMIT: Final = 2**63
_FREE: Final = 100_000
_METERED: Final = 2_000_000
_PLAIN_DIGITS: Final = 6  # longer numbers are written with an exponent


class Fault(Exception):
    """Evaluation went wrong; the text is what clients see. && and || may leave it aside."""


class CostExceeded(Exception):
    """The expression did more than it may."""


class Meter:
    """What an evaluation looks at or copies beyond what is counted in units: items of lists and maps, letters.

    The first hundred thousand are free, then two of them are a unit.
    """

    __slots__ = ("used",)

    def __init__(self) -> None:
        self.used = 0

    def spend(self, count: int) -> None:
        """Raises CostExceeded."""
        self.used += count
        if self.used > _METERED:
            raise CostExceeded

    def cost(self) -> int:
        """In units."""
        return max(0, self.used - _FREE) // 2


NO_OVERLOAD: Final = "no such overload"
# What generated code raises for values that an operation does not know.
FAULTS: Final = (Fault, TypeError, AttributeError)


class UInt(int):
    """An unsigned number."""

    __slots__ = ()


class Struct(dict[str, Any]):
    """An object of a declared type. `fields`: names in expressions -> JSON names, where they differ."""

    __slots__ = ("type_name",)

    type_name: str


class SetList(list[Any]):
    """A list whose order does not count, and in which nothing is twice."""

    __slots__ = ()


class MapList(list[Any]):
    """A list of objects that are known by keys; the order does not count."""

    __slots__ = ("keys",)

    keys: tuple[str, ...]


class BadData:
    """Stands where the data is not of its declared type; whoever looks at it fails."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


@total_ordering
class Duration:
    """`nanos`: nanoseconds."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        if not -_LIMIT <= nanos < _LIMIT:
            raise Fault("duration overflow")
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.nanos == other.nanos

    def __lt__(self, other: Duration) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash((Duration, self.nanos))

    def __neg__(self) -> Duration:
        return Duration(-self.nanos)

    def __str__(self) -> str:
        """Seconds, with as many digits behind the point as are needed: `90s`, `1.5s`."""
        sign, left = ("-", -self.nanos) if self.nanos < 0 else ("", self.nanos)
        whole, rest = divmod(left, SECOND)
        return f"{sign}{whole}.{f'{rest:09}'.rstrip('0')}s" if rest else f"{sign}{whole}s"


@total_ordering
class Timestamp:
    """`nanos`: nanoseconds since 1970."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        if not _FIRST_MOMENT <= nanos <= _LAST_MOMENT:
            raise Fault("timestamp overflow")
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash((Timestamp, self.nanos))

    def moment(self, zone: tzinfo = UTC) -> datetime:
        """Cut to microseconds, in a zone."""
        return (_EPOCH + timedelta(microseconds=self.nanos // 1000)).astimezone(zone)

    def __str__(self) -> str:
        rest = self.nanos % SECOND
        fraction = f".{f'{rest:09}'.rstrip('0')}" if rest else ""
        moment = self.moment()
        return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def timestamp_of(text: str) -> Timestamp:
    """RFC 3339 with any fraction. Raises Fault."""
    problem = "type conversion error from 'string' to 'google.protobuf.Timestamp'"
    if len(text) < 20 or text[10] != "T" or text[-1] not in "Zz0123456789":
        raise Fault(problem)
    head, rest = text[:19], text[19:]
    fraction = 0
    if rest[0] in ".,":
        digits = 1
        while digits < len(rest) and rest[digits].isdigit():
            digits += 1
        if digits == 1:
            raise Fault(problem)
        fraction = int(rest[1:digits][:9].ljust(9, "0"))
        rest = rest[digits:]
    if rest != "Z" and not (len(rest) == 6 and rest[0] in "+-" and rest[3] == ":"):
        raise Fault(problem)
    try:
        moment = datetime.fromisoformat(head + ("+00:00" if rest == "Z" else rest))
    except ValueError:
        raise Fault(problem) from None
    since = moment - _EPOCH
    return Timestamp((since.days * 86400 + since.seconds) * SECOND + fraction)


def duration_of(text: str) -> Duration:
    """Go's form: `1h30m`, `-1.5s`. Raises Fault."""
    try:
        return Duration(parse_duration(text))
    except TimeError:
        raise Fault("type conversion error from 'string' to 'google.protobuf.Duration'") from None


def zone_of(text: str) -> tzinfo:
    """A name (`Europe/Paris`) or an offset (`+05:30`). Raises Fault."""
    if ":" in text:
        sign = -1 if text.startswith("-") else 1
        hours, _, minutes = text.lstrip("+-").partition(":")
        if not (hours.isdigit() and minutes.isdigit() and len(minutes) == 2):
            raise Fault(f"timestamp timezone conversion error: {text}")
        return timezone(sign * timedelta(hours=int(hours), minutes=int(minutes)))
    if text in ("", "UTC", "Local"):
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # few expressions name zones; it is slow to load

    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Fault(f"unknown time zone {text}") from None


class TypeValue:
    """A type as a value, as `type(x)` tells it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash((TypeValue, self.name))

    def __str__(self) -> str:
        return self.name


class Optional:
    """A value, or none."""

    __slots__ = ("held", "there")

    def __init__(self, held: Any, there: bool = True) -> None:
        self.held = held
        self.there = there

    def value(self) -> Any:
        if not self.there:
            raise Fault("optional.none() dereference")
        return self.held

    def __repr__(self) -> str:
        return f"optional({self.held!r})" if self.there else "optional.none()"


NONE: Final = Optional(None, there=False)


def float_text(value: float) -> str:
    """The shortest text that reads back, as Go writes it: `2.5`, `1e-07`, `1e+06`, `+Inf`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    mantissa, _, power = text.partition("e")
    digits = mantissa.lstrip("-").replace(".", "").lstrip("0").rstrip("0") or "0"
    sign = "-" if text.startswith("-") else ""
    if value == 0:
        return f"{sign}0"
    if power:
        exponent = int(power)
        point = len(mantissa.lstrip("-").split(".")[0])
        exponent += point - 1
    else:
        whole, _, part = mantissa.lstrip("-").partition(".")
        exponent = len(whole) - 1 if whole != "0" else -(len(part) - len(part.lstrip("0"))) - 1
    if -4 <= exponent < _PLAIN_DIGITS:
        return sign + _plain(digits, exponent)
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if exponent >= 0 else '-'}{abs(exponent):02}"


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
