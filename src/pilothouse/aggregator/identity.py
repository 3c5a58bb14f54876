"""Headers between a front and the servers behind it: who asks (Kubernetes documentation, "Authenticating Proxy").

What the caller says of itself in the same words is taken off first: nobody may name himself. A client sends the same
headers again and again, so what becomes of them is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pilothouse.kit.record import record
from pilothouse.registry.request import Caller
from pilothouse.serving.http import HeaderList

Headers = tuple[tuple[bytes, bytes], ...]

# Of one connection only, of the framing, or secret; `host` is that of the backend.
_NOT_PASSED: Final = frozenset(
    {
        b"authorization", b"connection", b"content-length", b"expect", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
        b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-uri",
        b"x-remote-group", b"x-remote-uid", b"x-remote-user",
    }
)  # fmt: skip
_NOT_PASSED_PREFIXES: Final = (b"x-remote-extra-", b"impersonate-")
_NOT_RETURNED: Final = frozenset(
    {
        b"Audit-Id", b"Connection", b"Content-Length", b"Date", b"Keep-Alive", b"Proxy-Authenticate",
        b"Proxy-Connection", b"Te", b"Trailer", b"Transfer-Encoding", b"Upgrade",
    }
)  # fmt: skip
_TOKEN: Final = frozenset(b"!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_REMEMBERED: Final = 512  # sets of headers, of these sizes: bytes of values, headers
_SMALL: Final = 2048
_FEW: Final = 40


@lru_cache(maxsize=_REMEMBERED)
def identity(caller: Caller) -> Headers:
    """The headers that say who asks."""
    headers = [(b"X-Remote-User", _value(caller.name))]
    if caller.uid:
        headers.append((b"X-Remote-Uid", _value(caller.uid)))
    headers += [(b"X-Remote-Group", _value(group)) for group in caller.groups]
    for key, values in caller.extra:
        name = b"X-Remote-Extra-" + escaped(key)
        headers += [(name, _value(value)) for value in values]
    return tuple(headers)


def _value(text: str) -> bytes:
    """As bytes of one line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ").encode("utf-8", "replace")


def escaped(key: str) -> bytes:
    """A key as the end of a header's name; what may not stand there, and "%", is percent-encoded."""
    return b"".join(b"%c" % byte if byte in _TOKEN else b"%%%02X" % byte for byte in key.lower().encode())


@record
class Passed:
    """What is sent on of a client's headers.

    `lines`: all but X-Forwarded-Uri. `protocol`: what the client wants to change to, None for nothing.
    """

    lines: bytes
    protocol: bytes | None


class Rewriter:
    """Turns the headers of clients into those for a server behind. One for each, as it remembers what it made."""

    __slots__ = ("_known", "_last", "_last_key")

    def __init__(self) -> None:
        self._known: dict[tuple[Headers, str, Caller, bytes], Passed] = {}
        self._last_key: tuple[Headers, str, Caller, bytes] | None = None  # comparing is cheaper than hashing
        self._last = Passed(b"", None)

    def __call__(self, headers: Headers, peer: str, caller: Caller, authority: bytes) -> Passed:
        """`headers`: those of the client, who is at `peer`. `authority`: host:port of the server."""
        key = headers, peer, caller, authority
        if key == self._last_key:
            return self._last
        passed = self._known.get(key)
        if passed is None:
            passed = _passed(*key)
            if len(headers) >= _FEW or sum(len(value) for _, value in headers) >= _SMALL:
                return passed
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = passed
        self._last_key, self._last = key, passed
        return passed


def _passed(headers: Headers, peer: str, caller: Caller, authority: bytes) -> Passed:
    through = b"".join(value + b", " for name, value in headers if name == b"x-forwarded-for")
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    passed = [header for header in headers if header[0] not in named and _may_pass(header[0])]
    asked = [value for name, value in headers if name == b"upgrade" and value]
    protocol = asked[-1] if asked and b"upgrade" in named else None
    whole = [
        (b"Host", authority),
        *passed,
        (b"X-Forwarded-For", through + peer.encode()),
        (b"X-Forwarded-Host", authority),
        (b"X-Forwarded-Proto", b"https"),
        *identity(caller),
    ]
    if protocol is not None:
        whole += [(b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
    return Passed(b"".join(b"%b: %b\r\n" % header for header in whole), protocol)


def _may_pass(name: bytes) -> bool:
    """Some frameworks take `_` and `-` in names for the same, so that they could be told of another caller."""
    plain = name.replace(b"_", b"-")
    return plain not in _NOT_PASSED and not plain.startswith(_NOT_PASSED_PREFIXES)


def returned(headers: HeaderList) -> HeaderList:
    """The headers of a backend's answer, as our own."""
    return [header for header in headers if header[0] not in _NOT_RETURNED]
