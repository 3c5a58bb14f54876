"""Strings of a document: short, long, in pieces, as text or as bytes that may have to be encoded; and names."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor.heads import EOF
from pilothouse.machinery.cbor.model import BREAK, INDEFINITE, TYPES, CBORError
from pilothouse.machinery.cbor.numbers import Numbers
from pilothouse.machinery.cbor.texts import BAD, ENCODED, shown
from pilothouse.machinery.schema import Schema

TEXT: Final = 0x60  # the first of the first bytes of texts: those of byte strings are before them
# Strings whose length is in their first byte: how long they are with it, else 0.
SHORT: Final = bytes((first & 31) + 1 if 0x40 <= first < 0x80 and first & 31 < 24 else 0 for first in range(256))
SHORT_TEXT: Final = bytes(size if first >= TEXT else 0 for first, size in enumerate(SHORT))
_BAD_BYTES: Final = BAD.encode()
_BAD_TEXT: Final = "cbor: invalid UTF-8 string"


class Strings(Numbers):
    """`bad`: whether a byte string was no UTF-8; `misnamed`: whether a name was none: its bytes are in surrogates,
    since names need not be equal that are shown as equal. `no_base64`: the first string that is none where base64
    belongs.
    """

    __slots__ = ("bad", "misnamed", "no_base64")

    def __init__(self, data: bytes, room: int) -> None:
        super().__init__(data, room)
        self.bad = self.misnamed = False
        self.no_base64: str | None = None

    def string(self, first: i64, schema: Schema | None, later: i64) -> str:
        """The string that is next, of this type. `later`: what bytes are to become, the number of a tag."""
        if first & 31 == INDEFINITE:
            raw = self._pieces(first)
        else:
            begin = self.at + 2
            if first & 31 == 24:
                size: i64 = self.data[begin - 1]
                self.at = begin + size
            else:
                begin = self._begin()
            if self.error is not None:
                return ""
            text = self.text[begin : self.at]
            if text.isascii() and not (later and first < TEXT):
                return text
            raw = self.data[begin : self.at]
        if later and first < TEXT:
            return ENCODED[later](raw).decode()
        return self.decoded(first, raw, schema)

    def step_string(self, first: i64) -> None:
        """Steps over the string that is next."""
        if first & 31 == INDEFINITE:
            raw = self._pieces(first)
            if first >= TEXT and not _is_utf8(raw):
                self.refuse(_BAD_TEXT)
            return
        begin = self._begin()
        if first >= TEXT and self.error is None and not self.text[begin : self.at].isascii():
            self.check(begin, self.at)

    def check(self, begin: i64, behind: i64) -> None:
        """Refuses a text that is no UTF-8."""
        if not _is_utf8(self.data[begin:behind]):
            self.refuse(_BAD_TEXT)

    def decoded(self, first: i64, raw: bytes, schema: Schema | None) -> str:
        """The text of a string, of this type; BAD stands for each byte that is no UTF-8."""
        if first < TEXT and not _has_pairs(raw):
            self.bad = True
            text = raw.decode("ascii", "replace")
        else:
            text = raw.decode("utf-8", "replace")  # which is quicker than an error
            if BAD in text and (_BAD_BYTES not in raw or not _is_utf8(raw)):
                if first >= TEXT:
                    self.refuse(_BAD_TEXT)
                    return ""
                self.bad = True
                text = shown(raw, text)
        if schema is not None and self.no_base64 is None and schema.kind == s.BYTES and not text.isascii():
            self.no_base64 = text
        return text

    def name(self, first: i64) -> str | None:
        """The string that is next, as the name of a member; None if that is refused."""
        if first & 31 == INDEFINITE:
            raw = self._pieces(first)
        else:
            begin = self._begin()
            text = self.text[begin : self.at]
            if text.isascii():
                return text
            raw = self.data[begin : self.at]
        text = raw.decode("utf-8", "replace")
        if BAD not in text:
            return text
        if first >= TEXT:
            if _is_utf8(raw):
                return text
            self.refuse(_BAD_TEXT)
            return None
        self.bad = self.misnamed = True
        return raw.decode("utf-8", "surrogateescape")

    def _begin(self) -> i64:
        """Where the string begins whose head is next. It is stepped over."""
        size = self.argument()
        begin = self.at
        if size < 0 or size > self.end - begin:
            raise CBORError(EOF)
        self.at = begin + size
        return begin

    def _pieces(self, first: i64) -> bytes:
        """A string in pieces."""
        data = self.data
        pieces: list[bytes] = []
        major = first >> 5
        text = major == TEXT >> 5
        at = self.at + 1
        while True:
            if at >= self.turn:
                self.pause(at, 0)
            first = data[at]
            if first == BREAK:
                break
            if first >> 5 != major or first & 31 == INDEFINITE:
                self.at = at
                if not (first & 31 == INDEFINITE and 0x40 <= first < 0xC0):
                    self.argument()
                raise CBORError(f"cbor: wrong element type {TYPES[first >> 5]} for indefinite-length {TYPES[major]}")
            info: i64 = first & 31
            begin = at + 1
            at = begin + info
            if info > 23:
                self.at = begin - 1
                begin = self._begin()
                at = self.at
            if begin != at:
                if text and 0x80 <= data[begin] < 0xC0:
                    self.refuse(_BAD_TEXT)  # the end of a sign, whose beginning is in another piece
                pieces.append(data[begin:at])
        self.at = at + 1
        return b"".join(pieces)


def _has_pairs(raw: bytes) -> bool:
    """Whether there may be signs of more than a byte in it."""
    before: i64 = 0
    at: i64 = 0
    end: i64 = len(raw)
    while at < end:
        byte: i64 = raw[at]
        if 0x80 <= byte < 0xC0 <= before:
            return True
        before = byte
        at += 1
    return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
