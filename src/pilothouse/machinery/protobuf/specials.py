"""Types that are a value in JSON and a small message in protobuf: times, quantities, int-or-string, embedded JSON.

Encoders give wire text with its length in front, or (embedded JSON, bytes) without it. Values repeat a lot between
objects, so the small ones are remembered; long ones never are.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf.wire import (
    EOF,
    VARINTS,
    BadValue,
    ProtobufError,
    as_text,
    read_int32,
    read_int64,
    read_unsigned,
    wide,
)
from pilothouse.machinery.quantity import QuantityError, parse, shown

_KEPT: Final = 4096
_SHORT: Final = 64  # longer values are not remembered
_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]{1,99}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_CYCLE: Final = 400 * 365 + 97  # days in 400 years
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_SECONDS: Final = -62135596800  # 0001-01-01T00:00:00Z, the zero time


def sized(wire: str) -> str:
    return VARINTS[len(wire)] + wire


# Times


def _parse_time(text: str) -> tuple[int, int]:
    """Seconds since 1970 and nanoseconds."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ProtobufError(f"cannot parse {text!r} as an RFC 3339 time")
    year, month, day, hour, minute, second = (int(found[n]) for n in range(1, 7))
    cycles = 0
    if year == 0:  # datetime begins at year 1
        year, cycles = 400, -1
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise ProtobufError(f"cannot parse {text!r} as an RFC 3339 time: {error}") from None
    since = moment - _EPOCH
    seconds = (since.days + cycles * _CYCLE) * 86400 + since.seconds
    if found[8]:
        offset = int(found[9]) * 3600 + int(found[10]) * 60
        seconds += offset if found[8] == "-" else -offset
    return seconds, int((found[7] or "0")[:9].ljust(9, "0"))


def _format_time(seconds: int) -> str:
    """`2026-01-02T03:04:05`, UTC. What RFC 3339 cannot say is refused: such an object could not be read again."""
    days, rest = divmod(seconds, 86400)
    minutes, rest = divmod(rest, 60)
    return f"{_format_day(days)}T{minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


@lru_cache(_KEPT)
def _format_day(days: int) -> str:
    """Counted since 1970."""
    cycles, days = divmod(days, _CYCLE)
    day = _EPOCH + timedelta(days=days)
    year = day.year + 400 * cycles
    if not 0 <= year <= 9999:
        raise ProtobufError(f"year {year} is outside of range [0,9999]")
    return f"{year:04d}-{day:%m-%d}"


def _timestamp(seconds: int, nanos: int) -> str:
    if seconds == _ZERO_SECONDS and not nanos:
        return "\0"
    return sized(f"\x08{VARINTS[seconds]}\x10{VARINTS[nanos]}")


@lru_cache(_KEPT)
def encode_time(value: str | None) -> str:
    """metav1.Time: whole seconds."""
    return "\0" if value is None else _timestamp(_parse_time(value)[0], 0)


@lru_cache(_KEPT)
def encode_micro_time(value: str | None) -> str:
    """metav1.MicroTime: what is finer than a microsecond is cut off."""
    if value is None:
        return "\0"
    seconds, nanos = _parse_time(value)
    return _timestamp(seconds, nanos - nanos % 1000)


def _read_timestamp(payload: bytes) -> tuple[int, int]:
    values = _numbers(payload, 2)
    return _signed64(values[1]), _signed32(values[2])


@lru_cache(_KEPT)
def decode_time(payload: bytes) -> str | None:
    """None is the zero time."""
    return _time(*_read_timestamp(payload)) if payload else None


def _time(seconds: int, nanos: int) -> str | None:
    return None if seconds == _ZERO_SECONDS else _format_time(seconds) + "Z"


@lru_cache(_KEPT)
def decode_micro_time(payload: bytes) -> str | None:
    return _micro_time(*_read_timestamp(payload)) if payload else None


def _micro_time(seconds: int, nanos: int) -> str | None:
    micros = (nanos - nanos % 1000) // 1000
    seconds, micros = seconds + micros // 1_000_000, micros % 1_000_000
    return None if seconds == _ZERO_SECONDS and not micros else f"{_format_time(seconds)}.{micros:06d}Z"


