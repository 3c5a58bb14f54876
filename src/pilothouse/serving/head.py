"""The head of an HTTP/1 request, from bytes: the only place where request lines and headers are judged.

Pure. A client sends the same headers again and again, so a `HeadParser` (one a connection) keeps the last block of
headers it understood and compares bytes before it looks at names. What two parties could read differently (two lengths,
folded or bare-LF lines, NUL) is refused, never repaired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pilothouse.serving.http import HeaderList

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([^\x00-\x20\x7f]+) HTTP/(\d)\.(\d)")
_HEADER = re.compile(rb"(" + _TOKEN + rb"):[ \t]*((?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)[ \t]*\r\n")
_HEADER_NAME = re.compile(_TOKEN)
_HOST = re.compile(rb"[A-Za-z0-9!$%&'()*+,\-.:;=\[\]_~@]*")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_BARE_LF = re.compile(rb"(?<!\r)\n")
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]*://[^/?]*")
_LONGEST_REMEMBERED = 4096
_LARGEST_LENGTH = (1 << 63) - 1


class HeadRefused(Exception):
    """A head that is answered by the edge itself. The connection is closed behind the answer.

    `status` and `reason` make the status line; `detail`, where given, stands behind the reason and in the body.
    """

    def __init__(self, status: int, reason: str, detail: str = "", body: str | None = None) -> None:
        self.status = status
        self.line = f"{status} {reason}: {detail}" if detail else f"{status} {reason}"
        self.body = self.line if body is None else body
        super().__init__(self.line)


@dataclass(frozen=True, slots=True)
class Fields:
    """What the headers say: to the edge (framing, keeping the connection), and all of them for the request."""

    headers: tuple[tuple[bytes, bytes], ...]
    length: int  # bytes of body that were declared; 0 without a declaration
    chunked: bool
    close: bool
    keep_alive: bool
    expects_continue: bool
    expects_other: bool
    hosts: int
    host_is_good: bool


@dataclass(slots=True)
class Head:
    """One request's head."""

    method: str
    raw_path: bytes
    query: str
    minor: int  # the 1 of HTTP/1.1
    fields: Fields

    @property
    def keep(self) -> bool:
        """Does the client want the connection kept behind the answer?"""
        return not self.fields.close and (self.minor > 0 or self.fields.keep_alive)


class HeadParser:
    """Reads heads of one connection, remembering its last headers."""

    __slots__ = ("_block", "_fields")

    def __init__(self) -> None:
        self._block = b""
        self._fields: Fields | None = None

    def parse(self, data: bytes, end: int) -> Head:
        """The head in `data[:end]`, where `end` is the index of the empty line's CRLF CRLF. Raises HeadRefused."""
        line_end = data.find(b"\r\n")
        match = _REQUEST_LINE.fullmatch(data, 0, line_end)
        if match is None:
            raise bad_request()
        method, target, major, minor = match.groups()
        if major != b"1":
            raise HeadRefused(505, "HTTP Version Not Supported", "unsupported protocol version")
        block = data[line_end + 2 : end + 2]
        fields = self._fields
        if fields is None or block != self._block:
            fields = parse_fields(block)
            if len(block) <= _LONGEST_REMEMBERED:
                self._block, self._fields = block, fields
        raw_path, query = split_target(target)
        head = Head(method.decode("ascii"), raw_path, query, int(minor), fields)
        if minor != b"0" or fields.hosts > 1 or not fields.host_is_good or fields.chunked:
            _check_host_and_version(head)
        return head


def bad_request(detail: str = "") -> HeadRefused:
    """400, with more words where the original has them."""
    return HeadRefused(400, "Bad Request", detail)


def has_bare_line_feed(data: bytes | bytearray) -> bool:
    """Is a line ended by LF alone? Such a head never ends, as we read it."""
    return _BARE_LF.search(data) is not None


def split_target(target: bytes) -> tuple[bytes, str]:
    """Path and query of a request target (origin, absolute or asterisk form). Raises HeadRefused."""
    if target[0] != 0x2F:
        target = _strip_authority(target)
    path, _, query = target.partition(b"?")
    if b"%" in path and _BAD_ESCAPE.search(path):
        raise bad_request()
    return path, query.decode("latin-1")


def _strip_authority(target: bytes) -> bytes:
    if target == b"*":
        return target
    match = _ABSOLUTE.match(target)
    if match is None:
        raise bad_request()
    rest = target[match.end() :]
    return rest if rest.startswith(b"/") else b"/" + rest


def _check_host_and_version(head: Head) -> None:
    fields = head.fields
    if fields.hosts > 1:
        raise bad_request()
    if fields.hosts == 0 and head.minor > 0:
        raise bad_request("missing required Host header")
    if not fields.host_is_good:
        raise bad_request("malformed Host header")
    if fields.chunked and head.minor == 0:
        raise bad_request()


def parse_fields(block: bytes) -> Fields:
    """Headers from their lines, each ended by CRLF. Raises HeadRefused."""
    headers: HeaderList = []
    position, size = 0, len(block)
    match_header = _HEADER.match
    while position < size:
        match = match_header(block, position)
        if match is None:
            raise _why_refused(block, position)
        name, value = match.groups()
        headers.append((name.lower(), value))
        position = match.end()
    return _understand(headers)


def _why_refused(block: bytes, position: int) -> HeadRefused:
    line = block[position : block.index(b"\r\n", position)]
    name, colon, _ = line.partition(b":")
    if not colon or line[:1] in b" \t" or b"\n" in line:
        return bad_request()
    if _HEADER_NAME.fullmatch(name) is None:
        return bad_request("invalid header name")
    return bad_request("invalid header value")


def _understand(headers: HeaderList) -> Fields:
    lengths: list[bytes] = []
    codings: list[bytes] = []
    connection: set[bytes] = set()
    expectations: list[bytes] = []
    hosts: list[bytes] = []
    for name, value in headers:
        if name == b"content-length":
            lengths.append(value)
        elif name == b"transfer-encoding":
            codings.append(value.lower())
        elif name == b"connection":
            connection.update(token.strip() for token in value.lower().split(b","))
        elif name == b"expect":
            expectations.append(value.lower())
        elif name == b"host":
            hosts.append(value)
    length = _length(lengths)
    if codings:
        if codings != [b"chunked"]:
            raise HeadRefused(501, "Not Implemented", body="Unsupported transfer encoding")
        if lengths:
            raise bad_request()  # the two could be believed differently by a proxy before us
    return Fields(
        headers=tuple(headers),
        length=length,
        chunked=bool(codings),
        close=b"close" in connection,
        keep_alive=b"keep-alive" in connection,
        expects_continue=expectations == [b"100-continue"],
        expects_other=any(expectation not in (b"", b"100-continue") for expectation in expectations),
        hosts=len(hosts),
        host_is_good=all(_HOST.fullmatch(host) is not None for host in hosts),
    )


def _length(values: list[bytes]) -> int:
    if not values:
        return 0
    first = values[0]
    if any(value != first for value in values) or not first.isdigit() or len(first) > 19:
        raise bad_request()
    length = int(first)
    if length > _LARGEST_LENGTH:
        raise bad_request()
    return length
