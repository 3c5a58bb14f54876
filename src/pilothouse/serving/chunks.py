"""Chunked request bodies, from bytes to pieces. Pure: the connection feeds it, the body reader takes what comes out."""

from __future__ import annotations

import re

from pilothouse.serving.http import BodyBroken

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\r\n\x00]*)?")
_LONGEST_LINE = 4096
_LONGEST_TRAILER = 65536


class ChunkDecoder:
    """Takes bytes as they come; `feed` gives the pieces of body in them. After the last chunk `done` is true and
    `rest` holds what belongs to the next request."""

    __slots__ = ("_buffer", "_in_trailer", "_left", "_trailer_seen", "_wants_line_end", "done", "rest")

    def __init__(self) -> None:
        self._buffer = b""
        self._left = 0  # bytes of the present chunk that are still to come
        self._wants_line_end = False  # the CRLF behind a chunk's data
        self._in_trailer = False
        self._trailer_seen = 0
        self.done = False
        self.rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Pieces of the body, none of them empty. Raises BodyBroken."""
        if self._buffer:
            data = self._buffer + data
            self._buffer = b""
        pieces: list[bytes] = []
        position = 0
        while not self.done:
            if self._left:
                piece = data[position : position + self._left]
                if not piece:
                    break
                pieces.append(piece)
                position += len(piece)
                self._left -= len(piece)
                self._wants_line_end = self._left == 0
                continue
            line_end = data.find(b"\r\n", position)
            if line_end < 0:
                self._keep(data[position:])
                break
            self._line(data[position:line_end])
            position = line_end + 2
        if self.done:
            self.rest = data[position:]
        return pieces

    def _keep(self, unfinished: bytes) -> None:
        if len(unfinished) > _LONGEST_LINE:
            raise BodyBroken("header line too long")
        if self._wants_line_end and unfinished not in (b"", b"\r"):
            raise BodyBroken("malformed chunked encoding")
        self._buffer = unfinished

    def _line(self, line: bytes) -> None:
        if self._wants_line_end:
            if line:
                raise BodyBroken("malformed chunked encoding")
            self._wants_line_end = False
        elif self._in_trailer:
            self._trailer_seen += len(line) + 2
            if self._trailer_seen > _LONGEST_TRAILER:
                raise BodyBroken("trailer too long")
            self.done = not line
        else:
            match = _SIZE_LINE.fullmatch(line)
            if match is None or len(line) > _LONGEST_LINE:
                raise BodyBroken("invalid byte in chunk length")
            self._left = int(match[1], 16)
            self._in_trailer = self._left == 0
