"""The original's own round-trip objects and recorded answers: our bytes are its bytes, our objects its JSON."""

from __future__ import annotations

import base64
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.builtin.types import CORE, META, TypeTable, builtin_types
from pilothouse.machinery import protobuf, yamlcodec
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

SHARED = Path(__file__).resolve().parents[3] / "shared"
CORPUS = SHARED / "corpus" / "api-roundtrip-1.37.tar.gz"
OBJECTS = SHARED / "facts" / "wire" / "protobuf-objects.json"
REQUESTS = SHARED / "facts" / "wire" / "protobuf-requests.json"
VALUES = SHARED / "facts" / "wire" / "etcd-values.json"
WATCHES = SHARED / "facts" / "wire" / "watch.json"

_FOLDERS = {"": "core", "rbac.authorization.k8s.io": "rbac", "flowcontrol.apiserver.k8s.io": "flowcontrol",
            "internal.apiserver.k8s.io": "apiserverinternal"}  # fmt: skip


def package_of(api_version: str) -> str:
    group, _, version = api_version.rpartition("/")
    folder = _FOLDERS.get(group, group.partition(".")[0])
    homes = {
        "apiextensions": "k8s.io/apiextensions-apiserver/pkg/apis/",
        "apiregistration": "k8s.io/kube-aggregator/pkg/apis/",
        "meta": "k8s.io/apimachinery/pkg/apis/",
        "audit": "k8s.io/apiserver/pkg/apis/",
    }
    return homes.get(folder, "k8s.io/api/") + f"{folder}/{version}"


def schema_of(api_version: str, kind: str) -> Schema:
    table = builtin_types()
    package = package_of(api_version or "v1")
    return table.get(package if table.has(package, kind) else META, kind)


def misread(table: TypeTable) -> bool:
    """Whether the table takes ReinvocationPolicyType of older versions, an alias of a string, for a struct."""
    webhook = table.get("k8s.io/api/admissionregistration/v1beta1", "MutatingWebhook")
    return webhook.properties["reinvocationPolicy"].schema.kind != s.STRING


def misnamed(name: str) -> bool:
    """Whether a file holds such a type."""
    if not misread(builtin_types()):
        return False
    return "admissionregistration.k8s.io.v1" in name and (
        "beta1.Mut" in name or "alpha1.MutatingAdmissionPolicy." in name
    )


def corpus() -> dict[str, bytes]:
    """All files by name."""
    with tarfile.open(CORPUS) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        return {name: file.read() for name, file in files.items() if file is not None}


@pytest.mark.shared
@pytest.mark.skipif(not CORPUS.exists(), reason="needs the shared corpus")
def test_every_kind_of_the_original_round_trips_byte_for_byte() -> None:
    contents = corpus()
    seen = 0
    for name in sorted(contents):
        if not name.endswith(".pb") or name.endswith("core.v1.WatchEvent.pb"):
            continue
        api_version, kind, raw = protobuf.unwrap(contents[name])
        if misnamed(name):
            continue
        expected = json.loads(contents[name[:-3] + ".json"])
        schema = schema_of(api_version, kind)
        decoded = protobuf.decode_message(schema, raw, api_version, kind)
        assert json.dumps(decoded) == json.dumps(expected), name  # the order of members too
        assert protobuf.encode_message(schema, expected) == raw, name
        assert protobuf.wrap(api_version, kind, raw) == contents[name], name
        seen += 1
    assert seen > 185


@pytest.mark.shared
@pytest.mark.skipif(not CORPUS.exists(), reason="needs the shared corpus")
def test_every_kind_says_the_same_in_json_yaml_and_protobuf() -> None:
    contents = corpus()
    seen = 0
    for name in sorted(contents):
        if not name.endswith(".yaml"):
            continue
        text, expected = contents[name], json.loads(contents[name[:-5] + ".json"])
        assert yamlcodec.loads(text) == expected, name
        assert yamlcodec.dumps(expected) == text, name
        api_version, kind, raw = protobuf.unwrap(contents[name[:-5] + ".pb"])
        if kind and not misnamed(name):
            schema = schema_of(api_version, kind)
            decoded = protobuf.decode_message(schema, raw, api_version, kind)
            assert yamlcodec.dumps(decoded) == text, name
            assert protobuf.encode_message(schema, yamlcodec.loads(text)) == raw, name
        seen += 1
    assert seen > 185


@pytest.mark.shared
@pytest.mark.skipif(not CORPUS.exists(), reason="needs the shared corpus")
def test_the_watch_event_of_the_original_is_read_and_written() -> None:
    with tarfile.open(CORPUS) as archive:
        file = archive.extractfile("api-1.37/core.v1.WatchEvent.pb")
        assert file is not None
        data = file.read()
    api_version, kind, event = protobuf.unwrap(data)
    assert (api_version, kind) == ("", "")
    kind, inner = protobuf.read_watch_event(event)
    assert kind == "typeValue"
    assert json.loads(inner)["kind"] == "CustomType"
    assert protobuf.watch_event(kind, inner) == event


