"""Long objects as people have them, in each form, damaged in one place or several."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import cbor2
import yaml

from hostile.nasty import JSON, MERGE_PATCH, NAMESPACE, PROTOBUF, SIZE, STRATEGIC_PATCH, YAML
from hostile.nasty_cbor import CBOR
from support.api import Api

Attack = tuple[str, str, str, str, Callable[[], bytes]]  # name, method, path, media type, the body

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SIGNS: Final = b"aZ0:,{}[]\"'\n -\x00\x01\x7f\x80\xff"
_HURTS: Final = (1, 2, 5, 20)  # places
_ENDPOINTS: Final = 900  # in a slice: there may be a thousand


def config_map(chance: random.Random) -> dict[str, Any]:
    entries = {f"key-{number}": _word(chance, 30) for number in range(SIZE // 48)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "long"}, "data": entries}


def pod(chance: random.Random) -> dict[str, Any]:
    containers = [
        {
            "name": f"c{number}",
            "image": f"registry.example.com/{_word(chance, 20)}",
            "env": [{"name": f"VAR_{one}", "value": _word(chance, 30)} for one in range(40)],
            "ports": [{"containerPort": 8000 + one, "name": f"p{one}"} for one in range(5)],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1"}},
        }
        for number in range(SIZE // 2700)
    ]
    metadata = {"name": "long", "labels": {"a": "b"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def endpoint_slice(chance: random.Random) -> dict[str, Any]:
    endpoints = [
        {
            "addresses": [f"10.0.{number >> 8}.{number & 255}"],
            "conditions": {"ready": True},
            "nodeName": _word(chance, 12),
            "targetRef": {"kind": "Pod", "name": _word(chance, 20), "namespace": "default"},
        }
        for number in range(_ENDPOINTS)
    ]
    shape = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}
    return {**shape, "metadata": {"name": "long"}, "endpoints": endpoints, "ports": [{"name": "http", "port": 80}]}


OBJECTS: Final = (
    (f"{NAMESPACE}/configmaps", config_map),
    (f"{NAMESPACE}/pods", pod),
    ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", endpoint_slice),
)


def _word(chance: random.Random, size: int) -> str:
    return "".join(chance.choices(_LETTERS, k=size))


def _binary(value: Any) -> Any:
    """With byte strings for texts, as Go's clients send CBOR."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict):
        return {key.encode(): _binary(item) for key, item in value.items()}
    return [_binary(item) for item in value] if isinstance(value, list) else value


def as_cbor(value: Any) -> bytes:
    return b"\xd9\xd9\xf7" + cbor2.dumps(_binary(value))


def as_protobuf(caller: Api, path: str, value: Any) -> bytes:
    """The object with its defaults, as the server writes it."""
    headers = {"Accept": PROTOBUF}
    answer = caller.request("POST", f"{path}?dryRun=All", json.dumps(value).encode(), kind=JSON, headers=headers)
    assert answer.status == 201
    return answer.body


def hurt(chance: random.Random, body: bytes, places: int) -> bytes:
    """Bytes changed, taken away or put in, here and there."""
    changed = bytearray(body)
    for _ in range(places):
        at = chance.randrange(len(changed))
        way = chance.randrange(4)
        if way == 0:
            changed[at] = chance.randrange(256)
        elif way == 1:
            del changed[at : at + chance.randrange(1, 8)]
        elif way == 2:
            changed[at:at] = chance.randbytes(3)
        else:
            changed[at] = chance.choice(_SIGNS)
    return bytes(changed)


def requests(caller: Api) -> Iterator[Attack]:
    """JSON, YAML, protobuf and patches. Nothing of it is stored."""
    chance = random.Random(1)
    for path, make in OBJECTS:
        value = make(chance)
        compact = json.dumps(value, separators=(",", ":")).encode()
        for media_type, body in (
            (JSON, compact),
            (YAML, yaml.dump(value, Dumper=yaml.CDumper).encode()),
            (PROTOBUF, as_protobuf(caller, path, value)),
        ):
            yield from _hurt("POST", f"{path}?dryRun=All", media_type, body, chance)
        if path.startswith(NAMESPACE):
            body = compact.replace(b'"name":"long"', b'"name":"there"')
            for media_type in (MERGE_PATCH, STRATEGIC_PATCH):
                yield from _hurt("PATCH", f"{path}/there?dryRun=All", media_type, body, chance)


def cbor_requests() -> Iterator[Attack]:
    chance = random.Random(2)
    for path, make in OBJECTS:
        yield from _hurt("POST", f"{path}?dryRun=All", CBOR, as_cbor(make(chance)), chance)


def _hurt(method: str, path: str, media_type: str, body: bytes, chance: random.Random) -> Iterator[Attack]:
    for places in _HURTS:
        damaged = hurt(chance, body, places)
        yield f"{media_type}: {path} hurt {places} times", method, path, media_type, lambda damaged=damaged: damaged
