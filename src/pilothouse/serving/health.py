"""/healthz, /livez and /readyz with their named checks (Kubernetes documentation, "Kubernetes API health endpoints")."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from pilothouse.serving.http import Handler, Request, Response

_log = logging.getLogger(__name__)
_TEXT: Final = (b"Content-Type", b"text/plain; charset=utf-8")
_NOSNIFF: Final = (b"X-Content-Type-Options", b"nosniff")


class CheckFailed(Exception):
    """Why a check fails; clients are not told, the log is."""


@dataclass(frozen=True, slots=True)
class Check:
    """`probe` raises CheckFailed when something is wrong."""

    name: str
    probe: Callable[[], Awaitable[None]]


async def always_well() -> None:
    """A check of something that can't fail while the server answers at all."""


def health_handler(endpoint: str, checks: Callable[[], Sequence[Check]]) -> Handler:
    """Serves `/ENDPOINT` and `/ENDPOINT/CHECK`."""

    async def serve(request: Request) -> Response:
        single = request.path.removeprefix(f"/{endpoint}").strip("/")
        if single:
            return await _one(endpoint, single, checks())
        return await _all(endpoint, checks(), request.query)

    return serve


async def _one(endpoint: str, name: str, checks: Sequence[Check]) -> Response:
    for check in checks:
        if check.name == name:
            if await _failure(endpoint, check) is None:
                return Response(200, [_TEXT, _NOSNIFF], b"ok")
            return Response(500, [_TEXT, _NOSNIFF], b"internal server error: reason withheld\n")
    return Response(404, [_TEXT, _NOSNIFF], b"404 page not found\n")


async def _all(endpoint: str, checks: Sequence[Check], query: str) -> Response:
    asked = parse_qs(query, keep_blank_values=True)
    excluded = set(asked.get("exclude", ()))
    unknown = excluded - {check.name for check in checks}
    lines: list[str] = []
    failed = False
    for check in checks:
        if check.name in excluded:
            lines.append(f"[+]{check.name} excluded: ok")
        elif await _failure(endpoint, check) is None:
            lines.append(f"[+]{check.name} ok")
        else:
            failed = True
            lines.append(f"[-]{check.name} failed: reason withheld")
    if unknown:
        shown = ", ".join(f'"{name}"' for name in sorted(unknown))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}")
    text = "".join(f"{line}\n" for line in lines)
    if failed:
        return Response(500, [_TEXT, _NOSNIFF], f"{text}{endpoint} check failed\n".encode())
    if "verbose" in asked:
        return Response(200, [_TEXT, _NOSNIFF], f"{text}{endpoint} check passed\n".encode())
    return Response(200, [_TEXT, _NOSNIFF], b"ok")


async def _failure(endpoint: str, check: Check) -> CheckFailed | None:
    try:
        await check.probe()
    except CheckFailed as error:
        _log.warning("%s check %s failed: %s", endpoint, check.name, error)
        return error
    return None
