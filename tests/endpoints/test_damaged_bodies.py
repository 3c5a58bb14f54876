"""Bodies damaged in many ways: every one is taken or refused, none breaks the handler."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any, Final

import orjson
import pytest

from endpoints.served import JSON, Seen, Served, config_map

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
ROUNDS: Final = 150
PANIC: Final = b"caused apiserver to panic"
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "labels": {"a": "b"}},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "annotations": {"a": "b"}, "finalizers": ["example.com/x"]},
    "spec": {
        "containers": [
            {"name": "c", "image": "i:1", "resources": {"limits": {"cpu": "1"}}, "ports": [{"containerPort": 80}]}
        ],
        "volumes": [{"name": "v", "configMap": {"name": "m"}}],
    },
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "s"},
    "spec": {"selector": {"a": "b"}, "ports": [{"name": "w", "port": 80, "targetPort": "http"}]},
}
SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}}
STEPS = [
    {"op": "add", "path": "/data/k", "value": "v"},
    {"op": "copy", "from": "/data", "path": "/data/x"},
    {"op": "test", "path": "/metadata/name", "value": "m"},
]

# method, path below the namespace ({apps}: of the group apps), media type, body
WRITES: list[tuple[str, str, str, Any]] = [
    ("POST", "/configmaps", JSON, config_map("n", k="v")),
    ("POST", "/pods", JSON, POD),
    ("POST", "/services", JSON, SERVICE),
    ("POST", "{apps}/deployments", JSON, DEPLOYMENT),
    ("PUT", "{apps}/deployments/d", JSON, DEPLOYMENT),
    ("PUT", "{apps}/deployments/d/scale", JSON, SCALE),
    ("PATCH", "{apps}/deployments/d?fieldManager=m", APPLY, DEPLOYMENT),
    ("PATCH", "{apps}/deployments/d/scale?fieldManager=m", APPLY, SCALE),
    ("PATCH", "/pods/p?fieldManager=m", APPLY, POD),
    ("PATCH", "{apps}/deployments/d", STRATEGIC, {"spec": {"template": TEMPLATE}}),
    ("PATCH", "/configmaps/m", MERGE, config_map("m", k="w")),
    ("PATCH", "/configmaps/m", JSON_PATCH, STEPS),
]
NAMES = ("name", "$patch", "metadata", "value", "$setElementOrder/containers", "f:a", "", "resourceVersion")
SCALARS: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    2**40,
    2**62,
    "",
    "x" * 300,
    "a\u0000",
    "é",
    "merge",
    "1970-01-01T00:00:00Z",
    "10m",
    [],
    {},
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with each of its keys or positions."""
    for key in list(value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        yield value, key
        yield from places(value[key])


def damage(body: Any, chance: random.Random) -> Any:
    """The body with one to three things wrong."""
    made = copy.deepcopy(body)
    for _ in range(chance.randint(1, 3)):
        found = list(places(made))
        if not found:
            break
        holder, key = chance.choice(found)
        way = chance.randrange(5)
        if way == 0 and isinstance(holder, dict):
            del holder[key]
        elif way == 1 and isinstance(holder, dict):
            holder[chance.choice(NAMES)] = chance.choice(SCALARS)
        elif way == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif way == 3:
            holder[key] = [holder[key]] if chance.random() < 0.5 else {"a": holder[key]}
        else:
            holder[key] = copy.deepcopy(chance.choice(SCALARS))
    return made


@pytest.mark.parametrize("write", WRITES, ids=lambda write: f"{write[0]} {write[1]} {write[2].partition('/')[2]}")
def test_a_damaged_body_gets_an_answer(served: Served, place: str, write: tuple[str, str, str, Any]) -> None:
    method, where, kind, body = write
    apps = place.replace("/api/v1", "/apis/apps/v1")
    served.make(f"{place}/configmaps", config_map("m", k="v"))
    served.make(f"{place}/pods", POD)
    served.make(f"{apps}/deployments", DEPLOYMENT)
    path = where.replace("{apps}", apps) if where.startswith("{apps}") else place + where
    path += "&dryRun=All" if "?" in path else "?dryRun=All"
    chance = random.Random(where + kind)

    async def story() -> list[tuple[Any, Seen]]:
        found = []
        for _ in range(ROUNDS):
            damaged = damage(body, chance)
            found.append((damaged, await served.send(f"{method} {path}", orjson.dumps(damaged), kind)))
        return found

    for damaged, answer in served.run(story()):
        assert PANIC not in answer.body, damaged
        assert answer.status < 300 or answer.json()["kind"] == "Status", damaged
