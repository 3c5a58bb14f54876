"""The scalars that are more than a JSON type: quantities, times, bytes, numbers.

Each takes a parsed JSON value that is not null and returns what is kept of it; Mismatch when `explain` has to say
what is wrong.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence
from itertools import islice
from operator import le
from typing import Any

from pilothouse.kit.runs import RUN, doubtful
from pilothouse.kit.sorting import in_order
from pilothouse.machinery import quantity as quantities
from pilothouse.machinery import quantitylists, times
from pilothouse.machinery.decode.findings import DecodeError, Findings, Mismatch
from pilothouse.machinery.jsoncodec import Literal, go_float, plain_floats

INT32_LEAST = -(2**31)
INT32_MOST = 2**31 - 1
INT64_LEAST = -(2**63)
INT64_MOST = 2**63 - 1
_DEEPEST = 450  # levels of what has no type
_MANY = 64  # members, which are worth a look at all of them together
_TEXTS = {str}
_TEXTS_OR_NULL = {str, type(None)}
_OF_QUANTITIES = {str, int, float, type(None)}
SHORT_MAP = RUN  # members
SMALL = 1e-300  # what is smaller may have an exponent that no quantity has


def quantity(value: Any, findings: Findings) -> str:
    """A text or a number. A float without its literal text is noted as inexact: `1e3` and `1000.0` differ."""
    try:
        if value.__class__ is str:
            return quantities.shown(value)
        if isinstance(value, Literal):
            return quantities.shown(value.text)
        if value.__class__ is float:
            findings.inexact = True
            return quantities.shown(go_float(value))
        if value.__class__ is int:
            return quantities.shown(str(value))
    except quantities.QuantityError:
        raise Mismatch from None
    raise Mismatch


def time(value: Any) -> str | None:
    """None for the zero time, which is shown as null."""
    if value.__class__ is not str:
        raise Mismatch
    try:
        return times.canonical_time(value)
    except times.TimeError:
        raise Mismatch from None


def micro_time(value: Any) -> str | None:
    """None for the zero time, which is shown as null."""
    if value.__class__ is not str:
        raise Mismatch
    try:
        return times.canonical_micro_time(value)
    except times.TimeError:
        raise Mismatch from None


def duration(value: Any) -> str:
    """A Go duration in its canonical form."""
    if value.__class__ is not str:
        raise Mismatch
    try:
        return times.format_duration(times.parse_duration(value))
    except times.TimeError:
        raise Mismatch from None


def octets(value: Any) -> str:
    """Base64 in its canonical form (no line breaks, no stray bits)."""
    if value.__class__ is not str:
        raise Mismatch
    try:
        raw = binascii.a2b_base64(value, strict_mode=True)
    except (binascii.Error, ValueError):
        raw = unbase64(value)
    return binascii.b2a_base64(raw, newline=False).decode("ascii")


def unbase64(text: str) -> bytes:
    """Base64 with line breaks anywhere, padding required. Raises DecodeError with Go's text."""
    data = text.encode("utf-8", "surrogatepass")
    kept = data.translate(None, b"\r\n")
    wrong = _wrong_at(data)
    if wrong is not None:
        raise DecodeError(f"illegal base64 data at input byte {wrong}")
    return binascii.a2b_base64(kept)


_PLAIN = re.compile(rb"[A-Za-z0-9+/\r\n]*+")
_SIGN = re.compile(rb"[^\r\n]")
_PADDING = b"="


def _wrong_at(data: bytes) -> int | None:
    """The byte that Go names: a bad sign itself, or the start of what an incomplete group has read."""
    plain = _PLAIN.match(data)
    at = plain.end() if plain is not None else 0
    group = (at - data.count(b"\r", 0, at) - data.count(b"\n", 0, at)) % 4
    if at == len(data):
        return len(data) - group if group else None
    return _wrong_padding(data, at, group) if data.startswith(_PADDING, at) else at


def _wrong_padding(data: bytes, at: int, group: int) -> int | None:
    if group < 2:
        return at
    following = _SIGN.search(data, at + 1)
    if group == 2:
        if following is None:
            return len(data)
        if following[0] != _PADDING:
            return following.start() - 1
        following = _SIGN.search(data, following.end())
    return following.start() if following is not None else None


def int_or_string(value: Any) -> int | str:
    """Text, or an int32."""
    if value.__class__ is str or (value.__class__ is int and INT32_LEAST <= value <= INT32_MOST):
        return value
    raise Mismatch


def float64(value: Any) -> int | float:
    """A number; whole ones become int, as Go writes them without a point."""
    if value.__class__ is int or isinstance(value, float):
        made: int | float = plain_floats(value)
        return made
    raise Mismatch