def _signed64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _numbers(payload: bytes, fields: int) -> list[int]:
    """Values of the varint fields 1 to `fields` (0 where absent), by number."""
    if len(payload) > _SHORT:  # in disorder; and nothing long is to be remembered
        raise ProtobufError(EOF)
    values = [0] * (fields + 1)
    at = 0
    while at < len(payload):
        tag, at = read_unsigned(payload, at)
        if tag & 7 or not 0 < tag >> 3 <= fields:
            raise ProtobufError(EOF)
        values[tag >> 3], at = read_unsigned(payload, at)
    return values


# Durations

_UNITS: Final = {
    "ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000,
    "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
}  # fmt: skip
_DURATION_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")


@lru_cache(_KEPT)
def encode_duration(value: str | None) -> str:
    """metav1.Duration: nanoseconds."""
    return sized("\x08" + VARINTS[_parse_duration(value) if value is not None else 0])


def _parse_duration(text: str) -> int:
    if len(text) > _SHORT:
        raise ProtobufError(f'time: invalid duration "{text}"')
    rest = text[1:] if text[:1] in ("+", "-") else text
    total = 0
    at = 0
    if rest != "0":
        while at < len(rest) or not rest:
            found = _DURATION_PART.match(rest, at)
            if found is None or not (found[1] or found[2]):
                raise ProtobufError(f'time: invalid duration "{text}"')
            unit = _UNITS[found[3]]
            total += int(found[1] or "0") * unit
            if found[2]:
                total += int(found[2]) * unit // 10 ** len(found[2])
            at = found.end()
    return -total if text[:1] == "-" else total


@lru_cache(_KEPT)
def decode_duration(payload: bytes) -> str:
    return _duration(_signed64(_numbers(payload, 1)[1]))


