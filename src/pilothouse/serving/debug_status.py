"""/statusz and /flagz: what is running and how it was told to run, as text or as an object of config.k8s.io."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery import yamlcodec
from pilothouse.machinery.errors import not_acceptable
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.times import format_time
from pilothouse.serving.http import Handler, HeaderList, Request, Response

_VERSIONS: Final = ("v1beta1", "v1alpha1")  # the first is not deprecated
_JSON: Final = "application/json"
_YAML: Final = "application/yaml"
_TEXT: Final = "text/plain"
_ANY: Final = ("*/*", "text/*", _TEXT)
_PATHS: Final = ("/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version")


@record
class Running:
    """What runs. `binary` is the version that clients see, `emulated` its first parts, `python` the language's."""

    began: datetime
    now: Callable[[], datetime]
    binary: str
    emulated: str
    python: str


def statusz_handler(running: Running) -> Handler:
    def show() -> dict[str, Any]:
        return {
            "startTime": format_time(running.began),
            "uptimeSeconds": int((running.now() - running.began).total_seconds()),
            "goVersion": running.python,
            "binaryVersion": running.binary,
            "emulationVersion": running.emulated,
            "paths": list(_PATHS),
        }

    return _handler("Statusz", "statusz", show)


def flagz_handler(flags: Mapping[str, str]) -> Handler:
    """`flags`: name -> value, as they would be written on the command line."""

    def show() -> dict[str, Any]:
        return {"flags": dict(sorted(flags.items()))}

    return _handler("Flagz", "flagz", show)


def _handler(kind: str, page: str, show: Callable[[], dict[str, Any]]) -> Handler:
    async def serve(request: Request) -> Response:
        media_type, version = _chosen(request.header(b"accept") or "*/*", kind)
        if media_type == _TEXT:
            return Response(200, [(b"Content-Type", b"text/plain; charset=utf-8")], _as_text(page, show()))
        document = {
            "kind": kind,
            "apiVersion": f"config.k8s.io/{version}",
            "metadata": {"name": "apiserver"},
            **show(),
        }
        headers: HeaderList = [(b"Content-Type", f"{media_type};g=config.k8s.io;v={version};as={kind}".encode())]
        if version != _VERSIONS[0]:
            text = f"This version of the {page} endpoint is deprecated. Please use a newer version."
            headers.append((b"Warning", f'299 - "{text}"'.encode()))
        body = yamlcodec.dumps(document) if media_type == _YAML else dumps(document) + b"\n"
        return Response(200, headers, body)

    return serve


def _chosen(accept: str, kind: str) -> tuple[str, str]:
    """Media type and version of the answer, by the first clause that fits. Raises APIError 406."""
    for clause in accept.split(","):
        media_type, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest)
        if media_type in _ANY:
            return _TEXT, ""
        version = parameters.get("v", "")
        wanted = parameters.get("g") == "config.k8s.io" and parameters.get("as") == kind
        if media_type in (_JSON, _YAML) and wanted and version in _VERSIONS:
            return media_type, version
    raise not_acceptable((_JSON, _YAML, _TEXT))


def _as_text(page: str, shown: dict[str, Any]) -> bytes:
    lines = [f"apiserver {page}", "This page is for people; programs ask for an object of config.k8s.io.", ""]
    for name, value in shown.items():
        if isinstance(value, dict):
            lines += [f"{key}={text}" for key, text in value.items()]
        else:
            lines.append(f"{name}: {' '.join(value) if isinstance(value, list) else value}")
    return ("\n".join(lines) + "\n").encode()
