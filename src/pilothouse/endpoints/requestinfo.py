"""What a URL asks for: verb, group, version, namespace, resource, name and subresource (API concepts, "Resource URIs").

Parsed once, at the edge of the chain; everything inside reads this and no path again.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from pilothouse.kit.memo import remembered
from pilothouse.machinery import names
from pilothouse.machinery.selectors import SelectorError, read_field_selector
from pilothouse.serving.http import Request

_VERBS: Final = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
# Words that may stand between "namespaces/NAME" and mean the namespace's own subresource, not a resource inside it.
_NAMESPACE_PARTS: Final = frozenset({"status", "finalize"})
_LEGACY_VERBS: Final = frozenset({"watch", "proxy"})
_LONG_RUNNING: Final = frozenset({"exec", "attach", "portforward", "log", "proxy"})


class RequestInfo(NamedTuple):
    """`is_resource` is false for paths outside the API (/healthz, /apis);
    then only `verb` (the lower-case method) and `path` mean something.
    """

    is_resource: bool
    path: str
    verb: str
    prefix: str = ""  # "api" or "apis"
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()  # from the resource on

    @property
    def long_running(self) -> bool:
        """Such a request has no deadline and does not count as in flight."""
        return self.verb in ("watch", "proxy") or self.subresource in _LONG_RUNNING


class Query:
    """The pairs of a query string: those that can't be read are dropped, the first of several counts."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: dict[str, list[str]]) -> None:
        self._pairs = pairs

    def get(self, name: str, default: str = "") -> str:
        values = self._pairs.get(name)
        return values[0] if values else default

    def all(self, name: str) -> list[str]:
        return self._pairs.get(name, [])

    def __contains__(self, name: str) -> bool:
        return name in self._pairs

    def __bool__(self) -> bool:
        return bool(self._pairs)


EMPTY_QUERY: Final = Query({})
QUERY_WORK: Final = 8  # a character of a query is as much work as so many bytes of JSON


def parse_query(text: str) -> Query:
    """A pair with a raw ";" or a broken escape is dropped, as the original does."""
    return _parse_query(text) if text else EMPTY_QUERY


@remembered(1024)
def _parse_query(text: str) -> Query:
    pairs: dict[str, list[str]] = {}
    for pair in text.split("&"):
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        if _broken_escape(name) or _broken_escape(value):
            continue
        pairs.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return Query(pairs)


def _broken_escape(text: str) -> bool:
    at = text.find("%")
    while at >= 0:
        digits = text[at + 1 : at + 3]
        if len(digits) < 2 or any(c not in "0123456789abcdefABCDEF" for c in digits):
            return True
        at = text.find("%", at + 3)
    return False


def attach_request_info(request: Request) -> RequestInfo:
    """Parse and attach RequestInfo and Query to the request."""
    query = parse_query(request.query)
    info = request_info(request.method, request.path, query)
    request.attach(info)
    request.attach(query)
    return info


def request_info(method: str, path: str, query: Query = EMPTY_QUERY) -> RequestInfo:
    info = _path_info(path, method)
    if info.verb in ("get", "delete") and info.is_resource and not info.name:
        return _collection(info, query)
    return info


def _collection(info: RequestInfo, query: Query) -> RequestInfo:
    """A GET or DELETE without a name is about the collection; `fieldSelector=metadata.name=x` names its one object."""
    if info.verb == "delete":
        return info._replace(verb="deletecollection")
    verb = "list"
    if "watch" in query and is_set(query.get("watch")):
        verb = "watch"
    selector = query.get("fieldSelector")
    return info._replace(verb=verb, name=_selected(selector) if "metadata.name" in selector else "")


@remembered(1024)
def _selected(selector: str) -> str:
    """The one name that a field selector lets through, "" where it is none."""
    try:
        name = read_field_selector(selector).exact("metadata.name")
    except SelectorError:
        return ""
    return "" if not name or names.path_segment(name) else name


@remembered(4096)
def _path_info(path: str, method: str) -> RequestInfo:
    outside = RequestInfo(False, path, method.lower())
    if path.startswith("//"):
        return outside
    segments = path.strip("/").split("/")
    if "" in segments and segments[0] in ("api", "apis") and len(segments) > 2 and not _nowhere(segments):
        return RequestInfo(True, path, _VERBS.get(method, ""), segments[0], *_group_version(segments))
    if not segments or segments[0] not in ("api", "apis"):
        return outside
    prefix = segments[0]
    grouped = prefix == "apis"
    rest = segments[3:] if grouped else segments[2:]
    if not rest:
        return outside
    group, version = (segments[1], segments[2]) if grouped else ("", segments[1])
    verb = _VERBS.get(method, "")
    if rest[0] in _LEGACY_VERBS:
        if len(rest) == 1:
            return outside
        verb, rest = rest[0] if method == "GET" else "", rest[1:]
    namespace = ""
    parts = rest
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and (rest[2] not in _NAMESPACE_PARTS or not namespace):
            parts = rest[2:]
    resource = parts[0]
    name = parts[1] if len(parts) > 1 else ""
    subresource = parts[2] if len(parts) > 2 else ""
    return RequestInfo(True, path, verb, prefix, group, version, namespace, resource, subresource, name, tuple(parts))


def _nowhere(segments: list[str]) -> bool:
    """Whether all that is missing is the namespace, as in "namespaces//configmaps/x"."""
    rest = segments[3:] if segments[0] == "apis" else segments[2:]
    return len(rest) in (3, 4) and rest[0] == "namespaces" and segments.count("") == 1 and not rest[1]


def _group_version(segments: list[str]) -> tuple[str, str]:
    return (segments[1], segments[2]) if segments[0] == "apis" else ("", segments[1])


def is_set(text: str) -> bool:
    """A boolean of the options: anything but "false", in capitals or not, and "0" is true, nothing too."""
    return text != "0" and text.lower() != "false"
