"""Strings of a document: short, long, in pieces, as text or as bytes that may have to be encoded."""

from __future__ import annotations

import sys
from typing import Final

from pilothouse.machinery.cbor import model, runs
from pilothouse.machinery.cbor.firsts import SHORT_BYTES, SHORT_TEXT
from pilothouse.machinery.cbor.heads import EOF, head
from pilothouse.machinery.cbor.model import TYPES, CBORError
from pilothouse.machinery.cbor.texts import ENCODED

_KINDS: Final = {model.BYTES: (SHORT_BYTES, 0x58), model.TEXT: (SHORT_TEXT, 0x78)}  # short ones, and longer ones
_WITHIN_SIGNS: Final = bytes(range(0x80, 0xC0))  # what in UTF-8 begins none


def many(data: bytes, text: str, at: int, most: int, first: int) -> tuple[list[str], int]:
    """Strings behind each other of less than 256 bytes, of the kind that this first byte tells, no more than `most`;
    and the place behind them. `text` has a sign for each byte, and so have they.
    """
    short, longer = _KINDS[first >> 5]
    found: list[str] = []
    put = found.append
    before = at
    try:
        for _ in range(most):
            size = short[data[at]]
            if size:
                begin, behind = at + 1, at + size
            elif data[at] == longer:
                begin, behind = at + 2, at + 2 + data[at + 1]
            else:
                break
            put(text[begin:behind])
            before, at = at, behind
    except IndexError:
        pass  # the data ends
    return (found, at) if at <= len(data) else (found[:-1], before)


def pairs(data: bytes, text: str, at: int, most: int, first: int) -> tuple[list[str], list[str], int]:
    """The same of names that are less than 24 bytes long, and of the strings behind each of them, all of one kind."""
    short, longer = _KINDS[first >> 5]
    names: list[str] = []
    values: list[str] = []
    put_name, put_value = names.append, values.append
    before = at
    try:
        for _ in range(most):
            size = short[data[at]]
            middle = at + size
            if not size:
                break
            size = short[data[middle]]
            if size:
                begin, behind = middle + 1, middle + size
            elif data[middle] == longer:
                begin, behind = middle + 2, middle + 2 + data[middle + 1]
            else:
                break
            put_name(text[at + 1 : middle])
            put_value(text[begin:behind])
            before, at = at, behind
    except IndexError:
        pass
    return (names, values, at) if at <= len(data) else (names[:-1], values[:-1], before)


class Strings:
    """`at`: the place behind what was read last. `error`: the first thing that is refused. `raw`: whether a byte string
    was no UTF-8; its bytes are then in surrogates. `room`: bytes of JSON that may still come.
    """

    __slots__ = ("at", "data", "error", "raw", "room")

    def __init__(self, data: bytes, room: int) -> None:
        self.data = data
        self.at = 0
        self.error: CBORError | None = None
        self.raw = False
        self.room = room

    def refuse(self, why: str) -> None:
        """All of it: but first it must be known whether the rest is well-formed."""
        if self.error is None:
            self.error = CBORError(why)
            self.room = sys.maxsize

    def _string(self, major: int, size: int, at: int) -> bytes:
        data = self.data
        if size >= 0:
            self.at = at + size
            if self.at > len(data):
                raise CBORError(EOF)
            return data[at : self.at]
        chunks = []
        short = major << 5
        while (first := data[at]) != model.BREAK:
            start = at
            if short <= first < short + 24:
                at += first - short + 1
                start += 1
                run = runs.pieces(first).match(data, start - 1) if data[at] == first else None
                if run is not None:
                    at = run.end()
                    chunks.append(self._joined(major, run[0], first - short))
                    continue
            else:
                found, size, start = head(data, at)
                if found != major or size < 0:
                    raise CBORError(f"cbor: wrong element type {TYPES[found]} for indefinite-length {TYPES[major]}")
                at = start + size
            if at > len(data):
                raise CBORError(EOF)
            chunks.append(data[start:at])
            if major == model.TEXT:
                self._utf8(chunks[-1])
        self.at = at + 1
        return b"".join(chunks)

    def _joined(self, major: int, pieces: bytes, size: int) -> bytes:
        """Pieces of a string, each of `size`, without their heads."""
        joined = bytearray(pieces)
        del joined[:: size + 1]
        if major == model.TEXT and size:
            firsts = pieces[1 :: size + 1]
            whole = firsts.translate(None, _WITHIN_SIGNS) == firsts  # no sign is in two pieces
            self._utf8(bytes(joined) if whole else _WITHIN_SIGNS)
        return bytes(joined)

    def _utf8(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.refuse("cbor: invalid UTF-8 string")
            return ""

    def _byte_text(self, raw: bytes, later: int) -> str:
        if later:
            return ENCODED[later](raw).decode()
        if self.raw:
            return raw.decode("utf-8", "surrogateescape")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raw = True
            return raw.decode("utf-8", "surrogateescape")
