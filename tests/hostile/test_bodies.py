"""Bodies that are big, deep, broken, or look small and are not: a clear answer, and nobody else waits."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator

import pytest

from support.canary import unharmed
from support.server import Server
from support.wire import Wire, head, statuses

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MEGABYTE = 1 << 20
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
Attack = tuple[str, str, str, bytes, set[int]]  # method, path, media type, body, answers that are right

# etcd's own limit on a value, which kube-apiserver answers in this way.
TOO_LARGE_TO_STORE = 500


def config_map(**more: object) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, **more}).encode()


def many(number: int) -> dict[str, str]:
    return {f"k{index}": "x" for index in range(number)}


def json_bodies() -> Iterator[Attack]:
    containers = [{"name": f"c{index}", "image": "x", "env": [{"name": "A", "value": "b"}]} for index in range(8000)]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}}
    # Both are stored without their managedFields, with which they would be too large.
    yield "POST", CONFIG_MAPS, "application/json", config_map(data=many(100_000)), {201}
    yield "POST", PODS, "application/json", json.dumps(pod).encode(), {201}
    yield "POST", CONFIG_MAPS, "application/json", b'{"a":' * 400_000, {400}
    yield "POST", CONFIG_MAPS, "application/json", b"[" * (2 * MEGABYTE), {400}
    yield "POST", CONFIG_MAPS, "application/json", b'{"data":[' + b"1" * (2 * MEGABYTE) + b"]}", {400}
    yield "POST", CONFIG_MAPS, "application/json", b'{"data":{"a":' + b"9" * MEGABYTE + b"}}", {400}
    yield "POST", CONFIG_MAPS, "application/json", b"{" + b'"a":1,' * 200_000 + b'"b":1}', {400, 422}
    owners = {"metadata": {"name": "a", "ownerReferences": [{"name": "a"}] * 50_000}}
    yield "POST", CONFIG_MAPS, "application/json", json.dumps(owners).encode(), {422}
    labels = {"metadata": {"name": "a", "labels": many(50_000), "annotations": many(50_000)}}
    yield "POST", CONFIG_MAPS, "application/json", json.dumps(labels).encode(), {422, 201, TOO_LARGE_TO_STORE}
    unknown = json.dumps({"metadata": {"name": "a"}, **many(50_000)}).encode()
    yield "POST", CONFIG_MAPS + "?fieldValidation=Strict", "application/json", unknown, {400}


def yaml_bodies() -> Iterator[Attack]:
    yield "POST", CONFIG_MAPS, YAML, b"[" * MEGABYTE, {400}
    yield "POST", CONFIG_MAPS, YAML, b"".join(b" " * depth + b"a:\n" for depth in range(1400)), {400}
    yield "POST", CONFIG_MAPS, YAML, b"[" + b"a," * 200_000 + b"]", {400}
    strict = CONFIG_MAPS + "?fieldValidation=Strict"
    yield "POST", strict, YAML, b"a: &a {b: c}\n" + b"".join(b"k%d: *a\n" % n for n in range(20_000)), {400, 422}
    layers = [b"a: &a [x,x,x,x,x,x,x,x,x]\n"]
    for layer in range(20):
        layers.append(b"%c: &%c [%s]\n" % (98 + layer, 98 + layer, b",".join([b"*%c" % (97 + layer)] * 9)))
    yield "POST", CONFIG_MAPS, YAML, b"".join(layers), {400}
    yield "POST", CONFIG_MAPS, YAML, b"? " * 100_000, {400}
    yield "POST", CONFIG_MAPS, YAML, b"!!python/object/apply:os.system ['true']", {400}
    data = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yam}\ndata:\n" + b"".join(
        b"  k%d: x\n" % number for number in range(60_000)
    )
    yield "POST", CONFIG_MAPS, YAML, data, {201, TOO_LARGE_TO_STORE}
    yield "PATCH", CONFIG_MAPS + "/yam?fieldManager=a", APPLY, data, {200, 201, 409, TOO_LARGE_TO_STORE}
    yield "PATCH", CONFIG_MAPS + "/z?fieldManager=a", APPLY, b"".join(layers), {400}


def sized(tag: bytes, inner: bytes) -> bytes:
    """A field of protobuf around other bytes (less than two megabytes)."""
    size = len(inner)
    return tag + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + inner


def protobuf_bodies() -> Iterator[Attack]:
    yield "POST", CONFIG_MAPS, PROTOBUF, b"k8s\0" + b"\x0a\x00" * 500_000, {400, 422}
    yield "POST", CONFIG_MAPS, PROTOBUF, b"k8s\0" + b"\x12\xff\xff\xff\xff\x7f" + b"x" * MEGABYTE, {400}
    nested = b""
    while len(nested) < 100_000:
        nested = sized(b"\x0a", nested)
    yield "POST", PODS, PROTOBUF, b"k8s\0" + sized(b"\x12", nested), {400, 422}
    yield "POST", CONFIG_MAPS, PROTOBUF, b"k8s\0" + b"\x80" * MEGABYTE, {400}
    yield "POST", CONFIG_MAPS, "application/cbor", b"\x9f" * MEGABYTE, {415}


def patches() -> Iterator[Attack]:
    there = CONFIG_MAPS + "/patched"
    add = {"op": "add", "path": "/data/a", "value": "b"}
    yield "PATCH", there, JSON_PATCH, json.dumps([add] * 9999).encode(), {200}
    yield "PATCH", there, JSON_PATCH, json.dumps([add] * 40_000).encode(), {413}
    double = [{"op": "copy", "from": "/data", "path": "/data/x"}] * 60
    yield "PATCH", there, JSON_PATCH, json.dumps(double).encode(), {422}
    insert = [{"op": "add", "path": "/metadata/finalizers", "value": []}]
    insert += [
        {"op": "add", "path": "/metadata/finalizers/0", "value": f"example.com/x{index}"} for index in range(9000)
    ]
    yield "PATCH", there, JSON_PATCH, json.dumps(insert).encode(), {200, 422}
    deep = [{"op": "test", "path": "/a" * 200_000, "value": 1}]
    yield "PATCH", there, JSON_PATCH, json.dumps(deep).encode(), {422}
    yield "PATCH", there, MERGE_PATCH, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, {400, 422}
    yield "PATCH", there, MERGE_PATCH, json.dumps({"data": many(60_000)}).encode(), {200, TOO_LARGE_TO_STORE}
    yield "PATCH", there, MERGE_PATCH, json.dumps({"data": None}).encode(), {200}
    volumes = {"spec": {"volumes": [{"name": f"v{index}"} for index in range(40_000)]}}
    yield "PATCH", PODS + "/none", STRATEGIC_PATCH, json.dumps(volumes).encode(), {404}
    yield "PATCH", there, STRATEGIC_PATCH, b'{"$patch":' * 50_000, {400}


@pytest.mark.parametrize("bodies", [json_bodies, yaml_bodies, protobuf_bodies, patches])
def test_heavy_bodies_do_not_hold_up_others(target: Server, bodies: Callable[[], Iterator[Attack]]) -> None:
    attacks = list(bodies())
    wrong: list[str] = []
    with target.api() as api:
        api.post(CONFIG_MAPS, {"metadata": {"name": "patched"}, "data": {"a": "b"}})

    def attack() -> None:
        wrong.clear()
        with target.api(timeout=60.0) as api:
            for method, path, kind, body, right in attacks:
                answer = api.request(method, path, body, kind=kind)
                if answer.status not in right:
                    wrong.append(f"{method} {path} {kind} {body[:40]!r}: {answer.status} {answer.text[:300]}")
                if answer.status >= 400:
                    assert answer.json()["kind"] == "Status"
            for name in ("big", "a", "yam"):
                api.delete(f"{CONFIG_MAPS}/{name}")
            api.delete(f"{PODS}/a?gracePeriodSeconds=0")

    unharmed(target, attack)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b""),
        ("application/json", b"\0"),
        ("application/json", b"{"),
        ("application/json", b"null"),
        ("application/json", b"[]"),
        ("application/json", b'"text"'),
        ("application/json", b'{"metadata":{"name":"a\\u0000b"}}'),
        ("application/json", b'{"metadata":{"name":"\xff\xfe"}}'),
        ("application/json", b'{"metadata":{"name":"\xed\xa0\x80"}}'),
        ("application/json", b'\xef\xbb\xbf{"metadata":{"name":"bom"}}'),
        ("application/json", b'{"metadata":{"name":1e400}}'),
        ("application/json", b'{"metadata":{"generation":99999999999999999999}}'),
        ("application/json", b'{"metadata":{"name":"x","name":"y"},"metadata":7}'),
        ("application/json", b'{"metadata":NaN}'),
        ("application/json", b'{"metadata":{"name":"..%2f..%2fetc"}}'),
        ("application/json", b'{"metadata":{"creationTimestamp":"0000-00-00T00:00:00Z","name":"t!"}}'),
        (YAML, b""),
        (YAML, b"\0"),
        (YAML, b"%TAG ! tag:x,2000:\n--- !a b"),
        (YAML, b"a: *unknown"),
        (YAML, b"&a [*a]"),
        (YAML, b"{a: 1, a: 2}"),
        (YAML, b"---\n---\n---\n"),
        (YAML, b"\xff\xfea\0:\0 \0b\0"),
        (YAML, b"? [a, b]\n: c"),
        (YAML, b"- - - - -"),
        (YAML, b"metadata: {name: 2001-01-01, labels: {a: 0x_1, b: .inf}}"),
        (YAML, b"\t"),
        (YAML, b"|99999999999\n a"),
        (PROTOBUF, b""),
        (PROTOBUF, b"k8s"),
        (PROTOBUF, b"k8s\0"),
        (PROTOBUF, b"k8s\0\x0a\x05\x0a\x01v"),
        (PROTOBUF, b"k8s\0\x12\x04\x0a\x02\x0a\xff"),
        (PROTOBUF, b"k8s\0\x07\x00\x00\x00\x00"),
        ("application/json; charset=utf-16", b"{}"),
        ("text/html", b"<html>"),
        ("", b"{}"),
        ("/", b"{}"),
        ("application/json" + "x" * 8000, b"{}"),
    ],
)
def test_nonsense_is_refused_with_a_reason(target: Server, kind: str, body: bytes) -> None:
    with target.api() as api:
        answer = api.request("POST", CONFIG_MAPS, body, kind=kind)
        assert 400 <= answer.status < 500, answer.text
        status = answer.json()
        assert (status["kind"], status["code"]) == ("Status", answer.status)
        assert status["message"]


def test_a_body_above_the_limit_is_refused_before_it_is_taken_in(target: Server) -> None:
    before = target.memory()

    def attack() -> None:
        with Wire(target, timeout=60.0) as wire:
            kind = "Content-Type: application/json"
            wire.send(head(f"POST {CONFIG_MAPS} HTTP/1.1", kind, "Content-Length: 104857600"))
            for _ in range(100):
                wire.send(b"x" * MEGABYTE)
            answer = wire.until(b"\r\n\r\n")
            assert statuses(answer) in ([413], []), answer[:300]  # or it hung up while we were writing

    unharmed(target, attack)
    assert target.memory() - before < 64 * MEGABYTE


def test_many_large_bodies_at_once_take_bounded_memory(target: Server) -> None:
    before = target.memory()
    body = config_map(data={"a": "x" * (MEGABYTE * 5 // 2)})
    found: list[int] = []

    def post() -> None:
        with target.api(timeout=60.0) as api:
            found.append(api.post(CONFIG_MAPS, body).status)

    threads = [threading.Thread(target=post) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) <= {422, 413, 429}
    assert target.memory() - before < 400 * MEGABYTE


def test_an_announced_body_that_never_comes_is_let_go(target: Server) -> None:
    with Wire(target) as wire:
        wire.send(head(f"POST {CONFIG_MAPS} HTTP/1.1", "Content-Type: application/json", "Content-Length: 10") + b"{")
    with target.api() as api:  # the client is gone; nothing of it is left
        assert api.get("/readyz").status == 200
