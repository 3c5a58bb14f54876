"""One connection's HTTP: requests in order, each handed to the handler, each answer sent, time limits kept.

The connection is always in one state (below). One timer serves all states: requests do not touch it, and when it
fires it looks whether the time is really up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

from pilothouse.serving.body import NO_BODY, ComingBody, WholeBody
from pilothouse.serving.channel import Channel
from pilothouse.serving.eager import EagerRunner
from pilothouse.serving.head import Head, HeadParser, HeadRefused, bad_request, has_bare_line_feed
from pilothouse.serving.http import (
    BodyReader,
    BodyTooLarge,
    ClientGone,
    Handler,
    HeaderList,
    Origin,
    Request,
    Response,
    Stream,
    Upgrade,
)
from pilothouse.serving.limits import Limits
from pilothouse.serving.outlet import Outlet
from pilothouse.serving.reply import (
    CONTINUE,
    LAST_CHUNK,
    Framing,
    ReplyWriter,
    bare_head,
    expectation_failed,
    refusal,
)
from pilothouse.serving.stream import ChunkWriter, RawPipe

log = logging.getLogger("pilothouse.serving")

_TEXT: HeaderList = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"X-Content-Type-Options", b"nosniff")]
_SHORT = 16 << 10  # bytes of an answer's body that are sent without looking at the client's speed
_HEAD_TOO_LARGE = (431, "Request Header Fields Too Large")


# The states of a connection.
WAIT: Final = 0  # for a head
BUSY: Final = 1  # a request is with the handler
SKIP: Final = 2  # a body nobody read is taken in behind the answer
UPGRADED: Final = 3
LINGER: Final = 4  # the last answer is sent, what still comes in is thrown away
CLOSING: Final = 5
GONE: Final = 6


@dataclass(slots=True)
class Shared:
    """What all connections of one edge have in common."""

    handler: Handler
    limits: Limits
    loop: asyncio.AbstractEventLoop
    runner: EagerRunner
    replies: ReplyWriter
    connections: set[Connection] = field(default_factory=set)
    draining: bool = False
    on_change: Callable[[], None] | None = None  # told when a connection's work changes, while draining


class Connection:
    """The user of a channel; see the module."""

    __slots__ = (
        "_ahead",
        "_body",
        "_channel",
        "_fresh",
        "_origin",
        "_out",
        "_parser",
        "_partial",
        "_raw",
        "_shared",
        "_since",
        "_task",
        "_timer",
        "_writer",
        "state",
    )

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._parser = HeadParser()
        self._channel: Channel = cast("Channel", None)  # until attached
        self._out: Outlet = cast("Outlet", None)
        self._origin = Origin()  # until the channel is ready
        self._ahead = b""  # bytes behind the present request
        self._partial: bytearray | None = None  # a head that is not whole
        self._body: ComingBody | None = None
        self._task: asyncio.Task[None] | None = None
        self._writer: ChunkWriter | None = None
        self._raw: RawPipe | None = None
        self._fresh = True  # no request yet
        self.state = WAIT
        self._since = shared.loop.time()
        self._timer = shared.loop.call_later(shared.limits.head_time, self._tick)
        shared.connections.add(self)

    @property
    def is_busy(self) -> bool:
        """Is a request (not a stream, not an upgrade) with the handler?"""
        return self.state == BUSY and self._writer is None

    # What the channel tells.

    def attached(self, channel: Channel) -> None:
        self._channel = channel
        self._out = Outlet(channel, self._shared.limits)

    def ready(self) -> None:
        channel = self._channel
        self._origin = Origin(channel.peer, channel.scheme, channel.client_certificate())
        self._since = self._shared.loop.time()

    def feed(self, data: bytes) -> None:
        state = self.state
        if state == WAIT:
            if self._ahead:
                data, self._ahead = self._ahead + data, b""
            if self._partial is None:
                end = data.find(b"\r\n\r\n")
                if end >= 0:
                    self._begin(data, end)
                    return
            self._continue_head(data)
        elif state in (BUSY, SKIP):
            body = self._body
            if body is None or body.received:
                self._hold(data)
                return
            if body.feed(data):
                self._ahead, body.rest = body.rest, b""
            if state == SKIP:
                self._skip(body)
        elif state == UPGRADED and self._raw is not None:
            self._raw.feed(data)

    def ended(self) -> None:
        if self.state == UPGRADED and self._raw is not None:
            self._raw.ended()
        elif self.state != GONE:
            self._give_up()
            self._close()

    def lost(self) -> None:
        self.state = GONE
        self._timer.cancel()
        self._shared.connections.discard(self)
        if self._raw is not None:
            self._raw.lost()
        self._give_up()
        self._out.lost()
        self._tell_change()

    def writable(self, yes: bool) -> None:
        self._out.set_writable(yes)
        if not yes and self.state != GONE:
            self._arm(self._shared.limits.stall_time)

    # Requests.

    def _continue_head(self, data: bytes) -> None:
        """A head that comes in pieces: keep them, and look only at what is new."""
        partial = self._partial
        if partial is None:
            partial = self._partial = bytearray()
            self._since = self._shared.loop.time()
            self._arm(self._shared.limits.head_time)
        before = len(partial)
        partial += data
        end = partial.find(b"\r\n\r\n", max(0, before - 3))
        if end >= 0:
            self._partial = None
            self._begin(bytes(partial), end)
        elif len(partial) > self._shared.limits.head:
            self._refuse(HeadRefused(*_HEAD_TOO_LARGE))
        elif has_bare_line_feed(partial, before):
            self._refuse(bad_request())

    def _begin(self, data: bytes, end: int) -> None:
        """Start the request whose head is `data[:end]`; what stands behind is its body, or the next."""
        shared = self._shared
        try:
            if end + 4 > shared.limits.head:
                raise HeadRefused(*_HEAD_TOO_LARGE)
            head = self._parser.parse(data, end)
        except HeadRefused as refused:
            self._refuse(refused)
            return
        position = end + 4
        fields = head.fields
        self.state = BUSY
        self._fresh = False
        body: BodyReader = NO_BODY
        if not fields.plain:
            if fields.expects_other and head.minor > 0:
                self._channel.write(expectation_failed(shared.replies.date()))
                self._linger()
                return
            if fields.chunked or fields.length:
                body = self._receive_body(head, data, position)
        if body is NO_BODY and position < len(data):
            self._ahead = data[position:]
        request = Request(
            head.method,
            head.raw_path,
            head.query,
            list(fields.headers),
            body,
            origin=self._origin,
            version="1.1" if head.minor else "1.0",
        )
        self._task = shared.runner.start(self._converse(request, head))

    def _receive_body(self, head: Head, data: bytes, position: int) -> BodyReader:
        fields = head.fields
        end = position + fields.length
        expects = fields.expects_continue and head.minor > 0
        if not fields.chunked and not expects and len(data) >= end:
            if end < len(data):
                self._ahead = data[end:]
            return WholeBody(data[position:end])
        body = self._body = ComingBody(
            None if fields.chunked else fields.length,
            self._shared.limits.read_ahead,
            self._flow,
            self._say_continue if expects else None,
        )
        if position < len(data) and body.feed(data[position:]):
            self._ahead, body.rest = body.rest, b""
        return body

    def _flow(self, stop: bool) -> None:
        if stop:
            self._channel.pause_reading()
        else:
            self._channel.resume_reading()

    def _say_continue(self) -> None:
        self._channel.write(CONTINUE)

    def _hold(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) > self._shared.limits.read_ahead:
            self._channel.pause_reading()

    async def _converse(self, request: Request, head: Head) -> None:
        """Handler and answer of one request. Raises nothing but CancelledError."""
        try:
            try:
                answer = await self._shared.handler(request)
            except ClientGone:
                raise
            except Exception as error:
                answer = self._answer_to(error, request)
            if type(answer) is Response:
                if self._respond_at_once(answer, head):
                    self._rest()
                    return
                keep = await self._respond(answer, request, head)
            elif isinstance(answer, Stream):
                keep = await self._stream(answer, request, head)
            else:
                keep = await self._upgrade(cast("Upgrade", answer))
        except asyncio.CancelledError:
            if self.state in (BUSY, UPGRADED):  # not because of the client, or the server's end
                log.warning("%s %s was cancelled", request.method, request.path)
                self.abort()
            raise
        except ClientGone:
            self.abort()
            return
        except Exception:
            log.exception("the answer to %s %s could not be sent", request.method, request.path)
            self.abort()
            return
        finally:
            self._task = None  # it may have other work from now on
        self._finish(keep)

    def _answer_to(self, error: Exception, request: Request) -> Response:
        if isinstance(error, BodyTooLarge):
            return Response(413, _TEXT, b"413 Request Entity Too Large")
        log.error("the handler failed on %s %s", request.method, request.path, exc_info=error)
        return Response(500, _TEXT, b"500 Internal Server Error")

    # Answers.

    def _respond_at_once(self, answer: Response, head: Head) -> bool:
        """Send a short answer after which nothing has to be decided: that is, most of them."""
        body, shared = answer.body, self._shared
        if not head.usual or type(body) is not bytes or len(body) > _SHORT:
            return False
        if self._body is not None or shared.draining:
            return False
        whole = shared.replies.short(answer.status, answer.headers, body)
        if whole is None:
            return False
        self._channel.write(whole)
        return True

    def _frame(self, answer: Response | Stream, size: int | None, request: Request, head: Head) -> Framing:
        shared = self._shared
        keep = head.keep and not shared.draining
        body = self._body
        if body is not None and keep:
            unread = body.unread()
            keep = unread is not None and unread <= shared.limits.unread_body and not body.awaits_permission
        return shared.replies.frame(
            answer.status,
            answer.headers,
            size,
            minor=1 if head.minor else 0,
            is_head=request.method == "HEAD",
            keep=keep,
        )

    async def _respond(self, answer: Response, request: Request, head: Head) -> bool:
        body = answer.body
        size = len(body) if isinstance(body, bytes) else sum(map(len, body))
        framing = self._frame(answer, size, request, head)
        await self._out.whole(framing, body, size)
        return not framing.close

    async def _stream(self, answer: Stream, request: Request, head: Head) -> bool:
        framing = self._frame(answer, None, request, head)
        self._channel.write(framing.head)
        if framing.has_body:
            writer = self._writer = ChunkWriter(self._channel, framing.chunked, self._out.drain)
            self._tell_change()
            try:
                await answer.run(writer)
            except asyncio.CancelledError:
                if not writer.ended_by_server:
                    raise
            finally:
                self._writer = None
            if framing.chunked:
                self._channel.write(LAST_CHUNK)
        return not framing.close and not self._shared.draining

    async def _upgrade(self, answer: Upgrade) -> bool:
        self._channel.write(bare_head(answer.status, answer.headers))
        early, self._ahead = self._ahead, b""
        self._channel.resume_reading()
        self._raw = RawPipe(self._channel, self._out.drain, early, self._shared.limits.read_ahead)
        self.state = UPGRADED
        self._tell_change()
        await answer.run(self._raw)
        return False

    # After the answer.

    def _finish(self, keep: bool) -> None:
        if self.state == GONE:
            return
        body = self._body
        if not keep:
            if body is not None and not body.received:
                self._linger()
            else:
                self._close()
        elif body is not None:
            self.state = SKIP
            self._since = self._shared.loop.time()
            self._skip(body)
        else:
            self._rest()
        self._tell_change()

    def _skip(self, body: ComingBody) -> None:
        body.drop()
        if body.received:
            self._rest()
        elif body.failed:
            self._linger()

    def _rest(self) -> None:
        """Wait for the next request; some of it may be here already."""
        self._body = None
        self.state = WAIT
        self._since = self._shared.loop.time()
        if self._ahead:
            self._shared.loop.call_soon(self._next)
        elif self._shared.draining:
            self._close()
            return
        if self._channel.paused:
            self._channel.resume_reading()

    def _next(self) -> None:
        if self.state == WAIT and self._ahead:
            data, self._ahead = self._ahead, b""
            self.feed(data)

    def _refuse(self, refused: HeadRefused) -> None:
        self._partial = None
        self._channel.write(refusal(refused.line, refused.body))
        self._linger()

    def _linger(self) -> None:
        """Nothing more is answered. The input is taken in for a moment, so that a reset does not eat the answer."""
        self.state = LINGER
        if self._body is not None:
            self._body.drop()
        self._channel.end()
        self._channel.resume_reading()
        self._arm(self._shared.limits.linger_time)

    def _close(self) -> None:
        if self.state != GONE:
            self.state = CLOSING
            self._channel.close()
            self._arm(self._shared.limits.stall_time)  # a client that takes nothing does not keep it open

    def _give_up(self) -> None:
        """Whatever runs for this client has no reader any more."""
        if self._body is not None:
            self._body.fail(ClientGone("the connection ended within the request"))
        if self._writer is not None:
            self._writer.end(by_server=False)
        if self._task is not None:
            self._task.cancel()
            self._task = None

    # Shutdown.

    def drain_begins(self) -> None:
        """The server takes no new connections: close this one now if it has nothing to do."""
        if self.state == WAIT and not self._ahead:
            self._close()

    def end_stream(self) -> None:
        """End a running stream in good order."""
        if self._writer is not None and self._task is not None:
            self._writer.end(by_server=True)
            self._task.cancel()

    def abort(self) -> None:
        """Cut the connection off, whatever it does."""
        if self.state != GONE:
            self.state = CLOSING
            self._channel.abort()

    def _tell_change(self) -> None:
        if self._shared.on_change is not None:
            self._shared.on_change()

    # Time.

    def _arm(self, delay: float) -> None:
        self._timer.cancel()
        self._timer = self._shared.loop.call_later(delay, self._tick)

    def _tick(self) -> None:
        limits, state = self._shared.limits, self.state
        if state in (BUSY, UPGRADED):
            self._look_for_stall()
        elif state == LINGER:
            self._close()
        elif state == CLOSING:
            self.abort()
        elif state != GONE:
            slow_head = self._fresh or self._partial is not None
            left = self._since + (limits.head_time if slow_head else limits.idle_time) - self._shared.loop.time()
            if left > 0.001:
                self._arm(left)
            elif self._channel.buffered:
                self.abort()
            else:
                self._close()

    def _look_for_stall(self) -> None:
        limits = self._shared.limits
        if self._out.writable:
            self._arm(limits.head_time)
        elif self._out.has_stalled():
            self.abort()
        else:
            self._arm(limits.stall_time)
