"""From resources to routes: which verbs a resource has follows from what its storage can do, and nothing lists them
twice.

The router is a dictionary of (group, version, resource, subresource); the verb in it comes from RequestInfo.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from pilothouse.endpoints import part
from pilothouse.endpoints.apply import apply_object
from pilothouse.endpoints.connect import Connecter, connect
from pilothouse.endpoints.create import create_object
from pilothouse.endpoints.delete import delete_object
from pilothouse.endpoints.deletecollection import delete_collection
from pilothouse.endpoints.get import get_object
from pilothouse.endpoints.list import list_collection
from pilothouse.endpoints.patch import is_apply, patch_object
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.endpoints.scope import Scope, Warnings
from pilothouse.endpoints.update import update_object
from pilothouse.endpoints.watch import watch_collection
from pilothouse.kit.record import record
from pilothouse.machinery import names
from pilothouse.machinery.errors import bad_request, method_not_allowed, path_not_found, verb_not_supported
from pilothouse.machinery.goquote import quote
from pilothouse.registry.capabilities import PartGetter, PartUpdater, VirtualCreater
from pilothouse.serving.http import Answer, Handler, Request

Verb = Callable[[Scope, Request], Awaitable[Answer]]
Route = tuple[str, str, str, str]  # group, version, resource, subresource

# What the main resource of a generic store can do, by the verb of the request.
STORE_VERBS: Final[Mapping[str, Verb]] = {
    "get": get_object,
    "list": list_collection,
    "watch": watch_collection,
    "create": create_object,
    "update": update_object,
    "delete": delete_object,
    "deletecollection": delete_collection,
}
PART_VERBS: Final[Mapping[str, Verb]] = {"get": get_object, "update": update_object}


async def _patch(scope: Scope, request: Request) -> Answer:
    """PATCH has two meanings: changes to what is there, or an applied configuration."""
    if is_apply(scope, request):
        return await apply_object(scope, request)
    return await patch_object(scope, request)


@record
class Entry:
    """Handlers of one resource or subresource in one version, by verb."""

    namespaced: bool
    handlers: Mapping[str, Handler]
    through: bool = False  # its one handler knows by itself which methods it serves
    deep: bool = False  # and what is below its path
    watched: bool = False

    def reaches(self, info: RequestInfo) -> bool:
        """Whether the path leads anywhere for some method: objects that nobody can name have no paths of their own,
        and what is
        only created is found in its namespace alone.
        """
        if info.subresource:
            return True
        if _named(info):
            return not _NAMED.isdisjoint(self.handlers)
        return not self.namespaced or bool(info.namespace) or "list" in self.handlers


class Router:
    """All routes of one server; filled at start, changed only as a whole entry."""

    def __init__(self) -> None:
        self._entries: dict[Route, Entry] = {}
        self._versions: dict[tuple[str, str], int] = {}

    def add(self, route: Route, entry: Entry) -> None:
        if route not in self._entries:
            key = route[0], route[1]
            self._versions[key] = self._versions.get(key, 0) + 1
        self._entries[route] = entry

    def serves(self, group: str, version: str) -> bool:
        return (group, version) in self._versions

    def serves_group(self, group: str) -> bool:
        return any(known == group for known, _ in self._versions)

    def find(self, info: RequestInfo) -> Handler:
        """Raises NotFound for what is not there, MethodNotAllowed for what is there and can't be done."""
        entry = self._entries.get((info.group, info.version, info.resource, info.subresource))
        if entry is not None and entry.namespaced and "//" in info.path and len(info.parts) > 1 and not info.namespace:
            raise bad_request("an empty namespace may not be set when a resource name is provided")
        if entry is None or not _in_place(info, entry) or (len(info.parts) > 3 and not entry.deep):
            raise path_not_found()
        if entry.through:
            return entry.handlers[""]
        handler = entry.handlers.get(info.verb)
        if (handler is None and not entry.reaches(info)) or (not entry.watched and _below(info, "watch")):
            raise path_not_found()
        if handler is None and _below(info, "proxy"):
            raise path_not_found()
        everywhere = entry.namespaced and not info.namespace
        if (
            handler is None
            or _named(info) != (info.verb in _NAMED)
            or (everywhere and info.verb not in ("list", "watch"))
        ):
            raise method_not_allowed()
        if info.name and (info.name in _DOTS or "%" in info.name):
            raise bad_request(f"Name parameter invalid: {quote(info.name)}: {names.path_segment(info.name)[0]}")
        return handler


