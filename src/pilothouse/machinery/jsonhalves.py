"""Halves of signs that are escaped in JSON (`"\\ud800"`): the fast parser refuses them, the original reads U+FFFD."""

from __future__ import annotations

import re
from typing import Final

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery.jsonpieces import PIECE

_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF: Final = re.compile(  # it begins with what can be searched for quickly
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!%b)|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})" % _LOW
)
_HALF_TEXT: Final = re.compile(_HALF.pattern.decode())


def with_whole_escapes(data: bytes) -> bytes:
    """A document with U+FFFD for each escaped half of a sign that has no other half beside it; it is as long."""
    if (b"\\ud" not in data and b"\\uD" not in data) or b"\0" in data:
        return data
    plain = data.replace(b"\\\\", b"\0\0")
    if _HALF.search(plain) is None:
        return data
    parts = []
    at = 0
    while at < len(plain):  # others have their turn between the parts
        end = plain.find(b'"', at + PIECE)
        end = len(plain) if end < 0 else end
        parts.append(_HALF.sub(rb"\\ufffd", plain[at:end]))
        at = end
    return b"".join(parts).replace(b"\0\0", b"\\\\")


def may_have_halves(text: str) -> bool:
    """Whether there may be lone surrogates, which texts of the value must not have: as they are, or escaped."""
    escaped = "\\ud" in text or "\\uD" in text
    return (escaped and _HALF_TEXT.search(text) is not None) or (not text.isascii() and whole_text(text) is not text)
