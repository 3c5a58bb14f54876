"""A whole document as Go's %v and %#v print it, made of its JSON by a few calls: refused patches are quoted so, and are
long.

`map[a:1 b:[x y]]` is the JSON without quotes and with other brackets. What must stay as it is, is inside of texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.machinery.digits import may_have_exponents, may_have_odd_floats
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsonpieces import behind_texts

_MARKS: Final = bytes.maketrans(b",}", b" ]")
_NO_MARKS: Final = bytes(sorted(set(range(256)) - set(b'",{}')))
_NO_BRACKETS: Final = bytes(sorted(set(_NO_MARKS) - set(b"[]")))
_BACKSLASH, _QUOTE = b"\xfe", b"\xff"  # which stand in no UTF-8
_BETWEEN: Final = "\x7f"  # a sign that hardly any text has
_ESCAPES: Final = ((b"\\n", b"\n"), (b"\\t", b"\t"), (b"\\r", b"\r"), (b"\\b", b"\b"), (b"\\f", b"\f"))
_CONTROL: Final = re.compile(rb"\\u00([0-9a-f]{2})")
_SMALL: Final = b"0.0000"  # what begins so, Go writes with an exponent
_OTHERWISE: Final = re.compile(rb"-?[0-9.]+e[+-]?[0-9]+|-?0\.0000[0-9]+")
_ENDS: Final = (b",", b"]", b"}")


def plain_of(value: Any, number: Callable[[float], str]) -> str | None:
    """The text of a map or a list; `number` prints odd floats. None where orjson does not write the value."""
    try:
        return _plain(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), number).decode()
    except TypeError:
        return None


def plains_of(values: list[Any], number: Callable[[float], str]) -> list[str] | None:
    """As `plain_of`, of many. None also where the sign that is to stand between them stands in one."""
    with_signs: list[Any] = [_BETWEEN] * (2 * len(values) - 1)
    with_signs[::2] = values
    text = plain_of(with_signs, number)
    if text is None or text.count(_BETWEEN) != len(values) - 1:
        return None
    return text[1:-1].split(f" {_BETWEEN} ")


def syntax_of(value: Any, number: Callable[[float], str]) -> str | None:
    """As `plain_of`, the text of %#v."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None
    text = text.replace(b"\\\\", _BACKSLASH).replace(b'\\"', _QUOTE)
    odd = b"\\u" in text or not text.decode("utf-8", "replace").isprintable()
    if odd or b"null" in text or _may_have_odd_numbers(text) or _marks_in_texts(text, _NO_BRACKETS):
        parts = text.split(b'"')  # what is not in texts, and by turns what is
        parts[::2] = _as_syntax(_numbers(b'"'.join(parts[::2]), number)).split(b'"')
        if odd:
            parts[1::2] = map(_quoted, parts[1::2])
        text = b'"'.join(parts)
    else:
        text = _as_syntax(text)
    return text.replace(_QUOTE, b'\\"').replace(_BACKSLASH, b"\\\\").decode()


_BRACKETS: Final = bytes.maketrans(b"{[]", b"\x01\x02}")
_SYNTAX: Final = (
    (b"\x01", b"map[string]interface {}{"),
    (b"\x02", b"[]interface {}{"),
    (b",", b", "),
    (b"null", b"interface {}(nil)"),
)


def _as_syntax(text: bytes) -> bytes:
    text = text.translate(_BRACKETS)
    for mark, shown in _SYNTAX:
        text = text.replace(mark, shown)
    return text


def _quoted(text: bytes) -> bytes:
    """What stands in quotes in JSON, as Go has it."""
    if text.isascii() and b"\\u" not in text and b"\x7f" not in text:
        return text
    text = text.replace(_QUOTE, b'\\"').replace(_BACKSLASH, b"\\\\")
    shown = quote(orjson.loads(b'"%b"' % text)).encode()[1:-1]
    return shown.replace(b"\\\\", _BACKSLASH).replace(b'\\"', _QUOTE)


def _plain(text: bytes, number: Callable[[float], str]) -> bytes:
    escaped = b"\\" in text
    if escaped:
        text = text.replace(b"\\\\", _BACKSLASH).replace(b'\\"', _QUOTE)
    text = b"".join([_without_quotes(piece, number) for piece in behind_texts(text)])  # little at a time
    if escaped:
        for escape, sign in _ESCAPES:
            text = text.replace(escape, sign)
        if b"\\u" in text:
            text = _CONTROL.sub(_sign, text)
        text = text.replace(_QUOTE, b'"').replace(_BACKSLASH, b"\\")
    return text


def _without_quotes(text: bytes, number: Callable[[float], str]) -> bytes:
    """A piece of JSON without escaped quotes, with what is not in texts as Go prints it."""
    if b"null" in text or _may_have_odd_numbers(text) or _marks_in_texts(text, _NO_MARKS):
        parts = text.split(b'"')  # what is not in texts, and by turns what is
        parts[::2] = _shown(_numbers(b'"'.join(parts[::2]), number)).split(b'"')
        return b"".join(parts)
    return text.translate(_MARKS, b'"').replace(b"{", b"map[")


def _marks_in_texts(text: bytes, others: bytes) -> bool:
    """Whether some of what is shown otherwise, all but these `others`, stands inside of texts. Quotes are in pairs
    else, with marks between.
    """
    return b'"' in text.translate(None, others).replace(b'""', b"")


def _may_have_odd_numbers(text: bytes) -> bool:
    return _SMALL in text or may_have_odd_floats(text)


def _shown(text: bytes) -> bytes:
    return text.translate(_MARKS).replace(b"null", b"<nil>").replace(b"{", b"map[")


def _numbers(marks: bytes, number: Callable[[float], str]) -> bytes:
    """What stands around the texts, its floats as Go prints them."""
    if not _may_have_odd_numbers(marks):
        return marks
    known: dict[bytes, bytes] = {}

    def printed(found: re.Match[bytes]) -> bytes:
        text = known.get(found[0])
        if text is None:
            text = known[found[0]] = number(float(found[0])).encode()
        return text

    if _SMALL in marks or may_have_exponents(marks):
        marks = _OTHERWISE.sub(printed, marks)
    for end in _ENDS:
        marks = marks.replace(b"-0.0" + end, b"0.0" + end).replace(b".0" + end, end)
    return marks


def _sign(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[1], 16),))