_DOTS: Final = (".", "..")
_NAMED: Final = frozenset({"get", "update", "patch", "delete"})


def _named(info: RequestInfo) -> bool:
    """Whether the path names an object. A POST to a subresource does, as if it did not;
    a watch may name one in its selector.
    """
    return (
        len(info.parts) > 1
        and info.verb not in ("watch", "connect")
        and not (info.subresource and info.verb == "create")
    )


def _below(info: RequestInfo, word: str) -> bool:
    """Whether the path is one of the old ones that begin with `word`, as in /api/v1/watch/pods."""
    return info.verb == word and info.path.split("/", 5)[4 if info.prefix == "apis" else 3] == word


def _in_place(info: RequestInfo, entry: Entry) -> bool:
    """Namespaced objects live below a namespace; their collection may be asked for without one.

    Cluster-scoped ones do not.
    """
    if entry.namespaced:
        return bool(info.namespace) or len(info.parts) == 1
    return not info.namespace or info.resource == "namespaces"


def store_entry(scope: Scope, verbs: frozenset[str]) -> Entry:
    """The main resource: `verbs` are those that the resource allows of what the store can do."""
    table = {verb: handler for verb, handler in STORE_VERBS.items() if verb in verbs}
    if "patch" in verbs:
        table["patch"] = _patch
    if "list" in table and "watch" not in table:
        table["watch"] = _unwatched
    return Entry(scope.resource.namespaced, _bound(scope, table), watched="watch" in verbs)


async def _unwatched(scope: Scope, request: Request) -> Answer:
    """A collection that can be listed is asked for in the same place, and says so itself."""
    raise verb_not_supported(scope.resource.group, scope.resource.plural, "watch")


def _bound(scope: Scope, table: Mapping[str, Verb]) -> dict[str, Handler]:
    """Handlers of one scope; those of a deprecated version warn first."""
    handlers: dict[str, Handler] = {verb: partial(handler, scope) for verb, handler in table.items()}
    warning = scope.resource.versions[scope.version].deprecated
    return {verb: _warning(scope, handler, warning) for verb, handler in handlers.items()} if warning else handlers


def _warning(scope: Scope, handler: Handler, text: str) -> Handler:
    async def warned(request: Request) -> Answer:
        texts = request.maybe(Warnings)
        if texts is not None:
            texts.append(text)
        resource = scope.resource
        scope.options.metrics.asked_for_deprecated(
            resource.group, scope.version, resource.plural, scope.subresource, text
        )
        return await handler(request)

    return warned


def store_part_entry(scope: Scope, verbs: frozenset[str]) -> Entry:
    """A subresource that reads and writes a part of the stored object (status, resize, ...)."""
    table: dict[str, Verb] = {verb: handler for verb, handler in PART_VERBS.items() if verb in verbs}
    if "patch" in verbs:
        table["patch"] = _patch
    return Entry(scope.resource.namespaced, _bound(scope, table))


def connect_entry(scope: Scope, storage: Connecter) -> Entry:
    """A subresource that reaches through the server."""
    return Entry(scope.resource.namespaced, {"": partial(connect, scope, storage)}, True, storage.deep)


def odd_part_entry(scope: Scope, storage: object, *, named: bool = True) -> Entry:
    """A subresource or resource with a storage of its own: its verbs are what that storage can do."""
    handlers: dict[str, Handler] = {}
    if isinstance(storage, VirtualCreater):
        handlers["create"] = partial(part.create_virtual, scope, storage, named)
    if isinstance(storage, PartGetter):
        handlers["get"] = partial(part.get_part, scope, storage)
    if isinstance(storage, PartUpdater):
        handlers["update"] = partial(part.update_part, scope, storage)
        handlers["patch"] = partial(part.patch_part, scope, storage)
    return Entry(scope.resource.namespaced, handlers)
