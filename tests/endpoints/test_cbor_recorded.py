"""CBOR with its feature on, exchange by exchange as recorded of kube-apiserver. The order of members is free."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cbor2
import pytest

from endpoints.served import DEADLINE, Collected, Seen, Served
from pilothouse.machinery import cbor
from pilothouse.serving.http import Response, Stream
from pilothouse.storage.api import prefix_end
from support.inprocess import asked, body_of

from .test_watch_websocket import BINARY, connect, handshake

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "cbor_recorded.json").read_text())
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in RECORDED["cases"]}
# Names of exchanges that are not equal, and why. An entry that is equal must go.
DIFFERENT = {
    "cr-create": "a custom resource is kept as JSON, which writes 1.0 as 1",
    "cr-list": "the same object",
    "stored": "a custom resource is kept as JSON",
}
NAMESPACE = "/api/v1/namespaces/wire"
CONFIG_MAP = f"{NAMESPACE}/configmaps/cm"
KEY = str(CASES["stored"]["key"])
SAMPLES = "samples.wire.example.com"
DEFINITION = {
    "metadata": {"name": SAMPLES},
    "spec": {
        "group": "wire.example.com",
        "names": {"plural": "samples", "singular": "sample", "kind": "Sample", "listKind": "SampleList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
Told = tuple[int, str, Any]  # status, media type, what the body says


def started(served: Served) -> None:
    """What was there before the first exchange was recorded."""
    served.make("/api/v1/namespaces", {"metadata": {"name": "wire"}})
    served.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    served.run(serves_samples(served))
    for one in RECORDED["objects"]:
        obj = json.loads(one["json_text"])
        metadata = {key: obj["metadata"][key] for key in ("name", "labels") if key in obj["metadata"]}
        kept = {key: value for key, value in obj.items() if key != "status"}
        served.make(one["path"].rpartition("/")[0], {**kept, "metadata": metadata})


async def serves_samples(served: Served) -> None:
    async with asyncio.timeout(DEADLINE):
        while (await served.send("GET /apis/wire.example.com/v1/namespaces/wire/samples")).status != 200:
            await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def told(speaking: Served) -> dict[str, Told]:
    """What this server says to each exchange, in their order."""
    started(speaking)
    return {name: speaking.run(exchanged(speaking, case)) for name, case in CASES.items()}


async def exchanged(served: Served, case: dict[str, Any]) -> Told:
    if case["name"] == "websocket":
        return await messages(served)
    if case["name"] == "stored":
        return 0, "", (await kept(served)).decode()
    if case["name"].startswith("watch-"):
        return await watched(served, case)
    return told_by(await sent(served, case["request"]))


async def sent(served: Served, request: dict[str, Any]) -> Seen:
    headers = dict(request["headers"])
    body = base64.b64decode(request["body_b64"]) if "body_b64" in request else None
    what = f"{request['method']} {request['path']}"
    token = "" if "Authorization" in headers else "admin"
    asking = asked(what, body, headers.pop("Content-Type", ""), token=token, headers=headers)
    answer = await served.application.handler(asking)
    assert isinstance(answer, Response), answer
    return Seen(answer.status, {key.decode(): value.decode() for key, value in answer.headers}, body_of(answer))


async def changed(served: Served, text: str) -> int:
    """The version before a change of the ConfigMap, which is made."""
    before = (await served.send(f"GET {CONFIG_MAP}")).json()["metadata"]["resourceVersion"]
    patch = {"data": {"a": text}}
    assert (await served.send(f"PATCH {CONFIG_MAP}", patch, kind="application/merge-patch+json")).status == 200
    return int(before)


async def watched(served: Served, case: dict[str, Any]) -> Told:
    """The first event of a watch from before a change on."""
    answer = case["response"]
    chunks = answer.get("chunks_b64", ())
    events = cbor.loads_sequence(b"".join(base64.b64decode(chunk) for chunk in chunks))
    before = await changed(served, events[0]["object"]["data"]["a"] if events else case["name"])
    path = re.sub("resourceVersion=[0-9]+", f"resourceVersion={before}", case["request"]["path"])
    if answer["status"] != 200:
        return told_by(await sent(served, {**case["request"], "path": path}))
    stream = await served.application.handler(asked(f"GET {path}", token="admin", headers=case["request"]["headers"]))
    assert isinstance(stream, Stream), stream
    writer = Collected()
    task = asyncio.ensure_future(stream.run(writer))
    data = await writer.until(lambda data: b"MODIFIED" in data)
    writer.leave()
    await asyncio.wait_for(task, DEADLINE)
    return stream.status, dict(stream.headers)[b"Content-Type"].decode(), described(data)


async def messages(served: Served) -> Told:
    before = await changed(served, "application/cbor-seq;stream=watch")
    path = f"{NAMESPACE}/configmaps?watch=1&resourceVersion={before}&fieldSelector=metadata.name=cm"
    browser, talk = await connect(served, path, handshake(accept="application/cbor"))
    opcode, payload = await browser.message()
    assert opcode == BINARY
    browser.hang_up()
    await asyncio.wait_for(talk, DEADLINE)
    return 101, "", described(payload)


async def kept(served: Served) -> bytes:
    """What is stored of the custom object."""
    found = await served.application.engine.range(KEY, prefix_end(KEY))
    return found.items[0].value


def recorded(case: dict[str, Any]) -> Told:
    """What the original said."""
    if case["name"] == "websocket":
        return 101, "", described(base64.b64decode(case["frames"][0]["base64"]))
    if case["name"] == "stored":
        return 0, "", described(base64.b64decode(case["value_b64"]))
    answer = case["response"]
    if "body" in answer:
        body = answer["body"].encode()
    else:
        body = b"".join(base64.b64decode(piece) for piece in answer.get("chunks_b64", (answer.get("body_b64", ""),)))
    return told_by(Seen(answer["status"], {"Content-Type": answer["content_type"]}, body))


def told_by(seen: Seen) -> Told:
    is_cbor = seen.kind.startswith("application/cbor")
    if is_cbor:
        return seen.status, seen.kind, described(seen.body)
    text = anonymous(seen.body.decode())
    return seen.status, seen.kind, ("\n  " in text, json.loads(text))


def described(data: bytes) -> Any:
    """What CBOR says to another library: byte strings and texts, whole and broken numbers kept apart."""
    assert data.startswith(cbor.SELF_DESCRIBED)
    return apart(cbor2.loads(data))


def apart(value: Any) -> Any:
    if isinstance(value, Mapping):
        made = {apart(key): apart(item) for key, item in value.items()}
        continued = ("bytes", "continue")
        return {**made, continued: "somewhere"} if continued in made else made
    if isinstance(value, list | tuple):
        return [apart(item) for item in value]
    if isinstance(value, bytes):
        return "bytes", value if b"\xff" in value else anonymous(value.decode())
    if isinstance(value, cbor2.CBORTag):
        return "tag", value.tag, apart(value.value)
    return type(value).__name__, value


def anonymous(text: str) -> str:
    """Without what differs from one day to the other."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", text)
    text = re.sub(r"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", "TIME", text)
    text = re.sub(r'("resourceVersion":)"[0-9]+"', r'\1"N"', text)
    return "N" if text.isdecimal() and len(text) < 4 else text


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT])
def test_an_exchange_is_as_recorded(told: dict[str, Told], name: str) -> None:
    assert told[name] == recorded(CASES[name])


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_listed_as_different_is(told: dict[str, Told], name: str) -> None:
    assert told[name] != recorded(CASES[name])


@pytest.mark.parametrize("one", RECORDED["objects"][1:3], ids=["lease", "service"])
def test_an_object_is_as_recorded(speaking: Served, told: dict[str, Told], one: dict[str, Any]) -> None:
    seen = speaking.ask(f"GET {one['path']}", headers={"Accept": "application/cbor"})
    ours, theirs = described(seen.body), described(base64.b64decode(one["cbor_b64"]))
    for obj in (ours, theirs):  # it was made in one go here
        del obj["bytes", "metadata"]["bytes", "managedFields"]
    assert ours == theirs
