"""The protobuf forms hold what the JSON holds, at the field numbers of the gnostic models."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from pilothouse.builtin import documents, facts
from pilothouse.openapi.catalog import Catalog
from pilothouse.openapi.protobuf import integer, message, texts
from pilothouse.openapi.protobuf_v2 import encode_v2
from pilothouse.openapi.protobuf_v3 import encode_v3

Fields = dict[int, list[Any]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def read(data: bytes) -> Fields:
    """Field number -> raw values."""
    found: Fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value: Any
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        found.setdefault(key >> 3, []).append(value)
    return found


def one(data: bytes, *numbers: int) -> Any:
    """The only value at a path of field numbers."""
    value: Any = data
    for number in numbers:
        (value,) = read(value)[number]
    return value


def named(data: bytes, inner: int) -> dict[str, bytes]:
    return {one(pair, 1).decode(): one(pair, 2) for pair in read(data).get(inner, [])}


def extensions(message: Fields, number: int) -> dict[str, Any]:
    return {one(pair, 1).decode(): json.loads(one(pair, 2, 2)) for pair in message.get(number, [])}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    made = Catalog(lambda: 0.0)
    documents.publish(made, [r for r in facts.load() if r.default and r.group in ("", "apps")])
    return made


def test_swagger_names_every_path_and_definition(catalog: Catalog) -> None:
    document = json.loads(catalog.swagger().read())
    shown = encode_v2(document)
    assert one(shown, 1) == b"2.0"
    assert (one(shown, 2, 1), one(shown, 2, 2)) == (b"Kubernetes", b"1.37")
    assert list(named(one(shown, 8), 2)) == list(document["paths"])
    assert list(named(one(shown, 9), 1)) == list(document["definitions"])
    assert list(named(one(shown, 10), 1)) == list(document["parameters"])
    assert named(one(shown, 12), 1) == {"BearerToken": b""}


def test_a_swagger_definition_keeps_what_patches_need(catalog: Catalog) -> None:
    document = json.loads(catalog.swagger().read())
    definitions = named(one(encode_v2(document), 9), 1)
    pod = read(definitions["io.k8s.api.core.v1.Pod"])
    gvk = extensions(pod, 31)["x-kubernetes-group-version-kind"]
    assert gvk == [{"group": "", "kind": "Pod", "version": "v1"}]
    spec = named(one(definitions["io.k8s.api.core.v1.PodSpec"], 25), 1)
    containers = read(spec["containers"])
    assert one(containers[22][0], 1) == b"array"
    assert one(containers[23][0], 1, 1) == b"#/definitions/io.k8s.api.core.v1.Container"
    told = document["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert extensions(containers, 31) == {name: value for name, value in told.items() if name.startswith("x-")}
    policy = read(spec["restartPolicy"])
    assert [json.loads(one(value, 2)) for value in policy[20]] == ["Always", "Never", "OnFailure"]
    required = read(definitions["io.k8s.api.core.v1.PodSpec"])[19]
    assert required == [b"containers"]
    labels = read(named(one(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"], 25), 1)["labels"])
    assert one(labels[21][0], 1, 22, 1) == b"string"


def test_a_swagger_operation(catalog: Catalog) -> None:
    path = "/api/v1/namespaces/{namespace}/configmaps/{name}"
    item = read(named(one(encode_v2(json.loads(catalog.swagger().read())), 8), 2)[path])
    assert sorted(item) == [2, 3, 5, 8, 9]
    put = read(item[3][0])
    assert put[5] == [b"replaceCoreV1NamespacedConfigMap"]
    assert one(put[8][0], 1, 1, 5, 1) == b"#/definitions/io.k8s.api.core.v1.ConfigMap"
    assert one(put[8][1], 1, 2, 3, 4) == b"dryRun"
    assert one(put[8][2], 2, 1) == b"#/parameters/fieldManager-Qy4HdaTW"
    codes = named(put[9][0], 1)
    assert list(codes) == ["200", "201", "401"]
    assert one(codes["200"], 1, 2, 1, 1) == b"#/definitions/io.k8s.api.core.v1.ConfigMap"
    assert extensions(put, 13)["x-kubernetes-action"] == "put"
    assert one(item[9][0], 1, 2, 4, 3) == b"name of the ConfigMap"


def test_a_v3_document(catalog: Catalog) -> None:
    content = catalog.document("apis/apps/v1")
    assert content is not None
    document = json.loads(content.read())
    shown = encode_v3(document)
    assert one(shown, 1) == b"3.0.0"
    assert one(shown, 2, 6) == b"1.37"
    paths = named(one(shown, 4), 1)
    assert list(paths) == list(document["paths"])
    schemas = named(one(shown, 5, 1), 1)
    assert list(schemas) == list(document["components"]["schemas"])
    assert named(one(shown, 5, 7), 1).keys() == {"BearerToken"}
    put = read(read(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"])[5][0])
    content_types = named(one(put[7][0], 1, 2), 1)
    assert one(content_types["*/*"], 1, 2, 1) == b"#/components/schemas/io.k8s.api.apps.v1.Deployment"
    strategy = read(one(named(one(schemas["io.k8s.api.apps.v1.DeploymentSpec"], 1, 31), 1)["strategy"], 1))
    assert strategy[33] == [b""]  # a default that is no scalar
    assert one(strategy[26][0], 2, 1) == b"#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"
    protocol = one(named(one(schemas["io.k8s.api.core.v1.ContainerPort"], 1, 31), 1)["protocol"], 1)
    assert one(protocol, 33, 3) == b"TCP"


def test_zero_values_are_left_out_and_numbers_are_written_whole() -> None:
    encode = message({"size": (1, integer), "names": (2, texts)})
    assert encode({"size": 0, "names": []}) == b""
    assert read(encode({"size": 300, "names": ["a", "b"]})) == {1: [300], 2: [b"a", b"b"]}
    assert read(encode({"size": -1}))[1] == [2**64 - 1]
