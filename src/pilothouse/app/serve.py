"""Runs one server in this process until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import sys

import uvloop

from pilothouse.app.logs import log_to_stderr
from pilothouse.app.server import Build, Server, tune_garbage_collector
from pilothouse.app.settings import Settings

log = logging.getLogger("pilothouse.app")
DEEPEST = 3_000  # calls within each other: several for each level of the deepest object that is stored
TURN = 0.002  # seconds that a thread may run before the event loop has its turn


def serve(settings: Settings, build: Build) -> int:
    """Serve until SIGTERM or SIGINT; a second signal cuts everything off. Returns the exit code."""
    log_to_stderr(settings.log_level)
    sys.setswitchinterval(TURN)
    sys.setrecursionlimit(DEEPEST)
    allow_many_connections()
    return uvloop.run(_serve(settings, build))


async def _serve(settings: Settings, build: Build) -> int:
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    server = Server(settings, build)
    first = asyncio.create_task(signals.get(), name="first signal")
    try:
        if not await _started(server, first):
            log.info("%s: stopping before all was ready", first.result().name)
            return 0
    except OSError as error:
        first.cancel()
        sys.stderr.write(f"pilothouse serve: {_explained(settings, error)}\n")
        return 1
    tune_garbage_collector()
    sys.stdout.write(banner(server))
    sys.stdout.flush()
    log.info("%s: stopping; once more to stop at once", (await first).name)
    stopping = asyncio.create_task(server.stop(), name="stop")
    second = asyncio.create_task(signals.get(), name="second signal")
    await asyncio.wait((stopping, second), return_when=asyncio.FIRST_COMPLETED)
    if stopping.done():
        second.cancel()
        await stopping
        return 0
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    await server.abort()
    return 1


async def _started(server: Server, signalled: asyncio.Task[signal.Signals]) -> bool:
    """Whether the server got ready; what keeps it from that may last forever, so that a signal ends the wait. Raises
    OSError as `Server.start`.
    """
    starting = asyncio.create_task(server.start(), name="start")
    await asyncio.wait((starting, signalled), return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        await starting
        return True
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    return False


def allow_many_connections() -> None:
    """Each connection is an open file, and the usual soft limit of 1,024 is soon reached by watches."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def banner(server: Server) -> str:
    """What a user needs to know, and no more."""
    settings = server.settings
    kept = "in memory (gone at the end)" if settings.storage == "memory" else str(settings.data.resolve())
    return (
        f"pilothouse serves the Kubernetes API on {server.url}\n"
        f"  use it:  kubectl --kubeconfig {server.material.kubeconfig.resolve()} get namespaces\n"
        f"  data:    {kept}\n"
    )


def _explained(settings: Settings, error: OSError) -> str:
    if isinstance(error, PermissionError) and not error.filename:
        return f"port {settings.port} is not allowed to this user; choose one with --port"
    if "in use" in str(error):
        return f"{settings.host}:{settings.port} is in use already; stop the other server or choose another --port"
    return str(error)
