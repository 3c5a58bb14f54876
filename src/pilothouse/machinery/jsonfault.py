"""Where to look for what is wrong with a long text that is no JSON, without reading all of it slowly.

The fast parser says where it stopped. What stands before that is well-formed, so the exact reader can begin at the last
bracket or comma before, if it is told which containers are open there.
"""

from __future__ import annotations

from typing import Final

_OTHERS: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_OPENING: Final = b"[{"
_CLOSING: Final = str.maketrans("[{", "]}")
_MOST_PASSES: Final = 8


def sign_before(text: str, stop: int) -> tuple[int, str] | None:
    """The place of the last bracket that opens, or comma, before `stop`, and the brackets that are open there; the
    beginning where there is none. None where what is before `stop` is not well-formed after all.
    """
    # Quotes that begin or end no text are out of the way. Escapes stand in texts only.
    plain = text.replace("\\\\", "__").replace('\\"', "__") if "\\" in text else text
    end = stop
    inside = plain.count('"', 0, end) % 2 == 1
    while end > 0:
        start = plain.rfind('"', 0, end)
        if not inside:
            place = max(plain.rfind(sign, start + 1, end) for sign in ",[{")
            if place >= 0:
                around = _open(plain[:place])
                return None if around is None else (place, around)
        end, inside = start, not inside
    return 0, ""


def beginning(data: bytes, size: int) -> bytes:
    """The elements that begin a well-formed document, about `size` bytes of them, in brackets that are closed."""
    text = data[:size].decode("latin-1")
    found = sign_before(text, len(text))
    if found is None:
        return data
    place, around = found
    if text[place] != ",":
        around += text[place]
        place += 1
    return (text[:place] + around[::-1].translate(_CLOSING)).encode("latin-1")


def _open(before: str) -> str | None:
    """The brackets that are open behind a text that begins a document."""
    brackets = before.encode("utf-8", "replace").translate(None, _OTHERS).replace(b'""', b"")
    if b'"' in brackets:  # there are some in texts
        brackets = b"".join(brackets.split(b'"')[::2])
    for _ in range(_MOST_PASSES):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    opened = bytearray()
    for bracket in brackets:
        if bracket in _OPENING:
            opened.append(bracket)
        elif not opened:
            return None
        else:
            opened.pop()
    return opened.decode()
