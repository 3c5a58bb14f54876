"""Operators, conversions, and what every expression can do with texts, times, lists and maps."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.cel import operators as op
from pilothouse.cel import work
from pilothouse.cel.declarations import Overload, overload
from pilothouse.cel.equality import equal, join_lists, unequal, within
from pilothouse.cel.library import conversions as to
from pilothouse.cel.library.regexes import matches
from pilothouse.cel.values import Duration, Timestamp, zone_of

_NUMBERS: Final = ("int", "uint", "double")
_ORDERED: Final = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_SIZED: Final = ("string", "bytes", "list(A)", "map(A, B)")
_PLUS: Final = "({0} + {1})"
_TEST: Final = "string.(string) -> bool"
_COMPARISONS: Final = (
    ("_<_", op.less, "<"), ("_<=_", op.less_equal, "<="), ("_>_", op.greater, ">"), ("_>=_", op.greater_equal, ">="),
)  # fmt: skip


def _comparisons() -> list[Overload]:
    found = []
    for name, run, sign in _COMPARISONS:
        inline = f"({{0}} {sign} {{1}})"
        for kind in _ORDERED:
            text = kind in ("string", "bytes")
            cost = work.compared if text else None
            found.append(overload(name, f"({kind}, {kind}) -> bool", run, work=cost, inline=inline))
        for one in _NUMBERS:
            for other in _NUMBERS:
                if one != other:
                    found.append(overload(name, f"({one}, {other}) -> bool", run, inline=inline))
    return found


def _divide(one: float, other: float) -> float:
    return op.float_divide(one, other)


_ARITHMETIC: Final = (
    overload("_+_", "(int, int) -> int", op.int_add),
    overload("_+_", "(uint, uint) -> uint", op.uint_add),
    overload("_+_", "(double, double) -> double", op.join_texts, inline="({0} + {1})"),
    overload("_+_", "(string, string) -> string", op.join_texts, inline=_PLUS, work=work.joined(), size=work.total()),
    overload("_+_", "(bytes, bytes) -> bytes", op.join_texts, inline=_PLUS, work=work.joined(), size=work.total()),
    overload("_+_", "(list(A), list(A)) -> list(A)", join_lists, size=work.total(), metered=True),
    overload("_+_", "(timestamp, duration) -> timestamp", op.add_duration),
    overload("_+_", "(duration, timestamp) -> timestamp", op.add_to_moment),
    overload("_+_", "(duration, duration) -> duration", op.add_durations),
    overload("_-_", "(int, int) -> int", op.int_subtract),
    overload("_-_", "(uint, uint) -> uint", op.uint_subtract),
    overload("_-_", "(double, double) -> double", lambda one, other: one - other, inline="({0} - {1})"),
    overload("_-_", "(timestamp, timestamp) -> duration", op.between),
    overload("_-_", "(timestamp, duration) -> timestamp", op.subtract_duration),
    overload("_-_", "(duration, duration) -> duration", op.subtract_durations),
    overload("_*_", "(int, int) -> int", op.int_multiply),
    overload("_*_", "(uint, uint) -> uint", op.uint_multiply),
    overload("_*_", "(double, double) -> double", op.float_multiply, inline="({0} * {1})"),
    overload("_/_", "(int, int) -> int", op.int_divide),
    overload("_/_", "(uint, uint) -> uint", op.uint_divide),
    overload("_/_", "(double, double) -> double", _divide),
    overload("_%_", "(int, int) -> int", op.int_modulo),
    overload("_%_", "(uint, uint) -> uint", op.uint_modulo),
    overload("-_", "(int) -> int", op.int_negate),
    overload("-_", "(double) -> double", lambda one: -one, inline="(-{0})"),
    overload("!_", "(bool) -> bool", lambda one: not one, inline="(not {0})", sure=True),
    overload("_==_", "(A, A) -> bool", equal, work=work.compared, sure=True, metered=True),
    overload("_!=_", "(A, A) -> bool", unequal, work=work.compared, sure=True, metered=True),
    overload("@in", "(A, list(A)) -> bool", within, work=work.elements(1), metered=True),
    overload("@in", "(A, map(A, B)) -> bool", within, metered=True),
    overload("_[_]", "(list(A), int) -> A", op.item_at),
    overload("_[_]", "(map(A, B), A) -> B", op.entry_of),
    overload("_?_:_", "(bool, A, A) -> A", lambda condition, yes, no: yes if condition else no),
)  # fmt: skip

_CONVERSIONS: Final = (
    overload("dyn", "(A) -> dyn", lambda one: one, inline="{0}", sure=True),
    overload("type", "(A) -> type(A)", to.type_value),
    overload("bool", "(bool) -> bool", to.bool_of, inline="{0}"),
    overload("bool", "(string) -> bool", to.bool_of),
    overload("bytes", "(bytes) -> bytes", to.bytes_of, inline="{0}"),
    overload("bytes", "(string) -> bytes", to.bytes_of, work=work.traverse(0), size=work.encoded),
    *(overload("int", f"({kind}) -> int", to.int_of) for kind in ("int", "uint", "double", "string")),
    overload("int", "(timestamp) -> int", to.int_of),
    overload("int", "(duration) -> int", to.int_of),
    *(overload("uint", f"({kind}) -> uint", to.uint_of) for kind in ("int", "uint", "double", "string")),
    *(overload("double", f"({kind}) -> double", to.double_of) for kind in ("int", "uint", "double", "string")),
    overload("string", "(string) -> string", to.string_of, inline="{0}", size=work.same()),
    *(
        overload("string", f"({kind}) -> string", to.string_of)
        for kind in ("bool", "int", "uint", "double", "timestamp", "duration")
    ),
    overload("string", "(bytes) -> string", to.string_of, work=work.traverse(0), size=work.decoded),
    overload("timestamp", "(timestamp) -> timestamp", to.timestamp_value),
    overload("timestamp", "(string) -> timestamp", to.timestamp_value),
    overload("timestamp", "(int) -> timestamp", to.timestamp_value),
    overload("duration", "(duration) -> duration", to.duration_value),
    overload("duration", "(string) -> duration", to.duration_value),
    overload("duration", "(int) -> duration", to.duration_value),
)  # fmt: skip

_TEXTS: Final = (
    *(overload("size", f"({kind}) -> int", len, inline="len({0})") for kind in _SIZED),
    *(overload("size", f"{kind}.() -> int", len, inline="len({0})") for kind in _SIZED),
    overload("contains", _TEST, lambda one, part: part in one, work=work.found_in(), inline="({1} in {0})"),
    overload("startsWith", _TEST, str.startswith, work=work.traverse(1), inline="{0}.startswith({1})"),
    overload("endsWith", _TEST, str.endswith, work=work.traverse(1), inline="{0}.endswith({1})"),
    overload("matches", "string.(string) -> bool", matches, work=work.pattern()),
    overload("matches", "(string, string) -> bool", matches, work=work.pattern()),
)  # fmt: skip


def _month_day(moment: Timestamp, zone: str) -> int:
    return moment.moment(zone_of(zone)).day - 1


# name -> what it is of a moment in a zone
_PARTS: Final[dict[str, Any]] = {
    "getFullYear": lambda moment, zone: moment.moment(zone_of(zone)).year,
    "getMonth": lambda moment, zone: moment.moment(zone_of(zone)).month - 1,
    "getDayOfMonth": _month_day,
    "getDate": lambda moment, zone: moment.moment(zone_of(zone)).day,
    "getDayOfWeek": lambda moment, zone: moment.moment(zone_of(zone)).isoweekday() % 7,
    "getDayOfYear": lambda moment, zone: moment.moment(zone_of(zone)).timetuple().tm_yday - 1,
    "getHours": lambda moment, zone: moment.moment(zone_of(zone)).hour,
    "getMinutes": lambda moment, zone: moment.moment(zone_of(zone)).minute,
    "getSeconds": lambda moment, zone: moment.moment(zone_of(zone)).second,
    "getMilliseconds": lambda moment, zone: moment.moment(zone_of(zone)).microsecond // 1000,
}


def _toward_zero(unit: int) -> Any:
    def part(span: Duration) -> int:
        found = abs(span.nanos) // unit
        return found if span.nanos >= 0 else -found

    return part


def _milliseconds(span: Duration) -> int:
    found = abs(span.nanos) // 10**6 % 1000
    return found if span.nanos >= 0 else -found


def _times() -> list[Overload]:
    found = []
    for name, part in _PARTS.items():
        found.append(overload(name, "timestamp.() -> int", lambda moment, part=part: part(moment, "UTC")))
        found.append(overload(name, "timestamp.(string) -> int", part))
    units = (("getHours", 3600 * 10**9), ("getMinutes", 60 * 10**9), ("getSeconds", 10**9))
    found += [overload(name, "duration.() -> int", _toward_zero(unit)) for name, unit in units]
    return [*found, overload("getMilliseconds", "duration.() -> int", _milliseconds)]


STANDARD: Final = (*_ARITHMETIC, *_comparisons(), *_CONVERSIONS, *_TEXTS, *_times())
