"""A small application behind the real command: run as a child process by the tests, with the flags of `serve`."""

from __future__ import annotations

import asyncio
import os
import sys

from pilothouse.app.material import Material
from pilothouse.app.serve import serve
from pilothouse.app.settings import BadSetting, Settings, read_settings
from pilothouse.serving.http import Answer, Request, Response, Stream, StreamWriter

TEXT = [(b"Content-Type", b"text/plain")]


class Small:
    """`/readyz`, `/slow` (answered after a second), `/watch` (endless); all else tells who asks."""

    def __init__(self) -> None:
        self.ready = False

    async def handler(self, request: Request) -> Answer:
        if request.raw_path == b"/readyz":
            return Response(200 if self.ready else 500, TEXT, b"")
        if request.raw_path == b"/slow":
            await asyncio.sleep(1)
        if request.raw_path == b"/watch":
            return Stream(200, TEXT, self._watch)
        return Response(200, TEXT, b"certificate" if request.origin.certificate else b"nobody")

    async def _watch(self, writer: StreamWriter) -> None:
        writer.write(b"event")
        await writer.closed()

    async def start(self) -> None:
        if "NEVER_READY" in os.environ:
            print("starting", flush=True)
            await asyncio.Event().wait()
        self.ready = True

    async def begin_shutdown(self) -> None:
        self.ready = False

    def handshake_broke(self) -> None: ...

    async def stop(self) -> None:
        print("stopped", flush=True)


async def build(settings: Settings, material: Material) -> Small:
    return Small()


if __name__ == "__main__":
    try:
        sys.exit(serve(read_settings(sys.argv[1:], os.environ), build))
    except BadSetting as error:
        sys.exit(str(error))
