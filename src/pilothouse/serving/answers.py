"""Answers of HTTP/1 servers, from bytes: where the head ends, how the body is framed, and whether another may follow.

The reader is fed by a connection; what it finds of the body waits in an `Incoming` until somebody takes it. What two
parties could read differently (two lengths, a length beside chunks, folded lines) is refused, never repaired.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from pilothouse.kit.waiter import OneWaiter
from pilothouse.serving.chunks import ChunkDecoder
from pilothouse.serving.http import BodyBroken, BodyTooLarge, HeaderList

_STATUS: Final = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?")
_FRAMING: Final = frozenset({b"Connection", b"Content-Length", b"Transfer-Encoding"})
_NAME: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_SHORT: Final = 128  # lines of that length are remembered
_SMALL: Final = 1024  # all lines of a block of that length are
_BAD_VALUE: Final = re.compile(rb"[\x00\r\n]")


class BrokenAnswer(Exception):
    """What the server sends is not an answer."""


class Incoming(OneWaiter):
    """An answer whose body is still coming. `flow` is told when some of it was taken."""

    __slots__ = ("_error", "_flow", "_pieces", "done", "headers", "held", "length", "status")

    def __init__(self, status: int, headers: HeaderList, length: int | None, flow: Callable[[], None]) -> None:
        self.status = status
        self.headers = headers
        self.length = length  # bytes of body; None where the end tells
        self.held = 0  # bytes that are here and were not taken
        self.done = False  # all of the body came
        self._flow = flow
        self._pieces: deque[bytes] = deque()
        self._error: Exception | None = None
        self._waiter = None

    def put(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.held += len(piece)
        self._wake()

    def complete(self, body: bytes) -> None:
        """The whole body came with the head."""
        if body:
            self._pieces.append(body)
            self.held = len(body)
        self.done = True

    def finish(self) -> None:
        self.done = True
        self._wake()

    def fail(self, error: Exception) -> None:
        """The rest will not come."""
        if not self.done and self._error is None:
            self._error = error
            self._wake()

    async def chunk(self) -> bytes:
        """The next bytes of the body, b"" at its end. Raises what ended it too early."""
        while not self._pieces:
            if self.done:
                return b""
            if self._error is not None:
                raise self._error
            await self._woken()
        if len(self._pieces) == 1:
            data = self._pieces.popleft()
        else:
            data = b"".join(self._pieces)
            self._pieces.clear()
        self.held = 0
        self._flow()
        return data

    def at_once(self) -> bytes | None:
        """All of the body that was not taken, if nothing more is to come; else None, and nothing is taken."""
        if not self.done:
            return None
        pieces = self._pieces
        data = pieces.popleft() if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self.held = 0
        return data

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises BodyTooLarge."""
        pieces: list[bytes] = []
        size = 0
        if self.length is not None and self.length > limit:
            raise BodyTooLarge(limit)
        while piece := await self.chunk():
            size += len(piece)
            if size > limit:
                raise BodyTooLarge(limit)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class AnswerReader:
    """Reads the answer to one request of `method`. `head_limit`: bytes of its head."""

    __slots__ = (
        "_buffer",
        "_chunks",
        "_flow",
        "_left",
        "_limit",
        "_method",
        "done",
        "incoming",
        "keep",
        "rest",
        "untouched",
    )

    def __init__(self, method: str, head_limit: int, flow: Callable[[], None]) -> None:
        self._method = method
        self._limit = head_limit
        self._flow = flow
        self._buffer = b""
        self._chunks: ChunkDecoder | None = None
        self._left: int | None = 0  # bytes of body still to come; None: all until the end of the connection
        self.incoming: Incoming | None = None
        self.untouched = True  # not a byte came
        self.keep = False  # another request may follow
        self.done = False
        self.rest = b""  # what came behind the answer

    def feed(self, data: bytes) -> None:
        """Raises BrokenAnswer."""
        self.untouched = False
        incoming = self.incoming
        while incoming is None:
            data = self._buffer + data if self._buffer else data
            end = data.find(b"\r\n\r\n")
            if end > self._limit or (end < 0 and len(data) > self._limit):
                raise BrokenAnswer(f"the head of the answer is longer than {self._limit} bytes")
            if end < 0:
                self._buffer = data
                return
            self._buffer = b""
            incoming = self.incoming = self._begin(data[:end])
            data = data[end + 4 :]
            if incoming is not None and len(data) == self._left and self._chunks is None:
                self.done = True
                incoming.complete(data)
                return
        self._body(incoming, data)

    def _begin(self, head: bytes) -> Incoming | None:
        """None for a remark before the answer."""
        line, _, block = head.partition(b"\r\n")
        status, minor = _known_status(line) if len(line) < _SHORT else _status(line)
        if 100 <= status < 200 and status != 101:
            return None
        headers = _fields(block)
        length = self._frame(status, headers, minor)
        return Incoming(status, headers, length, self._flow)

    def _frame(self, status: int, headers: HeaderList, minor: bool) -> int | None:
        """How long the body is; None where its end tells."""
        told = [header for header in headers if header[0] in _FRAMING]
        if minor and status == 200 and len(told) == 1 and self._method != "HEAD":
            name, value = told[0]
            if name == b"Content-Length" and value.isdigit() and len(value) < 19:  # as most answers are
                self.keep = True
                self._left = int(value)
                return self._left
        return self._frame_with_care(status, told, minor)

    def _frame_with_care(self, status: int, told: HeaderList, minor: bool) -> int | None:
        lengths: set[bytes] = set()
        chunked = False
        keep = minor
        for name, value in told:
            if name == b"Content-Length":
                lengths.add(value)
            elif name == b"Transfer-Encoding":
                if chunked or value.lower() != b"chunked":
                    raise BrokenAnswer(f"unsupported transfer encoding {value[:100].decode('latin-1')!r}")
                chunked = True
            else:
                words = {word.strip() for word in value.lower().split(b",")}
                keep = b"keep-alive" in words if not minor else keep and b"close" not in words
        if (
            len(lengths) > 1
            or (lengths and chunked)
            or any(not value.isdigit() or len(value) > 18 for value in lengths)
        ):
            raise BrokenAnswer("bad Content-Length in the answer")
        length: int | None = int(lengths.pop()) if lengths else None
        self.keep = keep
        if self._method == "HEAD" or status in (101, 204, 304):
            length, chunked, self._left = 0, False, 0
        elif chunked:
            self._chunks = ChunkDecoder()
        else:
            self._left = length
            self.keep = keep and length is not None
        return None if chunked else length

    def _body(self, incoming: Incoming, data: bytes) -> None:
        if self._chunks is not None:
            try:
                pieces = self._chunks.feed(data)
            except BodyBroken as error:
                raise BrokenAnswer(str(error)) from error
            for piece in pieces:
                incoming.put(piece)
            if self._chunks.done:
                self.rest = self._chunks.rest
                self._finish(incoming)
            return
        left = self._left
        if left is None:
            if data:
                incoming.put(data)
            return
        if len(data) > left:
            data, self.rest = data[:left], data[left:]
        if data:
            incoming.put(data)
        self._left = left - len(data)
        if not self._left:
            self._finish(incoming)

    def _finish(self, incoming: Incoming) -> None:
        self.done = True
        incoming.finish()

    def end_of_input(self) -> None:
        """The server closed: the end of an answer that is framed so."""
        if self.incoming is not None and self._chunks is None and self._left is None:
            self._finish(self.incoming)


