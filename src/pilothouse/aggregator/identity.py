"""Headers between a front and the servers behind it: who asks (Kubernetes documentation, "Authenticating Proxy").

What the caller says of itself in the same words is taken off first: nobody may name himself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pilothouse.registry.request import Caller
from pilothouse.serving.http import HeaderList, Request

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
        b"audit-id", b"connection", b"content-length", b"date", b"keep-alive", b"proxy-authenticate",
        b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_TOKEN: Final = frozenset(b"!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def identity(caller: Caller) -> HeaderList:
    """The headers that say who asks."""
    headers: HeaderList = [(b"X-Remote-User", _value(caller.name))]
    if caller.uid:
        headers.append((b"X-Remote-Uid", _value(caller.uid)))
    headers += [(b"X-Remote-Group", _value(group)) for group in caller.groups]
    for key, values in caller.extra:
        name = b"X-Remote-Extra-" + escaped(key)
        headers += [(name, _value(value)) for value in values]
    return headers


def _value(text: str) -> bytes:
    """As bytes of one line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ").encode("utf-8", "replace")


def escaped(key: str) -> bytes:
    """A key as the end of a header's name; what may not stand there, and "%", is percent-encoded."""
    return b"".join(b"%c" % byte if byte in _TOKEN else b"%%%02X" % byte for byte in key.lower().encode())


def forwarded(request: Request, caller: Caller, authority: bytes) -> HeaderList:
    """The headers of a request to the server `authority` (host:port)."""
    headers: HeaderList = [(b"Host", authority)]
    through = b""
    named: frozenset[bytes] = frozenset()
    for name, value in request.headers:
        if name == b"connection":
            named = frozenset(word.strip().lower() for word in value.split(b","))
        elif name == b"x-forwarded-for":
            through += value + b", "
    for header in request.headers:
        name = header[0]
        if name in _NOT_PASSED or name in named or name.startswith(_NOT_PASSED_PREFIXES):
            continue
        headers.append(header)
    headers.append((b"X-Forwarded-For", through + request.peer[0].encode()))
    headers.append((b"X-Forwarded-Host", authority))
    headers.append((b"X-Forwarded-Proto", b"https"))
    headers.append((b"X-Forwarded-Uri", request.raw_path))
    headers += identity(caller)
    return headers


def returned(headers: HeaderList) -> HeaderList:
    """The headers of a backend's answer, as our own."""
    return [(_canonical(name), value) for name, value in headers if name.lower() not in _NOT_RETURNED]


@lru_cache(maxsize=512)
def _canonical(name: bytes) -> bytes:
    return b"-".join(part.capitalize() for part in name.split(b"-"))
