"""Objects of kinds that let everything through: very deep, very wide, with keys that mean something elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.api import Answer
from support.canary import unharmed
from support.server import Server, eventually

GROUP = "deep.example.com"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
JSON = "application/json"
MERGE = "application/merge-patch+json"


def definition() -> dict[str, Any]:
    open_object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    tree: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string", "pattern": "^(a+)+$"}}}
    schema = {"type": "object", "properties": {"spec": open_object, "typed": tree}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


@pytest.fixture(scope="module")
def things(target: Server) -> Iterator[Server]:
    with target.api() as api:
        assert api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition()).status == 201
        eventually(lambda: api.get(THINGS).status == 200)
    yield target


def thing(name: str, spec: str) -> bytes:
    metadata = json.dumps({"name": name})
    return f'{{"apiVersion":"{GROUP}/v1","kind":"Thing","metadata":{metadata},"spec":{spec}}}'.encode()


def nested(depth: int, opening: str, closing: str) -> str:
    return '{"a":' + opening * depth + "1" + closing * depth + "}"


def refused_or_done(answer: Answer) -> None:
    assert answer.status < 500, answer.text[:500]
    assert answer.json()["kind"]


@pytest.mark.parametrize("depth", [90, 240, 500, 2000, 9900, 20_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")], ids=["maps", "lists"])
def test_deep_objects(things: Server, depth: int, opening: str, closing: str) -> None:
    """Each is stored or refused, and what was stored can be read, changed and removed in every way."""
    body = thing("deep", nested(depth, opening, closing))

    def attack() -> None:
        with things.api(timeout=60.0) as api:
            created = api.post(THINGS, body)
            refused_or_done(created)
            if created.status == 201:
                for accept in (JSON, "application/yaml", f"{JSON};as=Table;v=v1;g=meta.k8s.io"):
                    for path in (THINGS, f"{THINGS}/deep", f"{THINGS}?pretty=1"):
                        assert api.request("GET", path, headers={"Accept": accept}).status == 200
                with api.watch(f"{THINGS}?watch=1") as watch:
                    assert watch.take(1)[0]["type"] == "ADDED"
                refused_or_done(api.put(f"{THINGS}/deep", api.get(f"{THINGS}/deep").body))
                refused_or_done(api.patch(f"{THINGS}/deep", {"spec": {"b": 1}}))
                refused_or_done(api.patch(f"{THINGS}/deep", b'{"spec":' + b'{"a":' * depth + b"2" + b"}" * (depth + 1)))
            refused_or_done(api.patch(f"{THINGS}/deep?fieldManager=m&force=true", body, "application/apply-patch+yaml"))
            api.delete(f"{THINGS}/deep")

    attack()
    unharmed(things, attack)


def test_deep_pointers(things: Server) -> None:
    with things.api() as api:
        assert api.post(THINGS, thing("pointed", nested(50, '{"a":', "}"))).status == 201
        for depth in (40, 5000, 100_000):
            patch = [{"op": "add", "path": "/spec" + "/a" * depth, "value": 1}]
            refused_or_done(api.patch(f"{THINGS}/pointed", patch, "application/json-patch+json"))
        api.delete(f"{THINGS}/pointed")


@pytest.mark.parametrize("depth", [90, 300, 1100, 3000])
def test_deep_patches_of_shallow_objects(things: Server, depth: int) -> None:
    with things.api() as api:
        assert api.post(THINGS, thing("shallow", "{}")).status == 201
        for opening, closing in (('{"a":', "}"), ("[", "]")):
            value = nested(depth, opening, closing)
            for member in ("spec", "typed", "unknown", "metadata"):
                operations = f'[{{"op":"add","path":"/{member}","value":{value}}}]'.encode()
                refused_or_done(api.patch(f"{THINGS}/shallow", operations, "application/json-patch+json"))
                refused_or_done(api.patch(f"{THINGS}/shallow", f'{{"{member}":{value}}}'.encode(), MERGE))
        api.delete(f"{THINGS}/shallow")


def test_wide_objects(things: Server) -> None:
    wide = json.dumps({f"k{number}": number for number in range(60_000)})
    lists = json.dumps({"a": [{} for _ in range(200_000)]})
    same = "{" + ",".join('"a":1' for _ in range(100_000)) + "}"

    def attack() -> None:
        with things.api(timeout=60.0) as api:
            for spec in (wide, lists, same):
                answer = api.post(THINGS, thing("wide", spec))
                assert answer.status < 500 or "too large" in answer.text, answer.text[:300]
                api.patch(f"{THINGS}/wide", {"spec": {"more": {f"l{number}": 1 for number in range(2000)}}})
                api.delete(f"{THINGS}/wide")

    unharmed(things, attack)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "__proto__",
        "__class__",
        "constructor",
        "$ref",
        "$patch",
        "\0",
        "a" * 10_000,
        "f:spec",
        ".",
        "k:{}",
        "\U0001f600",
    ],
)
def test_odd_keys(things: Server, key: str) -> None:
    body = thing("odd", json.dumps({key: {key: [{key: key}]}}))
    with things.api() as api:
        refused_or_done(api.post(THINGS, body))
        refused_or_done(api.patch(f"{THINGS}/odd", json.dumps({"spec": {key: {"x": 1}}}).encode(), MERGE))
        refused_or_done(api.patch(f"{THINGS}/odd?fieldManager=m&force=true", body, "application/apply-patch+yaml"))
        refused_or_done(api.get(f"{THINGS}/odd"))
        api.delete(f"{THINGS}/odd")


def test_patterns_that_explode_elsewhere(things: Server) -> None:
    def attack() -> None:
        with things.api() as api:
            body = {"metadata": {"name": "regular"}, "typed": {"name": "a" * 200_000 + "b"}}
            answer = api.post(THINGS, {"apiVersion": f"{GROUP}/v1", "kind": "Thing", **body})
            assert answer.status == 422

    unharmed(things, attack)