def _duration(nanos: int) -> str:
    """As the original writes durations: `1h0m0s`, `1.5s`, `15ms`, `0s`."""
    if nanos == 0:
        return "0s"
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    if nanos < 1_000_000_000:
        unit, size = next((u, s) for u, s in (("ms", 1_000_000), ("µs", 1000), ("ns", 1)) if nanos >= s)
        return f"{sign}{_decimal(nanos, size)}{unit}"
    minutes, rest = divmod(nanos, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    shown = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{shown}{_decimal(rest, 1_000_000_000)}s"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).rjust(len(str(unit)) - 1, '0').rstrip('0')}"


# Quantities and int-or-string


def _text_field(tag: str, value: str) -> str:
    wire = value if value.isascii() else wide(value)
    return f"{tag}{VARINTS[len(wire)]}{wire}"


@lru_cache(_KEPT)
def _short_quantity(value: str | int | float | None) -> str:
    return sized(_text_field("\n", "0" if value is None else value if isinstance(value, str) else str(value)))


def encode_quantity(value: str | int | float | None) -> str:
    """resource.Quantity, as it is written; None is zero."""
    if isinstance(value, str) and len(value) > _SHORT:
        return sized(_text_field("\n", value))
    return _short_quantity(value)


def _quantity(payload: bytes) -> str:
    """As the original would show it."""
    if not payload:
        return "0"
    size, at = read_unsigned(payload, 1)
    if payload[0] != 10 or at + size != len(payload):
        raise ProtobufError(EOF)
    return _amount(as_text(payload[at:]))


def _amount(text: str) -> str:
    try:
        if text.strip(" ") != text:
            parse(text)  # which raises: spaces around it are for JSON only
        return shown(text)
    except QuantityError as error:
        raise BadValue(str(error)) from None


_short_decoded_quantity = lru_cache(_KEPT)(_quantity)


def decode_quantity(payload: bytes) -> str:
    return _quantity(payload) if len(payload) > _SHORT else _short_decoded_quantity(payload)


@lru_cache(_KEPT)
def _short_int_or_string(value: int | str | None) -> str:
    if isinstance(value, str):
        return sized(f"\x08\x01\x10\x00{_text_field(chr(26), value)}")
    return sized(f"\x08\x00\x10{VARINTS[value or 0]}\x1a\x00")


def encode_int_or_string(value: int | str | None) -> str:
    """intstr.IntOrString; None is the number 0."""
    if isinstance(value, str) and len(value) > _SHORT:
        return sized(f"\x08\x01\x10\x00{_text_field(chr(26), value)}")
    return _short_int_or_string(value)


def _int_or_string(payload: bytes) -> int | str:
    if payload[:3] == b"\x08\x00\x10" and payload[3:]:  # a number, as the original writes it
        number, at = read_int32(payload, 3)
        if payload[at:] in (b"", b"\x1a\x00"):
            return number
    kind = number = at = 0
    text = ""
    while at < len(payload):
        tag = payload[at]
        if tag == 8:
            kind, at = read_int64(payload, at + 1)
        elif tag == 16:
            number, at = read_int32(payload, at + 1)
        elif tag == 26:
            size, at = read_unsigned(payload, at + 1)
            text = as_text(payload[at : at + size])
            at += size
            if at > len(payload):
                raise ProtobufError(EOF)
        else:
            raise ProtobufError(EOF)
    return _number_or_text(kind, number, text)


def _number_or_text(kind: int, number: int, text: str) -> int | str:
    if kind not in (0, 1):
        raise ProtobufError("impossible IntOrString.Type")
    return text if kind else number


_short_decoded_int_or_string = lru_cache(_KEPT)(_int_or_string)


def decode_int_or_string(payload: bytes) -> int | str:
    return _int_or_string(payload) if len(payload) > _SHORT else _short_decoded_int_or_string(payload)


# Bytes, numbers, embedded JSON


def encode_bytes(value: str) -> str:
    """Base64 text as wire text without its length."""
    try:
        data = binascii.a2b_base64(value.replace("\n", "").replace("\r", ""), strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise ProtobufError(f"illegal base64 data: {error}") from None
    return data.decode("latin-1")


def decode_bytes(payload: bytes) -> str:
    return binascii.b2a_base64(payload, newline=False).decode("ascii")


def encode_double(value: float) -> str:
    return struct.pack("<d", value).decode("latin-1")


def decode_double(payload: bytes) -> int | float:
    """Whole numbers come as int, for the original writes `1` where Python would write `1.0`."""
    if len(payload) < 8:  # where the data end
        raise ProtobufError(EOF)
    value: float = struct.unpack("<d", payload)[0]
    return int(value) if abs(value) < 1e21 and value.is_integer() else value


def encode_raw(value: Any) -> str:
    """Embedded JSON (FieldsV1, RawExtension, JSON) as the payload of its message, without a length; None is no JSON."""
    if value is None:
        return ""
    raw = orjson.dumps(value).decode("latin-1")
    return f"\n{VARINTS[len(raw)]}{raw}"


def decode_raw(payload: bytes) -> Any:
    if not payload:
        return None
    size, at = read_unsigned(payload, 1)
    if payload[0] != 10 or at + size != len(payload):
        raise ProtobufError(EOF)
    return _embedded(payload[at:])


def _embedded(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return jsonpieces.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadValue(f"embedded object is not JSON: {error}") from None


READERS: Final[dict[str, Callable[[bytes], Any]]] = {
    s.QUANTITY: decode_quantity, s.INT_OR_STRING: decode_int_or_string, s.TIME: decode_time,
    s.MICRO_TIME: decode_micro_time, s.DURATION: decode_duration, s.FIELDS_V1: decode_raw, s.RAW: decode_raw,
    s.JSON: decode_raw,
}  # fmt: skip


def of_parts(kind: str, found: list[Any]) -> Any:
    """The JSON form of what was found in such a message: its fields by number, None where there was none."""
    if kind == s.QUANTITY:
        return "0" if found[0] is None else _amount(found[0])
    if kind == s.INT_OR_STRING:
        return _number_or_text(found[0] or 0, found[1] or 0, found[2] or "")
    if kind == s.DURATION:
        return _duration(found[0] or 0)
    if kind in (s.TIME, s.MICRO_TIME):
        if found[0] is None and found[1] is None:
            return None
        return (_time if kind == s.TIME else _micro_time)(found[0] or 0, found[1] or 0)
    return _embedded(found[0] or b"")
