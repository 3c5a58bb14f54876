"""Versions that a webhook converts. The webhook is a small HTTPS server in this process."""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from builtin.inside import Inside, Object, run, server
from extensions.crds import define, definition, obj, path, spec_schema, version
from pilothouse.app import certificates

TEXT = {"type": "string"}
PAIR = {"type": "object", "properties": {"host": TEXT, "port": TEXT}}


class Hook:
    """Splits `host:port` for v2 and joins it for v1; says what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Object] = []
        self.refuses = ""
        self.renames = False
        self.speaks = "v1"
        self.tells = True
        self.port = 0
        self.bundle = ""

    def answer(self, review: Object) -> Object:
        request = review["request"]
        self.asked.append(request)
        if self.refuses:
            return self._response(request, {"status": "Failure", "message": self.refuses}, [])
        made = [self._converted(one, request["desiredAPIVersion"]) for one in request["objects"]]
        return self._response(request, {"status": "Success"}, made)

    def _response(self, request: Object, result: Object, made: list[Object]) -> Object:
        response = {"uid": request["uid"] if self.tells else "", "result": result, "convertedObjects": made}
        return {"apiVersion": f"apiextensions.k8s.io/{self.speaks}", "kind": "ConversionReview", "response": response}

    def _converted(self, one: Object, wanted: str) -> Object:
        spec: Any = one.get("spec") or {}
        if wanted.endswith("v2"):
            host, _, port = spec.get("at", "").partition(":")
            spec = {"pair": {"host": host, "port": port}}
        else:
            spec = {"at": f"{spec['pair']['host']}:{spec['pair']['port']}"}
        made = {**one, "apiVersion": wanted, "spec": spec}
        if self.renames:
            made["metadata"] = {**made["metadata"], "name": "other"}
        return made


@asynccontextmanager
async def hook(folder: Path) -> AsyncIterator[Hook]:
    """A running webhook."""
    made = Hook()
    context, made.bundle = _identity(folder)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
                length = next(int(value) for name, _, value in lines if name == b"content-length")
                body = orjson.dumps(made.answer(orjson.loads(await reader.readexactly(length))))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    made.port = listening.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        listening.close()


def _identity(folder: Path) -> tuple[ssl.SSLContext, str]:
    pki = folder / "hook"
    certificates.make(pki, ["127.0.0.1"], time.time())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / "serving.crt", pki / "serving.key")
    return context, base64.b64encode((pki / "ca.crt").read_bytes()).decode()


async def _two_versions(api: Inside, hook: Hook, *reviews: str) -> None:
    one, two = version("v1", spec_schema(at=TEXT)), version("v2", spec_schema(pair=PAIR))
    body = definition("boats", "Boat", one, {**two, "storage": False})
    config = {"url": f"https://127.0.0.1:{hook.port}/convert", "caBundle": hook.bundle}
    webhook = {"clientConfig": config, "conversionReviewVersions": list(reviews or ("v1",))}
    body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    await define(api, body)


def test_each_version_reads_and_writes_in_its_own_form(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            await api.make(path("boats"), obj("Boat", "a", {"at": "sea:1"}))
            assert far.asked == []
            seen = await api.get(path("boats", "a", "v2"))
            assert seen["spec"] == {"pair": {"host": "sea", "port": "1"}}
            assert "resourceVersion" not in far.asked[0]["objects"][0]["metadata"]
            made = await api.make(
                path("boats", version="v2"), obj("Boat", "b", {"pair": {"host": "x", "port": "2"}}, "v2")
            )
            assert made["spec"] == {"pair": {"host": "x", "port": "2"}}
            assert (await api.get(path("boats", "b")))["spec"] == {"at": "x:2"}
            listed = await api.get(path("boats", version="v2"))
            assert [one["spec"]["pair"]["host"] for one in listed["items"]] == ["sea", "x"]

    run(story())


def test_an_object_is_converted_once_for_all_readers(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            await api.make(path("boats"), obj("Boat", "a", {"at": "sea:1"}))
            await asyncio.gather(*(api.get(path("boats", "a", "v2")) for _ in range(5)))
            await api.get(path("boats", version="v2"))
            assert len(far.asked) == 1

    run(story())


def test_owners_in_other_versions_lose_what_changes(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            await api.make(path("boats") + "?fieldManager=one", obj("Boat", "a", {"at": "sea:1"}))
            patch = {"spec": {"pair": {"port": "2"}}}
            where = path("boats", "a", "v2") + "?fieldManager=two"
            reply = await api.send("PATCH", where, patch, kind="application/merge-patch+json")
            owned = {entry["manager"]: entry["fieldsV1"] for entry in reply["metadata"]["managedFields"]}
            assert owned["one"] == {"f:spec": {}}
            assert owned["two"] == {"f:spec": {"f:pair": {"f:port": {}}}}

    run(story())


def test_refusals_come_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            await api.make(path("boats"), obj("Boat", "a", {"at": "sea:1"}))
            far.refuses = "not today"
            read = await api.send("GET", path("boats", "a", "v2"))
            assert (read.status, read["reason"]) == (500, "InternalError")
            body = obj("Boat", "b", {"pair": {"host": "x", "port": "2"}}, "v2")
            written = await api.send("POST", path("boats", version="v2"), body)
            assert written["message"] == "conversion webhook for farm.example.com/v2, Kind=Boat failed: not today"
            assert (await api.send("DELETE", path("boats", "a", "v2")))["reason"] == "InternalError"
            far.refuses = ""
            assert (await api.get(path("boats", "a", "v2")))["spec"]["pair"]["host"] == "sea"

    run(story())


def test_reviews_are_of_the_first_version_that_both_know(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far, "v9", "v1beta1", "v1")
            await api.make(path("boats"), obj("Boat", "a", {"at": "sea:1"}))
            refused = await api.send("GET", path("boats", "a", "v2"))
            assert refused["message"] == (
                "Internal error occurred: conversion webhook for farm.example.com/v1, Kind=Boat failed: "
                "expected webhook response of apiextensions.k8s.io/v1beta1, Kind=ConversionReview, "
                "got apiextensions.k8s.io/v1, Kind=ConversionReview"
            )
            far.speaks, far.tells = "v1beta1", False
            assert (await api.get(path("boats", "a", "v2")))["spec"]["pair"]["host"] == "sea"

    run(story())


def test_an_answer_to_another_question_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            await api.make(path("boats"), obj("Boat", "a", {"at": "sea:1"}))
            far.tells = False
            assert 'expected response.uid "' in (await api.send("GET", path("boats", "a", "v2")))["message"]

    run(story())


def test_names_are_not_for_webhooks_to_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with hook(tmp_path) as far, server(tmp_path) as api:
            await _two_versions(api, far)
            far.renames = True
            body = obj("Boat", "b", {"pair": {"host": "x", "port": "2"}}, "v2")
            refused = await api.send("POST", path("boats", version="v2"), body)
            assert refused["message"].endswith("returned invalid object: must have the same name: b != other")

    run(story())