@pytest.mark.shared
@pytest.mark.skipif(not OBJECTS.exists(), reason="needs the shared facts")
def test_recorded_objects_are_written_as_they_were_answered() -> None:
    for recorded in json.loads(OBJECTS.read_text())["objects"]:
        body = base64.b64decode(next(value for key, value in recorded.items() if key.endswith("_b64")))
        obj = recorded["json"]
        api_version, kind, raw = protobuf.unwrap(body)
        schema = schema_of(api_version, kind)
        assert (api_version, kind) == (obj["apiVersion"], obj["kind"])
        assert json.dumps(protobuf.decode_message(schema, raw, api_version, kind)) == json.dumps(obj)
        assert protobuf.wrap(api_version, kind, protobuf.encode_message(schema, obj)) == body


def recorded_bodies() -> Iterator[tuple[str, bytes]]:
    for case in json.loads(REQUESTS.read_text())["cases"]:
        answer = case["response"]
        if answer.get("content_type", "").startswith("application/vnd.kubernetes.protobuf") and "body_b64" in answer:
            yield case["name"], base64.b64decode(answer["body_b64"])
    for value in json.loads(VALUES.read_text())["values"]:
        data = base64.b64decode(value["value"])
        if data.startswith(protobuf.PREFIX):
            yield value["key"], data


@pytest.mark.shared
@pytest.mark.skipif(not REQUESTS.exists(), reason="needs the shared facts")
def test_recorded_answers_and_stored_values_survive_reading_and_writing() -> None:
    seen = 0
    for name, body in recorded_bodies():
        api_version, kind, raw = protobuf.unwrap(body)
        schema = schema_of(api_version, kind)
        obj = protobuf.decode_message(schema, raw, api_version, kind)
        assert protobuf.wrap(api_version, kind, protobuf.encode_message(schema, obj)) == body, name
        seen += 1
    assert seen > 30


@pytest.mark.shared
@pytest.mark.skipif(not REQUESTS.exists(), reason="needs the shared facts")
def test_a_recorded_list_is_its_items_joined() -> None:
    bodies = dict(recorded_bodies())
    api_version, kind, raw = protobuf.unwrap(bodies["list"])
    whole = builtin_types().get(CORE, "ConfigMapList")
    item = builtin_types().get(CORE, "ConfigMap")
    obj = protobuf.decode_message(whole, raw)
    items = [protobuf.encode_message(item, one) for one in obj["items"]]
    assert protobuf.encode_list(whole, obj["metadata"], items) == raw
    pieces = protobuf.list_pieces(whole, obj["metadata"], items)
    assert b"".join(protobuf.wrap_pieces(api_version, kind, pieces)) == bodies["list"]


@pytest.mark.shared
@pytest.mark.skipif(not REQUESTS.exists(), reason="needs the shared facts")
def test_recorded_refusals_have_the_original_words() -> None:
    for case in json.loads(REQUESTS.read_text())["cases"]:
        if case["name"] not in ("create-bare", "create-truncated", "create-garbage-object", "create-empty"):
            continue
        body = base64.b64decode(case["request"].get("body_b64") or "")
        if not body and case["request"].get("body"):
            body = case["request"]["body"].encode()
        message: str = json.loads(case["response"]["body"])["message"]
        with pytest.raises(protobuf.ProtobufError) as caught:
            api_version, kind, raw = protobuf.unwrap(body)
            protobuf.decode_message(schema_of(api_version, kind), raw)
        assert str(caught.value) in message, case["name"]


def frames(data: bytes) -> Iterator[bytes]:
    while data:
        size = int.from_bytes(data[:4], "big")
        yield data[4 : 4 + size]
        data = data[4 + size :]


@pytest.mark.shared
@pytest.mark.skipif(not WATCHES.exists(), reason="needs the shared facts")
def test_recorded_watch_frames_are_written_alike() -> None:
    seen = 0
    for answer in protobuf_watches(json.loads(WATCHES.read_text())):
        for event in frames(answer):
            kind, envelope = protobuf.read_watch_event(event)
            api_version, name, raw = protobuf.unwrap(envelope)
            schema = schema_of(api_version, name)
            obj = protobuf.decode_message(schema, raw)
            again = protobuf.wrap(api_version, name, protobuf.encode_message(schema, obj))
            assert protobuf.watch_frame(kind, again) == len(event).to_bytes(4, "big") + event
            seen += 1
    assert seen


def protobuf_watches(recorded: dict[str, Any]) -> Iterator[bytes]:
    """The bodies of recorded protobuf watches."""
    for watch in recorded["watches"]:
        if "protobuf" in str(watch.get("content_type")) and watch["status"] == 200:
            yield b"".join(base64.b64decode(chunk["chunk_b64"]) for chunk in watch["chunks"])
