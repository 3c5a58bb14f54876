"""Bytes and headers of answers: Status documents, errors, whole objects.

The one place where an API error becomes a response.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from pilothouse.endpoints.negotiation import CBOR, JSON, OFFERED, PROTOBUF, YAML, Form, negotiate
from pilothouse.machinery import cbor
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps, dumps_pretty
from pilothouse.serving.http import HeaderList, Request, Response

_TYPES: Final = {JSON: JSON.encode(), YAML: YAML.encode(), PROTOBUF: PROTOBUF.encode()}
_HEADERS: Final[dict[str, tuple[bytes, bytes]]] = {name: (b"Content-Type", value) for name, value in _TYPES.items()}


class MetaEncoder(Protocol):
    """Encodes documents of meta/v1 (Status, PartialObjectMetadata) in forms other than JSON."""

    def yaml(self, obj: dict[str, Any]) -> bytes: ...

    def protobuf(self, obj: dict[str, Any]) -> bytes: ...


def headers_of(media_type: str) -> HeaderList:
    header = _HEADERS.get(media_type)
    return [header if header is not None else (b"Content-Type", media_type.encode())]


class Renderer:
    """Renders documents that are small dicts. `encoder` brings the forms that need tables; `offered`: media types."""

    def __init__(self, encoder: MetaEncoder, offered: tuple[str, ...] = OFFERED) -> None:
        self._encoder = encoder
        self.offered = offered

    def encode(self, obj: dict[str, Any], form: Form) -> bytes:
        if form.media_type == YAML:
            return self._encoder.yaml(obj)
        if form.media_type == PROTOBUF:
            return self._encoder.protobuf(obj)
        if form.media_type == CBOR:
            return cbor.dumps(obj)
        return dumps_pretty(obj) if form.pretty else dumps(obj) + b"\n"

    def document(self, obj: dict[str, Any], form: Form, status: int = 200) -> Response:
        return Response(status, headers_of(form.media_type), self.encode(obj, form))

    def error(self, request: Request, error: APIError) -> Response:
        """The Status of an error, in the form that the client asked for; JSON where it asked for what there is not."""
        try:
            form = negotiate(request, offered=self.offered)
        except APIError:
            form = Form(JSON, pretty=True)
        if form.form:
            form = Form(form.media_type)
        answer = self.document(error.status(), form, error.code)
        if error.retry_after:
            answer.headers.append((b"Retry-After", str(error.retry_after).encode()))
        answer.headers += error.headers
        return answer
