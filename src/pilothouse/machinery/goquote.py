"""Texts in double quotes as Go's %q writes them; error messages are full of them."""

from __future__ import annotations

from typing import Final

import orjson

_SHORT: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip
_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_FEW: Final = 8  # signs that are replaced one after the other
_PART: Final = 65_536  # signs that one call escapes, which lets no other thread run


def quote(text: str) -> str:
    """`"text"`, with what cannot be printed escaped."""
    if text.isprintable():
        if '"' in text or "\\" in text:
            return orjson.dumps(text).decode()  # which escapes these two alike, and much faster than replacing them
        return f'"{text}"'
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    shown = {ord(sign): _shown(sign) for sign in _not_printable(text)}
    if len(shown) <= _FEW:
        for code, escape in shown.items():
            text = text.replace(chr(code), escape)
    else:
        text = "".join([text[at : at + _PART].translate(shown) for at in range(0, len(text), _PART)])
    return f'"{text}"'


def _not_printable(text: str) -> set[str]:
    if text.isascii():
        return set(text.encode().translate(None, _PRINTABLE).decode())
    return {sign for sign in set(text) if not sign.isprintable()}


def _shown(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
