"""Strings of a document: short, long, in pieces, as text or as bytes that may have to be encoded."""

from __future__ import annotations

import sys
from typing import Final

from pilothouse.machinery.cbor import model, runs
from pilothouse.machinery.cbor.heads import EOF, head
from pilothouse.machinery.cbor.model import TYPES, CBORError
from pilothouse.machinery.cbor.texts import ENCODED

_WITHIN_SIGNS: Final = bytes(range(0x80, 0xC0))  # what in UTF-8 begins none


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
