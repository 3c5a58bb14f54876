"""Addresses of the web, read as Go's net/url reads them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote as escape
from urllib.parse import unquote_plus

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.values import Fault
from pilothouse.machinery.goquote import quote

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_HOST_SIGNS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:[]<>\"%")
_PORT: Final = re.compile(r":[0-9]*")
_PATH_SIGNS: Final = "!$&'()*+,;=:@/%[]~"


class URL:
    """`host` with its port, `path` as it was escaped."""

    __slots__ = ("host", "path", "query", "scheme", "text")

    type_name: Final = "kubernetes.URL"

    def __init__(self, text: str, scheme: str, host: str, path: str, query: str) -> None:
        self.text = text
        self.scheme = scheme
        self.host = host
        self.path = path
        self.query = query

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def hostname(self) -> str:
        if self.host.startswith("["):
            return self.host[1 : self.host.index("]")]
        return self.host.partition(":")[0]

    def port(self) -> str:
        rest = self.host.partition("]")[2] if self.host.startswith("[") else self.host
        return rest.rpartition(":")[2] if ":" in rest else ""

    def parameters(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for pair in self.query.split("&"):
            if pair and ";" not in pair:
                name, _, value = pair.partition("=")
                found.setdefault(unquote_plus(name), []).append(unquote_plus(value))
        return found


def parse_problem(text: str) -> str:
    """Why it is no address that a request can name, in Go's words; "" where it is one."""
    found = _parse(text)
    return found if isinstance(found, str) else ""


def _parse(text: str) -> URL | str:
    head = f"parse {quote(text)}: "
    if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in text):
        return head + "net/url: invalid control character in URL"
    if not text:
        return head + "empty url"
    scheme, rest = _scheme(text)
    if rest is None:
        return head + ("missing protocol scheme" if scheme == ":" else "first path segment in URL cannot contain colon")
    rest = rest.partition("#")[0] if "#" in rest else rest
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(text, scheme, "", "", query)
        return head + "invalid URI for request"
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = authority.rpartition("@")[2]
        why = _host_problem(host)
        if why:
            return head + why
    bad = _BAD_ESCAPE.search(rest)
    if bad is not None:
        return f"{head}invalid URL escape {quote(bad[0])}"
    return URL(text, scheme, host, escape(rest, _PATH_SIGNS), query)


def _scheme(text: str) -> tuple[str, str | None]:
    if text.startswith(":"):
        return ":", None
    found = _SCHEME.match(text)
    if found is not None and text[found.end() : found.end() + 1] == ":":
        return found[0].lower(), text[found.end() + 1 :]
    return "", text


def _host_problem(host: str) -> str:
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host"
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if port and not _PORT.fullmatch(port):
        return f"invalid port {quote(port)} after host"
    bad = next((sign for sign in host if sign.isascii() and sign not in _HOST_SIGNS), "")
    if bad:
        return f"invalid character {quote(bad)} in host name"
    wrong = _BAD_ESCAPE.search(host)
    return f"invalid URL escape {quote(wrong[0])}" if wrong is not None else ""


def url_of(text: str) -> URL:
    """Raises Fault."""
    found = _parse(text)
    if isinstance(found, str):
        raise Fault(f"URL parse error during conversion from string: {found}")
    return found


URLS: Final = (
    overload("url", "(string) -> url", url_of, work=work.traverse(0)),
    overload("isURL", "(string) -> bool", lambda text: not parse_problem(text)),
    overload("getScheme", "url.() -> string", lambda one: one.scheme),
    overload("getHost", "url.() -> string", lambda one: one.host),
    overload("getHostname", "url.() -> string", URL.hostname),
    overload("getPort", "url.() -> string", URL.port),
    overload("getEscapedPath", "url.() -> string", lambda one: one.path),
    overload("getQuery", "url.() -> map(string, list(string))", URL.parameters),
)
