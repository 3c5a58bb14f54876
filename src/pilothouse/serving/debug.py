"""/debug/pprof/ and /debug/flags/: profiles of the running server, and the level of its log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from pilothouse.serving.debug_profiles import (
    LONGEST_SECONDS,
    Busy,
    Profiler,
    stacks_as_profile,
    stacks_as_text,
    task_stacks,
    thread_stacks,
)
from pilothouse.serving.http import BodyTooLarge, Handler, HeaderList, Request, Response

_HTML: Final = b"text/html; charset=utf-8"
_NOSNIFF: Final = (b"X-Content-Type-Options", b"nosniff")
_TEXT: Final = b"text/plain; charset=utf-8"
_BINARY: Final = b"application/octet-stream"
_PROFILES: Final = {
    "allocs": "what is allocated while it is taken (seconds=N, 1 by default)",
    "goroutine": "where the tasks of the event loop wait (debug=1: as text; debug=2: with the threads)",
    "heap": "what is allocated while it is taken and held at its end (seconds=N, 1 by default)",
    "profile": "where the threads are, a hundred times a second (seconds=N, 30 by default)",
    "threadcreate": "where the threads are now (debug=1: as text)",
}


def pprof_handler() -> Handler:
    """Serves /debug/pprof and all below it."""
    profiler = Profiler()

    async def serve(request: Request) -> Response:
        if request.path == "/debug/pprof":
            headers = [(b"Content-Type", _HTML), (b"Location", b"/debug/pprof/")]
            return Response(302, headers, b'<a href="/debug/pprof/">Found</a>.\n\n')
        name = request.path.removeprefix("/debug/pprof/")
        if not name:
            return Response(200, [(b"Content-Type", _HTML), _NOSNIFF], _index())
        if name not in _PROFILES:
            return _text(404, "Unknown profile\n")
        query = parse_qs(request.query)
        try:
            return await _profile(profiler, name, query)
        except Busy as error:
            return _text(500, f"Could not enable profiling: {error}\n")
        except ValueError:
            return _text(400, "seconds and debug are numbers\n")

    return serve


async def _profile(profiler: Profiler, name: str, query: dict[str, list[str]]) -> Response:
    """Raises Busy, ValueError for a query that cannot be read."""
    debug = int(query.get("debug", ["0"])[0])
    seconds = float(query.get("seconds", ["30" if name == "profile" else "1"])[0])
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(seconds)
    if name == "profile":
        return _file(name, await profiler.cpu(seconds))
    if name in ("heap", "allocs"):
        return _file(name, await profiler.heap(seconds, name == "allocs"))
    what, stacks = ("thread", thread_stacks()) if name == "threadcreate" else ("task", task_stacks())
    if not debug:
        return _file(name, stacks_as_profile(stacks, what))
    shown = stacks_as_text(stacks, what)
    if debug > 1 and what == "task":
        shown += "\n" + stacks_as_text(thread_stacks(), "thread")
    return _text(200, shown)


def _file(name: str, body: bytes) -> Response:
    disposition = f'attachment; filename="{name}"'.encode()
    headers: HeaderList = [(b"Content-Type", _BINARY), (b"Content-Disposition", disposition)]
    return Response(200, [*headers, _NOSNIFF], body)


def _text(status: int, body: str) -> Response:
    return Response(status, [(b"Content-Type", _TEXT), _NOSNIFF], body.encode())


def _index() -> bytes:
    rows = "".join(f"<li><a href='{name}?debug=1'>{name}</a>: {text}</li>\n" for name, text in _PROFILES.items())
    return (
        "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<p>Profiles for `pprof`:</p>\n"
        f"<ul>\n{rows}</ul>\n</body>\n</html>\n"
    ).encode()


_FLAGS_PAGE: Final = (
    b"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
    b"<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n"
)
_DEBUG_FROM: Final = 4  # at this verbosity, as everywhere in Kubernetes, one sees what is for developers
_LONGEST: Final = 1024


def set_verbosity(logger: logging.Logger) -> Callable[[int], None]:
    """How a verbosity changes the level of `logger`: 0 gives back the level it was started with."""
    before = logger.level

    def change(verbosity: int) -> None:
        if verbosity >= _DEBUG_FROM:
            logger.setLevel(logging.DEBUG)
        elif verbosity:
            logger.setLevel(min(before or logging.INFO, logging.INFO))
        else:
            logger.setLevel(before)

    return change


def flags_handler(change: Callable[[int], None]) -> Handler:
    """Serves /debug/flags and /debug/flags/v; `change` is called with a new verbosity."""

    async def serve(request: Request) -> Response:
        if request.path != "/debug/flags/v":
            return Response(200, [(b"Content-Type", _HTML)], _FLAGS_PAGE)
        if request.method != "PUT":
            return _plain(406, "unsupported http method\n")
        try:
            sent = (await request.body.read(_LONGEST)).decode("utf-8", "replace")
        except BodyTooLarge:
            return _plain(400, "error reading request body: too long\n")
        if not sent.isascii() or not sent.isdigit():
            quoted = '"' + sent.replace("\\", "\\\\").replace('"', '\\"') + '"'
            return _plain(400, f"strconv.ParseUint: parsing {quoted}: invalid syntax\n")
        change(min(int(sent), 1000))
        return _plain(200, f"successfully set klog.logging.verbosity to {sent}\n")

    return serve


def _plain(status: int, body: str) -> Response:
    return Response(status, [(b"Content-Type", b"text/plain")], body.encode())