def strings(value: Any) -> list[str]:
    """A list of texts, null in it being the empty text. The list itself is kept where it can be."""
    if value.__class__ is not list:
        raise Mismatch
    if len(value) > _MANY:
        if set(map(type, value)) == _TEXTS:
            return value
    else:
        for item in value:
            if item.__class__ is not str:
                break
        else:
            return value
    if any(item is not None and item.__class__ is not str for item in value):
        raise Mismatch
    return ["" if item is None else item for item in value]


def string_map(value: Any, findings: Findings) -> dict[str, str]:
    """A map of texts, sorted by key (or noted as one that is not), null in it being the empty text."""
    if value.__class__ is not dict:
        raise Mismatch
    if len(value) > RUN:
        kinds = set(map(type, value.values()))
        if not kinds <= _TEXTS_OR_NULL:
            raise Mismatch
        if kinds != _TEXTS:
            value = {name: "" if item is None else item for name, item in value.items()}
        return _sorted_texts(value, findings)
    made = {}
    for key in in_order(value):
        item = value[key]
        if item.__class__ is not str:
            if item is not None:
                raise Mismatch
            item = ""
        made[key] = item
    return made


def _sorted_texts(value: dict[str, str], findings: Findings) -> dict[str, str]:
    if all(map(le, value, islice(value, 1, None))):
        return value
    if findings.unordered is not None:
        findings.unordered.append(value)
        return value
    return {name: value[name] for name in in_order(value)}


def quantity_map(value: Any, findings: Findings) -> dict[str, str]:
    """A map of quantities, sorted by key, null in it being zero."""
    if value.__class__ is not dict:
        raise Mismatch
    if len(value) > RUN:
        if set(map(type, value.values())) == _TEXTS:
            return _texts_of_quantities(value, findings)
        for _, item in doubtful(list(value.values()), are_quantities):  # one that is refused is found at once
            if item is not None:
                quantity(item, findings)
    made = {}
    for key in in_order(value):
        item = value[key]
        if item.__class__ is str:
            made[key] = quantities.shown(item)
        else:
            made[key] = "0" if item is None else quantity(item, findings)
    return made


def are_quantities(values: Sequence[Any]) -> bool:
    """Whether surely none of some JSON values is refused as a quantity."""
    kinds = set(map(type, values))
    if kinds != _TEXTS:
        if not kinds <= _OF_QUANTITIES:
            return False
        if any(abs(item) < SMALL for item in values if item.__class__ is float):
            return False
        values = [item for item in values if item.__class__ is str]
    return quantitylists.are_readable(values)


def _texts_of_quantities(sent: dict[str, str], findings: Findings) -> dict[str, str]:
    texts = list(sent.values())
    shown = quantitylists.shown_all(texts)
    if shown == texts:  # of what others have, a copy: it may be put in order
        return string_map(sent if findings.owned else dict(sent), findings)
    return string_map(dict(zip(sent, shown, strict=True)), findings)


def quantity_list(value: Any, findings: Findings) -> list[str]:
    """A list of quantities, null in it being zero."""
    if value.__class__ is not list:
        raise Mismatch
    if len(value) > RUN and set(map(type, value)) == _TEXTS:
        return quantitylists.shown_all(value)
    return ["0" if item is None else quantity(item, findings) for item in value]


def a_list(value: Any) -> list[Any]:
    if value.__class__ is not list:
        raise Mismatch
    return value


def a_map(value: Any) -> dict[str, Any]:
    if value.__class__ is not dict:
        raise Mismatch
    return value


def text(value: Any) -> str:
    if value.__class__ is not str:
        raise Mismatch
    return value


def boolean(value: Any) -> bool:
    if value.__class__ is not bool:
        raise Mismatch
    return value


def int32(value: Any) -> int:
    if value.__class__ is not int or not INT32_LEAST <= value <= INT32_MOST:
        raise Mismatch
    return value


def int64(value: Any) -> int:
    if value.__class__ is not int or not INT64_LEAST <= value <= INT64_MOST:
        raise Mismatch
    return value


def any_json(value: Any) -> Any:
    """Any value, maps sorted by key, numbers as Go writes them. Raises RecursionError."""
    return _any_json(value, 1)


def _any_json(value: Any, level: int) -> Any:
    if type(value) is not dict and type(value) is not list:
        return plain_floats(value)
    if level > _DEEPEST:
        raise RecursionError
    if type(value) is dict:
        return {key: _any_json(value[key], level + 1) for key in in_order(value)}
    return [_any_json(item, level + 1) for item in value]
