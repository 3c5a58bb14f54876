"""The head of an HTTP/1 request, from bytes: the only place where request lines and headers are judged.

Pure. A client sends the same headers again and again, so a `HeadParser` (one a connection) keeps the last block of
headers it understood and compares bytes before it looks at names. What two parties could read differently (two lengths,
folded or bare-LF lines, NUL) is refused, never repaired.
"""

from __future__ import annotations

import re

from pilothouse.kit.record import record
from pilothouse.serving.http import HeaderList

_METHODS = {name.encode(): name for name in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")}
_VERSION = re.compile(rb"HTTP/(\d)\.(\d)")
_TARGET_BYTES = bytes(range(0x21, 0x7F)) + bytes(range(0x80, 0x100))  # what may stand in a target
_NAME_BYTES = bytes(byte for byte in range(0x21, 0x7F) if byte not in b'"(),/:;<=>?@[\\]{}')
_VALUE_BYTES = b"\t" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))
_HOST = re.compile(rb"[A-Za-z0-9!$%&'()*+,\-.:;=\[\]_~@]*")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_BARE_LF = re.compile(rb"(?<!\r)\n")
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]*://[^/?]*")
_LONGEST_REMEMBERED = 4096
_LARGEST_LENGTH = (1 << 63) - 1
_LONGEST_PATH = 64 << 10  # bytes, escapes included; no name is longer than some hundreds
_MOST_HEADERS = 10_000


class HeadRefused(Exception):
    """A head that is answered by the edge itself. The connection is closed behind the answer.

    `status` and `reason` make the status line; `detail`, where given, stands behind the reason and in the body.
    """

    def __init__(self, status: int, reason: str, detail: str = "", body: str | None = None) -> None:
        self.status = status
        self.line = f"{status} {reason}: {detail}" if detail else f"{status} {reason}"
        self.body = self.line if body is None else body
        super().__init__(self.line)


@record
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
    plain: bool  # one good host, no body, no expectation: nothing to look at twice in an HTTP/1.1 request


class Head:
    """One request's head. `minor` is the 1 of HTTP/1.1; `keep`: the client wants the connection kept.

    `usual`: HTTP/1.1, to be kept, no HEAD: nothing about the answer has to be decided by this head.
    """

    __slots__ = ("fields", "keep", "method", "minor", "query", "raw_path", "usual")

    def __init__(self, method: str, raw_path: bytes, query: str, minor: int, keep: bool, fields: Fields) -> None:
        self.method = method
        self.raw_path = raw_path
        self.query = query
        self.minor = minor
        self.keep = keep
        self.fields = fields
        self.usual = keep and minor > 0 and method != "HEAD"


class HeadParser:
    """Reads heads of one connection, remembering its last headers."""

    __slots__ = ("_block", "_fields")

    def __init__(self) -> None:
        self._block = b""
        self._fields: Fields | None = None

    def parse(self, data: bytes, end: int) -> Head:
        """The head in `data[:end]`, where `end` is the index of the empty line's CRLF CRLF. Raises HeadRefused."""
        line_end = data.find(b"\r\n")
        parts = data[:line_end].split(b" ")
        if len(parts) != 3:
            raise bad_request()
        raw_method, target, version = parts
        minor = 1 if version == b"HTTP/1.1" else _minor_version(version)
        method = _METHODS.get(raw_method) or _other_method(raw_method)
        if not target or target.translate(None, _TARGET_BYTES):
            raise bad_request()
        block = data[line_end + 2 : end + 2]
        fields = self._fields
        if fields is None or block != self._block:
            fields = parse_fields(block)
            if len(block) <= _LONGEST_REMEMBERED:
                self._block, self._fields = block, fields
        if not fields.plain or not minor:
            _check_host_and_version(fields, minor)
        if target[0] == 0x2F and target.find(b"?") < 0 and target.find(b"%") < 0:
            path, query = target, ""
        else:
            path, query = split_target(target)
        if len(path) > _LONGEST_PATH:
            raise HeadRefused(414, "URI Too Long")
        return Head(method, path, query, minor, not fields.close and (minor > 0 or fields.keep_alive), fields)


def _minor_version(version: bytes) -> int:
    match = _VERSION.fullmatch(version)
    if match is None:
        raise bad_request()
    if match[1] != b"1":
        raise HeadRefused(505, "HTTP Version Not Supported", "unsupported protocol version")
    return int(match[2])


def _other_method(method: bytes) -> str:
    if not method or method.translate(None, _NAME_BYTES):
        raise bad_request()
    return method.decode("ascii")


def bad_request(detail: str = "") -> HeadRefused:
    """400, with more words where the original has them."""
    return HeadRefused(400, "Bad Request", detail)


def has_bare_line_feed(data: bytearray, start: int) -> bool:
    """Is a line from `start` on ended by LF alone? Such a head never ends, as we read it."""
    return _BARE_LF.search(data, start) is not None


def split_target(target: bytes) -> tuple[bytes, str]:
    """Path and query of a request target (origin, absolute or asterisk form). Raises HeadRefused."""
    if target[0] != 0x2F:
        target = _strip_authority(target)
    path, _, query = target.partition(b"?")
    if 0x25 in path and _BAD_ESCAPE.search(path):
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


def _check_host_and_version(fields: Fields, minor: int) -> None:
    if fields.hosts > 1:
        raise bad_request()
    if fields.hosts == 0 and minor > 0:
        raise bad_request("missing required Host header")
    if not fields.host_is_good:
        raise bad_request("malformed Host header")
    if fields.chunked and minor == 0:
        raise bad_request()


def parse_fields(block: bytes) -> Fields:
    """Headers from their lines, each ended by CRLF. Raises HeadRefused. Takes time in proportion to the bytes."""
    headers: HeaderList = []
    if block.count(b"\n") > _MOST_HEADERS:
        raise HeadRefused(431, "Request Header Fields Too Large")
    for line in block[:-2].split(b"\r\n") if block else ():
        name, colon, value = line.partition(b":")
        value = value.strip(b" \t")
        if not colon or not name or name.translate(None, _NAME_BYTES) or value.translate(None, _VALUE_BYTES):
            raise _why_refused(line, name)
        headers.append((name.lower(), value))
    return _understand(headers)


def _why_refused(line: bytes, name: bytes) -> HeadRefused:
    if 0x3A not in line or line[0] in b" \t" or 0x0A in line:
        return bad_request()
    if not name or name.translate(None, _NAME_BYTES):
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
    host_is_good = all(_HOST.fullmatch(host) is not None for host in hosts)
    expects_other = any(expectation not in (b"", b"100-continue") for expectation in expectations)
    return Fields(
        headers=tuple(headers),
        length=length,
        chunked=bool(codings),
        close=b"close" in connection,
        keep_alive=b"keep-alive" in connection,
        expects_continue=expectations == [b"100-continue"],
        expects_other=expects_other,
        hosts=len(hosts),
        host_is_good=host_is_good,
        plain=len(hosts) == 1 and host_is_good and not codings and not length and not expectations,
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
