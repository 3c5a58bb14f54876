"""What literals mean: escapes in texts, numbers within their ranges."""

from __future__ import annotations

import re
from typing import Final

from pilothouse.cel.values import UInt

_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(?:([xX][0-9a-fA-F]{2})|(u[0-9a-fA-F]{4})|(U[0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST: Final = 0x10FFFF
LEAST_INT: Final = -(2**63)
MOST_INT: Final = 2**63 - 1
_ENOUGH: Final = 40  # digits
MOST_UINT: Final = 2**64 - 1


class BadLiteral(ValueError):
    """It reads like a literal and is none."""


def _quotes(text: str) -> tuple[str, bool]:
    """What stands between the quotes, and whether backslashes mean themselves."""
    raw = text[0] in "rR"
    body = text[1:] if raw else text
    width = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    return body[width:-width], raw


def text_of(token: str) -> str:
    """A string literal, with its quotes. Raises BadLiteral."""
    body, raw = _quotes(token)
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    if raw or "\\" not in body:
        return body

    def letter(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        value = int(code[1:], 16) if code else int(found[4], 8) if found[4] else None
        if value is not None:
            if value in _SURROGATES or value > _LAST:
                raise BadLiteral("unable to unescape string")
            return chr(value)
        return _SIMPLE[found[5]]

    return _ESCAPE.sub(letter, body)


def bytes_of(token: str) -> bytes:
    """A bytes literal, with its `b` and quotes. Raises BadLiteral."""
    body, raw = _quotes(token[1:])
    if raw or "\\" not in body:
        return body.encode()
    out, at = bytearray(), 0
    for found in _ESCAPE.finditer(body):
        out += body[at : found.start()].encode()
        at = found.end()
        if found[2] or found[3]:
            raise BadLiteral("unable to unescape string")  # bytes have no letters
        if found[1]:
            out.append(int(found[1][1:], 16))
        elif found[4]:
            out.append(int(found[4], 8))
        else:
            out += _SIMPLE[found[5]].encode()
    return bytes(out + body[at:].encode())


def _whole(text: str) -> int:
    """Of absurdly many digits, as many as show that it is too big."""
    digits = text.lstrip("-").removeprefix("0x").lstrip("0")[:_ENOUGH] or "0"
    value = int(digits, 16 if "x" in text else 10)
    return -value if text.startswith("-") else value


def int_of(text: str) -> int:
    """Raises BadLiteral beyond 64 bits."""
    value = _whole(text)
    if not LEAST_INT <= value <= MOST_INT:
        raise BadLiteral("invalid int literal")
    return value


def uint_of(text: str) -> UInt:
    """With its `u`. Raises BadLiteral beyond 64 bits."""
    value = _whole(text[:-1])
    if value > MOST_UINT:
        raise BadLiteral("invalid uint literal")
    return UInt(value)


def float_of(text: str) -> float:
    """Raises BadLiteral where it is too big."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadLiteral("invalid double literal")
    return value
