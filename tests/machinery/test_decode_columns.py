"""Long documents are walked through only where something is wrong, and what is told is the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.decode import explain as walking
from pilothouse.machinery.decode.columns import suspects
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.jsoncodec import dumps, exact

_WRONG: tuple[Any, ...] = (1, 1.5, "x", True, None, {}, [], {"x": 1}, [1], -1, 10**30, "2020-13-01T00:00:00Z")


def _pod(containers: int) -> dict[str, Any]:
    one = {
        "name": "c",
        "env": [{"name": "a", "value": "b"}] * 3,
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
        "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 3},
    }
    metadata = {"labels": {"a": "b"}, "creationTimestamp": "2020-01-01T00:00:00Z"}
    return {"metadata": metadata, "spec": {"containers": [dict(one) for _ in range(containers)]}}


def _bent(chance: random.Random, value: Any) -> Any:
    """A fresh copy with something in it that is likely to be wrong."""
    data = dumps(value)
    if chance.random() < 0.3:  # a member twice
        at = data.index(b',"', chance.randrange(len(data) // 2))
        data = data[:at] + b',"name":1,"name":2' + data[at:]
    made, repeated = exact(data)
    for _ in range(chance.choice((0, 1, 3, 30))):
        within, key = made, "spec"
        while isinstance(within[key], dict | list) and within[key] and chance.random() < 0.9:
            within = within[key]
            key = chance.choice(list(within) if isinstance(within, dict) else range(len(within)))
        within[key] = chance.choice(_WRONG)
        if isinstance(within, dict) and chance.random() < 0.3:
            within["unknown"] = 1
    return made, repeated


def _told(value: Any, repeated: Any) -> tuple[list[str], str]:
    findings = Findings()
    try:
        walking.explain(builtin_types().get(CORE, "Pod"), value, findings, repeated)
    except DecodeError as wrong:
        return findings.strict, str(wrong)
    return findings.strict, ""


def test_what_is_passed_over_has_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    for _ in range(300):
        value, repeated = _bent(chance, _pod(chance.choice((1, 20))))
        monkeypatch.setattr(walking, "_LONG", 0)  # never
        whole = _told(value, repeated)
        monkeypatch.setattr(walking, "_LONG", chance.choice((1, 2, 20)))
        assert _told(value, repeated) == whole


def test_only_what_leads_to_something_wrong_is_suspect() -> None:
    pod = _pod(100)
    containers = pod["spec"]["containers"]
    containers[7]["resources"] = {"limits": {"cpu": "x"}}
    containers[9]["unknown"] = 1
    schema = builtin_types().get(CORE, "Pod")
    wrong = containers[7]["resources"]
    on_the_way = [pod, pod["spec"], containers, containers[7], wrong, wrong["limits"]]
    assert suspects(schema, pod, (), strict=False) == set(map(id, on_the_way))
    assert suspects(schema, pod, (), strict=True) == {*map(id, on_the_way), id(containers[9])}


def test_where_most_is_wrong_nothing_is_passed_over() -> None:
    volumes = [{"name": "a", "unknown": 1} for _ in range(1000)]
    assert suspects(builtin_types().get(CORE, "Pod"), {"spec": {"volumes": volumes}}, (), strict=True) is None
