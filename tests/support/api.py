"""A plain HTTPS client for tests: it shows status, headers and bytes as they came."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Watch:
    """A running watch: iterate over it for its events. It ends when the server ends it, or with TimeoutError."""

    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._answer = answer
        self.status = answer.status

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while line := self._answer.readline():
            yield json.loads(line)

    def take(self, number: int) -> list[dict[str, Any]]:
        """The next events; fewer where the watch ends."""
        events = iter(self)
        return [event for _, event in zip(range(number), events, strict=False)]

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Api:
    """One keep-alive connection. Not for several threads."""

    def __init__(self, host: str, port: int, ca: Path, token: str, timeout: float) -> None:
        """`token` "" is nobody; `timeout`: seconds for each step of a socket."""
        self._host, self._port, self._timeout = host, port, timeout
        self.context = ssl.create_default_context(cafile=str(ca))
        self.token = token
        self._connection: http.client.HTTPSConnection | None = None

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self.context)

    def request(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, *, kind: str = JSON
    ) -> Answer:
        """Send and wait for the whole answer. A `body` that is no bytes is sent as JSON; `kind`: its media type."""
        if self._connection is None:
            self._connection = self.connect()
        data, sent = self._prepared(body, headers, kind)
        try:
            self._connection.request(method, path, body=data, headers=sent)
            answer = self._connection.getresponse()
            found = Answer(answer.status, dict(answer.getheaders()), answer.read())
        except BaseException:
            self.close()
            raise
        if answer.will_close:
            self.close()
        return found

    def _prepared(
        self, body: object, headers: Mapping[str, str] | None, kind: str
    ) -> tuple[bytes | None, dict[str, str]]:
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = kind
        return data, {**sent, **(headers or {})}

    def get(self, path: str, **headers: str) -> Answer:
        """`headers`: names with _ for -."""
        return self.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, body: object, kind: str = JSON) -> Answer:
        return self.request("POST", path, body, kind=kind)

    def put(self, path: str, body: object, kind: str = JSON) -> Answer:
        return self.request("PUT", path, body, kind=kind)

    def patch(self, path: str, body: object, kind: str = "application/merge-patch+json") -> Answer:
        return self.request("PATCH", path, body, kind=kind)

    def delete(self, path: str, body: object = None) -> Answer:
        return self.request("DELETE", path, body)

    def watch(self, path: str) -> Watch:
        """On a connection of its own. `path` with its query, `watch=1` included."""
        connection = self.connect()
        connection.request("GET", path, headers=self._prepared(None, None, JSON)[1])
        return Watch(connection, connection.getresponse())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
