"""Answers as bytes: status lines, headers in the order of the original, and how a body is framed.

The rules (recorded from kube-apiserver): the handler's headers sorted by name, then Date, then Content-Length for a
body of up to 2,048 bytes, and Transfer-Encoding: chunked for a longer one, unless the handler declares a length.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from time import gmtime

from pilothouse.serving.http import HeaderList

LONGEST_WITH_LENGTH = 2048  # bytes of body that are sent with Content-Length
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OTHER_NAMES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Request Entity Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Entity",
    HTTPStatus.REQUEST_URI_TOO_LONG: "Request URI Too Long",
    HTTPStatus.IM_A_TEAPOT: "I'm a teapot",
}
_LINES = {
    (minor, int(status)): f"HTTP/1.{minor} {int(status)} {_OTHER_NAMES.get(status, status.phrase)}\r\n".encode()
    for minor in (0, 1)
    for status in HTTPStatus
}


_LINES_WITH_BODY = {
    status: line for (minor, status), line in _LINES.items() if minor and status >= 200 and status not in (204, 304)
}


class HeaderInjected(Exception):
    """A header of an answer holds a line break: it would be read as another header, or another answer."""


class DateHeader:
    """The line `Date: ...`, made once a second. `wall` gives seconds since 1970."""

    __slots__ = ("_line", "_second", "_wall")

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._second = -1
        self._line = b""

    def __call__(self) -> bytes:
        second = int(self._wall())
        if second != self._second:
            self._second = second
            self._line = b"Date: " + http_date(second) + b"\r\n"
        return self._line


def http_date(second: int) -> bytes:
    """`Sun, 29 Nov 2026 21:10:47 GMT`, whatever the process's locale."""
    t = gmtime(second)
    return (
        f"{_DAYS[t.tm_wday]}, {t.tm_mday:02d} {_MONTHS[t.tm_mon - 1]} {t.tm_year:04d} "
        f"{t.tm_hour:02d}:{t.tm_min:02d}:{t.tm_sec:02d} GMT"
    ).encode()


def status_line(minor: int, status: int) -> bytes:
    """`HTTP/1.1 200 OK` and its line end. A status without a name gets `status code N`, as the original does."""
    line = _LINES.get((minor, status))
    return f"HTTP/1.{minor} {status} status code {status}\r\n".encode() if line is None else line


class Framing:
    """What the sender of an answer must know beside the bytes of its head."""

    __slots__ = ("chunked", "close", "has_body", "head")

    def __init__(self, head: bytes, chunked: bool, close: bool, has_body: bool) -> None:
        self.head = head
        self.chunked = chunked
        self.close = close  # the end of the body is the end of the connection, or the connection shall not be kept
        self.has_body = has_body


class _Plan:
    """How headers of these names, in this order, are written: made once for each set of names that handlers use."""

    __slots__ = ("frames", "has_date", "has_length", "lines", "order", "template")

    def __init__(self, names: tuple[bytes, ...]) -> None:
        kept = [index for index, name in enumerate(names) if name not in _DECIDED_HERE]
        order = sorted(kept, key=names.__getitem__)
        self.order = None if order == list(range(len(names))) else order
        self.template = b"".join(names[index].replace(b"%", b"%%") + b": %b\r\n" for index in order)
        self.lines = len(order)
        self.has_date = b"Date" in names
        self.has_length = b"Content-Length" in names
        self.frames = self.has_date or self.has_length or len(kept) < len(names)  # says something of the framing


_DECIDED_HERE = (b"Connection", b"Transfer-Encoding")  # framing is not left to handlers, nor to proxied servers
_MOST_PLANS = 512


class ReplyWriter:
    """Writes heads. One for each edge; it remembers how it wrote headers of the same names before."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.date = DateHeader(wall)
        self._plans: dict[tuple[bytes, ...], _Plan] = {}

    def _plan(self, names: tuple[bytes, ...]) -> _Plan:
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        plan = self._plans[names] = _Plan(names)
        return plan

    def headers(self, headers: HeaderList) -> tuple[bytes, _Plan]:
        """The lines of a handler's headers, and how they were made. Raises HeaderInjected."""
        names: tuple[bytes, ...]
        values: tuple[bytes, ...]
        names, values = zip(*headers, strict=True) if headers else ((), ())
        plan = self._plans.get(names) or self._plan(names)
        if plan.order is not None:
            values = tuple([values[index] for index in plan.order])
        block = plan.template % values
        if block.count(b"\n") != plan.lines or block.count(b"\r") != plan.lines:
            raise HeaderInjected("a header of an answer holds a line break")
        return block, plan

    def short(self, status: int, headers: HeaderList, body: bytes) -> bytes | None:
        """All of an answer with a short body, where the connection is kept and HTTP/1.1 is spoken.

        None where `frame` has to decide something: no body allowed, or headers that frame the answer. Raises
        HeaderInjected.
        """
        block, plan = self.headers(headers)
        line = _LINES_WITH_BODY.get(status)
        if plan.frames or line is None:
            return None
        size = len(body)
        if size <= LONGEST_WITH_LENGTH:
            return b"%b%b%bContent-Length: %d\r\n\r\n%b" % (line, block, self.date(), size, body)
        return b"%b%b%bTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (
            line,
            block,
            self.date(),
            size,
            body,
        )

    def frame(
        self, status: int, headers: HeaderList, size: int | None, *, minor: int, is_head: bool, keep: bool
    ) -> Framing:
        """The head of an answer of `size` bytes (None: a stream). Raises HeaderInjected.

        `keep`: the connection may be kept, as far as client and server are concerned.
        """
        block, plan = self.headers(headers)
        body_allowed = status >= 200 and status not in (204, 304)
        keep = keep and (b"Connection", b"close") not in headers
        lines = [status_line(minor, status), block]
        if not plan.has_date:
            lines.append(self.date())
        chunked = False
        if not plan.has_length and body_allowed:
            if size is not None and size <= LONGEST_WITH_LENGTH:
                lines.append(b"Content-Length: %d\r\n" % size)
            elif not is_head:
                chunked = minor > 0
                keep = keep and chunked
        if not keep and minor > 0:
            lines.append(b"Connection: close\r\n")
        elif keep and minor == 0:
            lines.append(b"Connection: keep-alive\r\n")
        if chunked:
            lines.append(b"Transfer-Encoding: chunked\r\n")
        lines.append(b"\r\n")
        return Framing(b"".join(lines), chunked, not keep, body_allowed and not is_head)


def bare_head(status: int, headers: HeaderList) -> bytes:
    """A head that is sent as it is (upgrades). Raises HeaderInjected."""
    lines = [b"%b: %b\r\n" % header for header in headers]
    block = b"".join(lines)
    if block.count(b"\n") != len(lines) or block.count(b"\r") != len(lines):
        raise HeaderInjected(f"a header of a {status} answer holds a line break")
    return status_line(1, status) + block + b"\r\n"


def refusal(line: str, body: str) -> bytes:
    """A whole answer to a request that never reached a handler; the connection is closed behind it."""
    return (f"HTTP/1.1 {line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n{body}").encode(
        "latin-1"
    )


def expectation_failed(date: bytes) -> bytes:
    """The answer to an `Expect` that nobody knows."""
    return b"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n" + date + b"Content-Length: 0\r\n\r\n"
