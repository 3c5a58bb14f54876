"""WATCH: the changes of a collection or object as a stream of events (API concepts, "Efficient detection of
changes").
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.endpoints import table as tables
from pilothouse.endpoints.forms import LIST_OF_PARTIALS, batches
from pilothouse.endpoints.frames import Framer
from pilothouse.endpoints.negotiation import CBOR, CBOR_SEQUENCE, JSON, PROTOBUF, Form, streams_of
from pilothouse.endpoints.options import flag, integer, list_options
from pilothouse.endpoints.render import headers_of
from pilothouse.endpoints.requestinfo import Query
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.endpoints.websocket import is_websocket, upgrade
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, bare_internal, gone, not_acceptable
from pilothouse.machinery.selectors import parse_field_selector
from pilothouse.registry.reader import Selection, selected
from pilothouse.registry.request import ListOptions
from pilothouse.registry.translate import translate
from pilothouse.registry.watcher import ADDED, event_of
from pilothouse.serving.http import Answer, Request, Stream, StreamWriter
from pilothouse.storage import errors as stored_errors
from pilothouse.storage.api import Change, ListRequest, Read, Subscription

MAX_BUFFERED: Final = 8 * 1024 * 1024  # bytes a reader may lag behind before its watch is ended
BOOKMARK_EVERY: Final = 60.0  # seconds
LAST_BOOKMARK: Final = 1.0  # seconds before the time-out
_STREAMED: Final = {JSON: JSON, PROTOBUF: f"{PROTOBUF};stream=watch", CBOR: CBOR_SEQUENCE}  # and what they are called


@record
class WatchPlan:
    """What a watch request asks for."""

    selection: Selection
    since: int | None  # None: the present state first
    initial: bool  # tell the present state
    end_mark: bool  # a bookmark after it
    at_least: int  # revision that the present state must have reached
    bookmarks: bool
    timeout: float  # seconds
    broken_timeout: bool = False


async def watch_collection(scope: Scope, request: Request) -> Answer:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS, watchable=True)
    options = list_options(query, info.name, watch=True)
    namespace = info.namespace if scope.resource.namespaced else ""
    plan = await watch_plan(scope, namespace, options, query)
    if len(info.parts) > 1 and options.field_selector:
        _check_name(options)
    include = tables.include_of(query.get("includeObject")) if form.form == "Table" else ""
    form = stream_form(scope, form)
    messages = is_websocket(request)
    parted = messages and form.media_type == CBOR
    framer = Framer(scope.forms, scope.version, form, include, scope.body.empty, parted=parted)

    async def run(writer: StreamWriter) -> None:
        await Watching(scope, plan, framer, writer).run()

    if messages:
        return upgrade(request, run, binary=form.media_type != JSON)
    return Stream(200, headers_of(_STREAMED[form.media_type]), run)


def _check_name(options: ListOptions) -> None:
    """The name of the path must be that of the selector. Raises BadRequest."""
    if parse_field_selector(options.field_selector).exact("metadata.name") != options.name:
        raise bad_request("fieldSelector metadata.name doesn't match requested name")


def stream_form(scope: Scope, form: Form) -> Form:
    """Watches stream JSON, protobuf or CBOR, and neither YAML nor anything else. Raises NotAcceptable.

    That comes last of all that may be wrong: a collection could be shown so.
    """
    if form.form == LIST_OF_PARTIALS:
        raise scope.forms.misfit(form)
    if form.media_type not in _STREAMED:
        raise not_acceptable(streams_of(scope.options.offered))
    return form._replace(pretty=False)


async def watch_plan(scope: Scope, namespace: str, options: ListOptions, query: Query) -> WatchPlan:
    selection = await selected(scope.store, namespace, options)
    bookmarks = bool(flag(query, "allowWatchBookmarks"))
    initial_asked = flag(query, "sendInitialEvents")
    version = options.resource_version
    fresh = not version
    initial = fresh if initial_asked is None else initial_asked
    seconds = integer(query, "timeoutSeconds")
    timeout = float(seconds) if seconds > 0 else scope.options.min_request_timeout * (1.0 + scope.options.random())
    return WatchPlan(
        selection=selection,
        since=None if fresh or initial else version,
        initial=initial,
        end_mark=bookmarks and initial,
        at_least=version or 0,
        bookmarks=bookmarks,
        timeout=timeout,
        broken_timeout=seconds < 0,
    )


class Watching:
    """One running watch. Events go straight from the store's dispatch to the socket;
    a reader that lags too far is cut off.
    """

    def __init__(self, scope: Scope, plan: WatchPlan, framer: Framer, writer: StreamWriter) -> None:
        self._scope = scope
        self._plan = plan
        self._framer = framer
        self._writer = writer
        resource = scope.resource
        self._metrics = scope.options.metrics.watches(resource.group, scope.version, resource.plural)
        self._sizes = self._metrics.sizes
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Until the time is over, the client is gone, or the watch fails."""
        if self._plan.broken_timeout:
            self._fail(bare_internal("timeoutSeconds must be greater than or equal to 0"))
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._plan.timeout
        subscription: Subscription | None = None
        try:
            subscription = await self._start()
            if subscription is not None:
                await self._wait(deadline, subscription, loop.time)
        except APIError as error:
            self._fail(error)
        finally:
            if subscription is not None:
                subscription.close()

    async def _start(self) -> Subscription | None:
        plan, storage = self._plan, self._scope.store.storage
        try:
            since = plan.since if plan.since is not None else await self._present_state()
            prefix = plan.selection.key or plan.selection.prefix
            return await storage.watch(prefix, since, self._deliver, self._ended)
        except stored_errors.Compacted as error:
            raise gone(f"too old resource version: {error.asked} ({error.oldest})") from error
        except stored_errors.StorageError as error:
            raise translate(error, self._scope.resource) from error

    async def _present_state(self) -> int:
        """Tell what is there now; the revision from which changes follow."""
        plan = self._plan
        began = asyncio.get_running_loop().time()
        read = Read.AT_LEAST if plan.at_least else Read.LATEST
        page = await self._scope.store.storage.list(
            ListRequest(
                plan.selection.prefix, read, plan.at_least, accept=plan.selection.accept, same=plan.selection.same
            )
        )
        if plan.initial:
            for batch in batches(page.items):
                frames = [self._framer.event(ADDED, item) for item in batch]
                self._sizes.observe_all(map(len, frames))
                self._writer.write(b"".join(frames))
                await self._writer.drain()
            self._metrics.initial.value += len(page.items)
        if plan.end_mark:
            self._tell_progress(page.revision, initial_end=True)
            self._metrics.listed(self._told()).observe(asyncio.get_running_loop().time() - began)
        return page.revision

    async def _wait(self, deadline: float, subscription: Subscription, clock: Callable[[], float]) -> None:
        gone_away = asyncio.ensure_future(self._writer.closed())
        try:
            while True:
                now = clock()
                pause = min(deadline - now, self._next_bookmark(deadline, now))
                waiting = {self._over, gone_away}
                done, _ = await asyncio.wait(waiting, timeout=max(pause, 0.0), return_when=asyncio.FIRST_COMPLETED)
                if done or clock() >= deadline:
                    return
                self._tell_progress(max(subscription.revision, self._plan.at_least), initial_end=False)
        finally:
            gone_away.cancel()

    def _told(self) -> str:
        """What the watch is about, as metrics call it."""
        selection = self._plan.selection
        if selection.key:
            return "resource"
        return "cluster" if selection.prefix == self._scope.resource.prefix else "namespace"

    def _tell_progress(self, revision: int, *, initial_end: bool) -> None:
        frame = self._framer.bookmark(revision, initial_end=initial_end)
        self._sizes.observe(len(frame))
        self._writer.write(frame)

    def _next_bookmark(self, deadline: float, now: float) -> float:
        """Seconds until a bookmark is due: every minute, and once shortly before the end."""
        if not self._plan.bookmarks:
            return deadline - now
        last = deadline - LAST_BOOKMARK
        if now < last:
            return min(BOOKMARK_EVERY, last - now)
        return deadline - now

    def _deliver(self, changes: Sequence[Change]) -> None:
        selection, framer = self._plan.selection, self._framer
        frames = [framer.event(*event) for change in changes if (event := event_of(change, selection)) is not None]
        if not frames or self._over.done():
            return
        if len(frames) == 1:
            self._sizes.observe(len(frames[0]))
            self._writer.write(frames[0])
        else:
            self._sizes.observe_all(map(len, frames))
            self._writer.write(b"".join(frames))
        if self._writer.buffered > MAX_BUFFERED:
            self._metrics.terminated.value += 1
            self._over.set_result(None)

    def _ended(self, error: stored_errors.StorageError | None) -> None:
        if error is not None and not self._over.done():
            self._fail(translate(error, self._scope.resource))
        if not self._over.done():
            self._over.set_result(None)

    def _fail(self, error: APIError) -> None:
        self._writer.write(self._framer.error(error))
