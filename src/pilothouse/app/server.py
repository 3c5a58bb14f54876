"""A server from settings: sockets, key material, the application and the edge, in the order in which they must begin
and end. `pilothouse serve` runs one; tests and `pilothouse.testing` start it inside their own loop.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from pilothouse.app.material import Material, prepare, server_url
from pilothouse.app.settings import Settings
from pilothouse.kit.lag import LagWatch
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.http import Handler
from pilothouse.serving.limits import Limits
from pilothouse.serving.tls import CertificateFiles, ServerTLS

log = logging.getLogger("pilothouse.app")

_LONGEST_GRACE = 60.0  # seconds for requests that still run when the server stops, if they have no time limit


class Application(Protocol):
    """What is served. The wiring of all rooms below is one."""

    @property
    def handler(self) -> Handler: ...

    async def start(self) -> None:
        """Called when requests are answered already: what readiness waits for."""
        ...

    async def begin_shutdown(self) -> None:
        """The server will stop: report not ready from now on, and go on serving."""
        ...

    def handshake_broke(self) -> None:
        """A connection ended before its TLS handshake was done."""
        ...

    async def stop(self) -> None:
        """All requests are done: end tasks, close the store."""
        ...


Build = Callable[[Settings, Material], Awaitable[Application]]  # opens the store; everything that answers need


class Server:
    """One server: `start`, then `stop` (or `abort`). May be started once."""

    def __init__(
        self,
        settings: Settings,
        build: Build,
        *,
        limits: Limits | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self._build = build
        self._limits = limits
        self._wall = wall
        self._edge: Edge | None = None
        self._application: Application | None = None
        self._refresher: asyncio.Task[None] | None = None
        self._lag: LagWatch | None = None
        self._material: Material | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        if self._edge is None:
            raise RuntimeError("the server is not started")
        return self._edge.port

    @property
    def url(self) -> str:
        return server_url(self.settings.host, self.port)

    @property
    def material(self) -> Material:
        if self._material is None:
            raise RuntimeError("the server is not started")
        return self._material

    async def start(self) -> None:
        """Serve. When it returns, the server is ready. Raises OSError where a port, file or store cannot be had."""
        settings = self.settings
        sockets = bind(settings.host, settings.port)  # first: who connects from now on waits and is not refused
        try:
            settings = replace(settings, port=sockets[0].getsockname()[1])  # 0 was any
            material = self._material = prepare(settings, settings.port, self._wall())
            front = settings.requestheader_client_ca_file
            authorities = (*material.client_cas, *((front,) if front else ()))
            files = CertificateFiles(material.serving_certificate, material.serving_key, authorities)
            tls = ServerTLS(files)
            application = self._application = await self._build(settings, material)
        except BaseException:
            for listener in sockets:
                listener.close()
            raise
        self._edge = Edge(
            application.handler, sockets, context=tls.context, limits=self._limits, wall=self._wall,
            broken=application.handshake_broke,
        )  # fmt: skip
        try:
            await self._edge.start()
            await application.start()
        except BaseException:
            await self.abort()
            raise
        self._refresher = asyncio.create_task(tls.keep_fresh(), name="certificate files")
        self._lag = LagWatch(asyncio.get_running_loop())
        self._lag.start()

    async def stop(self) -> None:
        """End in good order: not ready for --shutdown-delay-duration, then no new connections, then the rest."""
        edge, application = self._edge, self._application
        if edge is None or application is None or self._stopping:
            return
        self._stopping = True
        await application.begin_shutdown()
        if self.settings.shutdown_delay_duration:
            await asyncio.sleep(self.settings.shutdown_delay_duration)
        await edge.drain(self.settings.request_timeout or _LONGEST_GRACE)
        await self._end(application)

    async def abort(self) -> None:
        """End at once: all connections are cut off."""
        if self._edge is None or self._application is None:
            return
        self._stopping = True
        self._edge.stop_accepting()
        self._edge.abort()
        await self._end(self._application)

    async def _end(self, application: Application) -> None:
        if self._lag is not None:
            self._lag.stop()
        if self._refresher is not None:
            self._refresher.cancel()
            await asyncio.gather(self._refresher, return_exceptions=True)
        await application.stop()


def tune_garbage_collector() -> None:
    """Called when all is loaded: what is alive now is never looked at again, and the rest less often.

    Requests make almost no reference cycles, so the last generation is left alone for long. The young ones are small,
    because nobody else runs while one is walked (docs/designs/edge.md has numbers).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 2, 2_500)
    gc.enable()
