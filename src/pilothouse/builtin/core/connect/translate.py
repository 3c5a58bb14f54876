"""exec and attach over WebSocket with the subprotocol v5.channel.k8s.io: the client speaks channels, the kubelet is
spoken to in SPDY streams. The switch to WebSocket comes first, so that all that goes wrong later can be told on the
channel of errors (Kubernetes documentation, "Get a Shell to a Running Container").
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from pilothouse.builtin.core.connect.kubelets import Outgoing
from pilothouse.kit.record import record
from pilothouse.registry.resource import Object
from pilothouse.serving.client import Answered, CallFailed, Destination
from pilothouse.serving.dialing import DialFailed
from pilothouse.serving.http import BodyTooLarge, ClientGone, HeaderList, RawConnection
from pilothouse.serving.messages import Messages
from pilothouse.serving.spdy import Session

PROTOCOL: Final = "v5.channel.k8s.io"
_OFFERED: Final = (b"v5", b"v4", b"v3", b"v2")  # of channel.k8s.io, to the kubelet
_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE, _CLOSED = 0, 1, 2, 3, 4, 255
_LONGEST_TEXT: Final = 64 << 10  # bytes of a kubelet's refusal
_SUCCESS: Final = b'{"metadata":{},"status":"Success"}'


@record
class Command:
    """What is asked of the kubelet: the target of the request and the streams that are wanted."""

    destination: Destination
    target: str
    options: Object

    @property
    def channels(self) -> dict[int, str]:
        """Channel -> type of its stream, in the order in which kubelets expect them."""
        options = self.options
        tty = bool(options.get("tty"))
        wanted = (
            (_ERROR, "error", True),
            (_STDIN, "stdin", options.get("stdin")),
            (_STDOUT, "stdout", options.get("stdout")),
            (_STDERR, "stderr", options.get("stderr") and not tty),
            (_RESIZE, "resize", tty),
        )
        return {channel: kind for channel, kind, yes in wanted if yes}


def failure(why: str) -> bytes:
    """The Status of a command that did not come to be."""
    status: dict[str, Any] = {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {why}",
        "reason": "InternalError",
        "details": {"causes": [{"message": why}]},
        "code": 500,
    }
    # HTML's signs are escaped, as in all JSON of the API.
    text = json.dumps(status, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").encode()


async def translate(outgoing: Outgoing, command: Command, front: RawConnection) -> None:
    """Talk to both ends until one is done."""
    messages = Messages(front)
    try:
        await messages.send(bytes((min(one for one in command.channels if one in (_STDOUT, _STDERR, _ERROR)),)))
        said = await _run(outgoing, command, messages)
        await messages.send(bytes((_ERROR,)) + said)
        await messages.close()
    except ClientGone:
        return


async def _run(outgoing: Outgoing, command: Command, messages: Messages) -> bytes:
    """How it went, as a Status."""
    destination = command.destination
    headers: HeaderList = [(b"Host", destination.authority.encode()), (b"User-Agent", b"pilothouse")]
    headers += [(b"Connection", b"Upgrade"), (b"Upgrade", b"SPDY/3.1")]
    headers += [(b"X-Stream-Protocol-Version", version + b".channel.k8s.io") for version in _OFFERED]
    headers.append((b"X-Stream-Protocol-Version", b"channel.k8s.io"))
    try:
        answered = await outgoing.client.call(destination, "POST", command.target.encode(), headers)
    except (DialFailed, CallFailed) as error:
        return failure(f'error sending request: Post "https://{destination.authority}{command.target}": {error}')
    raw = answered.raw
    if raw is None:
        return failure(f"unable to upgrade connection: {await _text(answered)}")
    try:
        return await _Talk(command, messages, raw).run()
    finally:
        raw.abort()


async def _text(answered: Answered) -> str:
    try:
        return (await answered.read(_LONGEST_TEXT)).decode("utf-8", "replace")
    except (BodyTooLarge, CallFailed):
        answered.close()
        return "the kubelet refused"


class _Talk:
    """One command that runs."""

    def __init__(self, command: Command, messages: Messages, kubelet: RawConnection) -> None:
        self._command = command
        self._messages = messages
        self._session = Session(kubelet, self._hear)
        self._streams: dict[int, int] = {}  # channel -> stream
        self._channels: dict[int, int] = {}  # stream -> channel
        self._open: set[int] = set()  # channels that the kubelet has not ended yet
        self._error = bytearray()
        self._done = asyncio.Event()

    async def run(self) -> bytes:
        for channel, kind in self._command.channels.items():
            stream = await self._session.open({"streamType": kind})
            self._streams[channel], self._channels[stream] = stream, channel
            if channel in (_STDOUT, _STDERR, _ERROR):
                self._open.add(channel)
        tasks = [asyncio.ensure_future(work) for work in (self._session.listen(), self._obey(), self._done.wait())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if isinstance(error, ClientGone):
                    raise error
                if error is not None:
                    return failure(str(error))
            if self._open and not self._error:
                return failure("error reading from error stream: EOF")
            return bytes(self._error) or _SUCCESS
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _hear(self, stream: int, data: bytes, end: bool) -> None:
        """What the kubelet says."""
        channel = self._channels.get(stream)
        if channel is None:
            return
        if channel == _ERROR:
            self._error += data
        elif data:
            await self._messages.send(bytes((channel,)) + data)
        if end:
            self._open.discard(channel)
            if not self._open:
                self._done.set()

    async def _obey(self) -> None:
        """What the client says. Raises ClientGone where it says goodbye."""
        while (message := await self._messages.receive()) is not None:
            if len(message) < 2:
                continue
            channel, data = message[0], message[1:]
            if channel == _CLOSED:
                stream = self._streams.get(data[0])
                if stream is not None and data[0] == _STDIN:
                    await self._session.send(stream, b"", end=True)
            elif channel in (_STDIN, _RESIZE) and channel in self._streams:
                await self._session.send(self._streams[channel], data)
        raise ClientGone("the client closed")
