"""`'...'.format([...])`: the template read once, and the forms of each verb."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from pilothouse.cel.library.conversions import type_name
from pilothouse.cel.values import Duration, Fault, Meter, Struct, Timestamp, TypeValue, float_text
from pilothouse.kit.memo import remembered
from pilothouse.kit.record import record
from pilothouse.machinery.goquote import quote

_PRECISION: Final = 6
_DIGITS: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_AS_TEXT: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps, was given"
)
_AS_HEX: Final = "only integers, byte buffers, and strings can be formatted as hex, was given"


@record
class Clause:
    """`verb` of `%verb`, and the digits that it asks for."""

    verb: str
    precision: int = _PRECISION


class BadClause(ValueError):
    """The template is wrong."""


@remembered(256)
def template(text: str) -> tuple[str | Clause, ...]:
    """Pieces of a template. Raises BadClause."""
    pieces: list[str | Clause] = []
    plain, at = "", 0
    while True:
        sign = text.find("%", at)
        if sign < 0:
            break
        plain += text[at:sign]
        if sign + 1 == len(text):
            raise BadClause("unexpected end of string")
        if text[sign + 1] == "%":
            plain += "%"
            at = sign + 2
            continue
        clause, at = _clause(text, sign + 1)
        pieces += [plain, clause] if plain else [clause]
        plain = ""
    plain += text[at:]
    return (*pieces, plain) if plain else tuple(pieces)


def _clause(text: str, at: int) -> tuple[Clause, int]:
    head = "could not parse formatting clause: "
    precision = _PRECISION
    if text[at] == ".":
        end = at + 1
        while end < len(text) and text[end].isdigit():
            end += 1
        if end == len(text):
            raise BadClause(f"{head}error while parsing precision: could not find end of precision specifier")
        digits = text[at + 1 : end]
        if not digits:
            why = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
            raise BadClause(f"{head}error while parsing precision: {why}")
        precision, at = min(int(digits[:6]), 1000), end
    if text[at] not in _VERBS:
        raise BadClause(f'{head}unrecognized formatting clause "{text[at]}"')
    return Clause(text[at], precision), at + 1


def format_text(text: str, args: Sequence[Any], meter: Meter) -> str:
    """Raises Fault."""
    try:
        pieces = template(text)
    except BadClause as error:
        raise Fault(str(error)) from None
    out, used = [], 0
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
            continue
        if used >= len(args):
            raise Fault(f"index {used} out of range")
        out.append(_VERBS[piece.verb](args[used], piece.precision, meter))
        used += 1
    return "".join(out)


def wrong(verb: str, kind: str) -> str:
    """What is wrong with a verb for an argument of a type; "" where it fits."""
    allowed, words = _FITS[verb]
    return "" if kind in allowed or kind == "dyn" else f"error during formatting: {words} {kind}"


def _refuse(verb: str, value: Any) -> NoReturn:
    raise Fault(f"error during formatting: {_FITS[verb][1]} {type_name(value)}")


def as_text(value: Any, meter: Meter, inside: bool = False) -> str:
    """%s; texts within lists and maps stand in quotes."""
    kind = value.__class__
    if kind is str:
        meter.spend(len(value) // 10)
        return quote(value) if inside else str(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, bytes):
        shown = value.decode("utf-8", "replace")
        return quote(shown) if inside else shown
    if isinstance(value, int | TypeValue):
        return str(value)
    if isinstance(value, Timestamp | Duration):
        return str(value)
    if isinstance(value, list | dict):
        meter.spend(len(value))
    if isinstance(value, list):
        return "[" + ", ".join(as_text(item, meter, True) for item in value) + "]"
    if isinstance(value, dict) and not isinstance(value, Struct):
        entries = sorted((as_text(key, meter, True), as_text(item, meter, True)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in entries) + "}"
    return _refuse("s", value)


def _text(value: Any, precision: int, meter: Meter) -> str:
    return as_text(value, meter)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and value.__class__ is not bool


def _decimal(value: Any, precision: int, meter: Meter) -> str:
    if not _is_int(value):
        if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
            return float_text(value)
        _refuse("d", value)
    return str(int(value))


def _fixed(value: Any, precision: int, meter: Meter) -> str:
    if not isinstance(value, float):
        _refuse("f", value)
    return _odd(value) or f"{value:.{precision}f}"


def _odd(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return ""


def _scientific(value: Any, precision: int, meter: Meter) -> str:
    if not isinstance(value, float):
        _refuse("e", value)
    if _odd(value):
        return _odd(value)
    # Fewer digits than the usual six cannot be asked for.
    mantissa, _, power = f"{value:.{max(precision, _PRECISION)}e}".partition("e")
    sign = "-" if power.startswith("-") else ""
    return f"{mantissa}×10{(sign + power.lstrip('+-')).translate(_DIGITS)}"


def _hex(value: Any, precision: int, meter: Meter) -> str:
    if _is_int(value):
        return f"{int(value):x}"
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    return _refuse("x", value)


def _octal(value: Any, precision: int, meter: Meter) -> str:
    return f"{int(value):o}" if _is_int(value) else _refuse("o", value)


def _binary(value: Any, precision: int, meter: Meter) -> str:
    return f"{int(value):b}" if isinstance(value, int) else _refuse("b", value)


_VERBS: Final[dict[str, Callable[[Any, int, Meter], str]]] = {
    "s": _text, "d": _decimal, "f": _fixed, "e": _scientific, "x": _hex,
    "X": lambda value, precision, meter: _hex(value, precision, meter).upper(), "o": _octal, "b": _binary,
}  # fmt: skip
_INTS: Final = frozenset({"int", "uint"})
_FITS: Final[dict[str, tuple[frozenset[str], str]]] = {
    "s": (
        frozenset(
            {
                "string", "bool", "bytes", "int", "uint", "double", "map", "list", "type", "duration", "timestamp",
                "null", "param",
            }
        ),
        _AS_TEXT,
    ),
    "d": (_INTS, "decimal clause can only be used on integers, was given"),
    "f": (frozenset({"double"}), "fixed-point clause can only be used on doubles, was given"),
    "e": (frozenset({"double"}), "scientific clause can only be used on doubles, was given"),
    "x": (_INTS | {"bytes", "string"}, _AS_HEX),
    "X": (_INTS | {"bytes", "string"}, _AS_HEX),
    "o": (_INTS, "octal clause can only be used on integers, was given"),
    "b": (_INTS | {"bool"}, "only integers and bools can be formatted as binary, was given"),
}  # fmt: skip
