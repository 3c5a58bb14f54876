"""Headers between a front and the servers behind it: who asks (Kubernetes documentation, "Authenticating Proxy").

What the caller says of itself in the same words is taken off first: nobody may name himself. A client sends the same
headers again and again, so what becomes of them is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pilothouse.registry.request import Caller
from pilothouse.serving.http import HeaderList

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
def identity(caller: Caller) -> tuple[tuple[bytes, bytes], ...]:
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


def forwarded(
    headers: tuple[tuple[bytes, bytes], ...], peer: str, caller: Caller, authority: bytes, uri: bytes
) -> bytes:
    """The header lines of a request to `authority` (host:port). `headers`: those of the client, who is at `peer`."""
    size = sum(len(value) for _, value in headers)
    kept = _kept if size < _SMALL and len(headers) < _FEW else _kept.__wrapped__
    return b"%bX-Forwarded-Uri: %b\r\n" % (kept(headers, peer, caller, authority), uri)


@lru_cache(maxsize=_REMEMBERED)
def _kept(headers: tuple[tuple[bytes, bytes], ...], peer: str, caller: Caller, authority: bytes) -> bytes:
    """All of the lines that do not change with the path."""
    through = b"".join(value + b", " for name, value in headers if name == b"x-forwarded-for")
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    passed = [header for header in headers if header[0] not in named and _may_pass(header[0])]
    whole = [
        (b"Host", authority),
        *passed,
        (b"X-Forwarded-For", through + peer.encode()),
        (b"X-Forwarded-Host", authority),
        (b"X-Forwarded-Proto", b"https"),
        *identity(caller),
    ]
    return b"".join(b"%b: %b\r\n" % header for header in whole)


def _may_pass(name: bytes) -> bool:
    """Some frameworks take `_` and `-` in names for the same, so that they could be told of another caller."""
    plain = name.replace(b"_", b"-")
    return plain not in _NOT_PASSED and not plain.startswith(_NOT_PASSED_PREFIXES)


def returned(headers: HeaderList) -> HeaderList:
    """The headers of a backend's answer, as our own."""
    return [header for header in headers if header[0] not in _NOT_RETURNED]
