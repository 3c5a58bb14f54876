"""The far side of admission webhooks: a small HTTPS server in this process that answers as it is told, and the
configurations that lead to it.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from builtin.inside import Inside
from pilothouse.app import certificates

Object = dict[str, Any]
Answer = Callable[[Object], Object]  # the request of a review -> members of its response
BASE = "/apis/admissionregistration.k8s.io/v1"
MUTATING = "mutatingwebhookconfigurations"
VALIDATING = "validatingwebhookconfigurations"
KINDS = {MUTATING: "MutatingWebhookConfiguration", VALIDATING: "ValidatingWebhookConfiguration"}
CONFIG_MAPS = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
MAPS = "/api/v1/namespaces/default/configmaps"


def allow(request: Object) -> Object:
    return {}


def deny(message: str, code: int = 403) -> Answer:
    return lambda request: {"allowed": False, "status": {"code": code, "message": message}}


def patch(*operations: Object) -> Answer:
    encoded = base64.b64encode(orjson.dumps(operations)).decode()
    return lambda request: {"patchType": "JSONPatch", "patch": encoded}


def add(path: str, value: Any) -> Object:
    return {"op": "add", "path": path, "value": value}


class Far:
    """`answers`: by the first word of the path. `seen`: (that word, request) of every call, in order.

    `raw`: whole answers (head and body) that are sent instead, by word. A word in `held` is answered when its event is
    set.
    """

    def __init__(self, bundle: str) -> None:
        self.bundle = bundle
        self.port = 0
        self.answers: dict[str, Answer] = {}
        self.raw: dict[str, bytes] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.seen: list[tuple[str, Object]] = []
        self.versions: list[str] = []
        self.connections = 0
        self.targets: list[str] = []
        self.heads: list[bytes] = []  # in lower case
        self.packed = False

    def config(self, word: str) -> Object:
        return {"url": f"https://127.0.0.1:{self.port}/{word}", "caBundle": self.bundle}

    def hook(self, word: str, **more: Any) -> Object:
        """A webhook that sees all writes of config maps, unless `more` says otherwise."""
        return {
            "name": f"{word}.hooks.example.com", "clientConfig": self.config(word), "rules": [CONFIG_MAPS],
            "sideEffects": "None", "admissionReviewVersions": ["v1"], **more,
        }  # fmt: skip

    def requests(self, word: str) -> list[Object]:
        return [request for called, request in self.seen if called == word]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
                length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
                target = head.split(b" ", 2)[1].decode()
                self.targets.append(target)
                self.heads.append(head.lower())
                body = await reader.readexactly(length)
                writer.write(await self._answer(target.strip("/").partition("?")[0].partition("/")[0], body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            writer.close()

    async def _answer(self, word: str, body: bytes) -> bytes:
        review = orjson.loads(body) if body else {"request": {}}
        request = review["request"]
        self.seen.append((word, request))
        self.versions.append(review.get("apiVersion", ""))
        if word in self.held:
            await self.held[word].wait()
        if word in self.raw:
            return self.raw[word]
        response = {"uid": request.get("uid"), "allowed": True, **self.answers.get(word, allow)(request)}
        text = orjson.dumps({"apiVersion": review.get("apiVersion"), "kind": "AdmissionReview", "response": response})
        packed = b"Content-Encoding: gzip\r\n" if self.packed else b""
        return raw(gzip.compress(text) if self.packed else text, more=packed)


def raw(body: bytes, status: int = 200, more: bytes = b"") -> bytes:
    """A whole answer."""
    return b"HTTP/1.1 %d Word\r\n%bContent-Length: %d\r\n\r\n%b" % (status, more, len(body), body)


@asynccontextmanager
async def far_side(folder: Path) -> AsyncIterator[Far]:
    pki = folder / "hook"
    certificates.make(pki, ["127.0.0.1", "hook.default.svc"], time.time())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / "serving.crt", pki / "serving.key")
    made = Far(base64.b64encode((pki / "ca.crt").read_bytes()).decode())
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    made.port = listening.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        for event in made.held.values():
            event.set()
        listening.close()


async def configure(api: Inside, plural: str, name: str, *hooks: Object) -> Object:
    """Make a configuration. It is in effect when this returns."""
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": KINDS[plural], "metadata": {"name": name}}
    return await api.make(f"{BASE}/{plural}", {**body, "webhooks": list(hooks)})


def config_map(name: str = "a", **more: Any) -> Object:
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}
