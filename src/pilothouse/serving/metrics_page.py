"""/metrics and /metrics/slis: what a scrape gets, made in a thread because it takes a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pilothouse.kit import exposition
from pilothouse.kit.metrics import Registry
from pilothouse.serving.http import Handler, Request, Response

_FORMS: Final[dict[str, tuple[str, Callable[[Registry], bytes]]]] = {
    "protobuf": (exposition.PROTOBUF_TYPE, exposition.protobuf),
    "text": (exposition.TEXT_TYPE, exposition.text),
}
_PROTOBUF: Final = "application/vnd.google.protobuf"
_MESSAGE: Final = "io.prometheus.client.MetricFamily"
_ESCAPINGS: Final = ("allow-utf-8", "underscores", "dots", "values")
_MOST_CLAUSES: Final = 100


def metrics_handler(registry: Registry, began: float) -> Handler:
    """`began`: when the process did, in seconds since 1970."""

    async def serve(request: Request) -> Response:
        if request.method == "DELETE":
            registry.reset()
            return Response(200, [(b"Content-Type", b"text/plain; charset=utf-8")], b"metrics reset\n")
        form, escaping = form_of(request.header(b"accept") or "")
        media_type, render = _FORMS[form]
        registry.settle()
        body = await asyncio.to_thread(render, registry)
        return Response(
            200,
            [
                (b"Content-Type", f"{media_type}; escaping={escaping}".encode()),
                (b"Process-Start-Time-Unix", b"%d" % began),
            ],
            body,
        )

    return serve


def form_of(accept: str) -> tuple[str, str]:
    """`protobuf` or `text`, the known form that Accept likes best; and the name of how names are escaped, which is only
    said: no name of ours needs it. As in the original, a clause that is passed over may still name that.
    """
    escaping = "underscores"
    for media_type, said in _clauses(accept):
        if said.get("escaping") in _ESCAPINGS:
            escaping = said["escaping"]
        if media_type == _PROTOBUF and said.get("proto") == _MESSAGE and said.get("encoding") == "delimited":
            return "protobuf", escaping
        if media_type == "text/plain" and said.get("version", "") in ("", "0.0.4"):
            break
    return "text", escaping


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Media types with their parameters, the best liked first."""
    clauses: list[tuple[float, str, dict[str, str]]] = []
    for clause in accept.split(",", _MOST_CLAUSES)[:_MOST_CLAUSES]:
        media_type, *parameters = clause.split(";", _MOST_CLAUSES)
        said = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in parameters)}
        clauses.append((_share(said.pop("q", "")), media_type.strip(), said))
    clauses.sort(key=lambda one: -one[0])
    return [(media_type, said) for _, media_type, said in clauses]


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