def _fields(block: bytes) -> HeaderList:
    if not block:
        return []
    lines = block.split(b"\r\n")
    if len(block) < _SMALL:
        return list(map(_known_line, lines))
    return [_known_line(line) if len(line) < _SHORT else _line(line) for line in lines]


def _line(line: bytes) -> tuple[bytes, bytes]:
    """Name (written as usual: `Content-Type`) and value of a header. Raises BrokenAnswer."""
    colon = line.find(b":")
    value = line[colon + 1 :].strip(b" \t")
    name = None
    if colon > 0:
        name = _known_name(line[:colon]) if colon < _SHORT else _name(line[:colon])
    if name is None or _BAD_VALUE.search(value) is not None:
        raise BrokenAnswer(f"malformed header line {line[:100].decode('latin-1')!r}")
    return name, value


def _name(name: bytes) -> bytes | None:
    """As it is usually written; None for what is no name."""
    if _NAME.fullmatch(name) is None:
        return None
    return b"-".join(part.capitalize() for part in name.split(b"-"))


def _status(line: bytes) -> tuple[int, bool]:
    """The status, and whether HTTP/1.1 is spoken. Raises BrokenAnswer."""
    match = _STATUS.fullmatch(line)
    if match is None:
        raise BrokenAnswer(f"malformed HTTP response {line[:100].decode('latin-1')!r}")
    return int(match[2]), match[1] == b"1"


# Servers say the same in each answer.
_known_line = lru_cache(maxsize=1024)(_line)
_known_name = lru_cache(maxsize=512)(_name)
_known_status = lru_cache(maxsize=128)(_status)
