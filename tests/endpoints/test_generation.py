"""metadata.generation counts changes of what is asked for: the same amount in other words is none."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served

STRATEGIC = "application/strategic-merge-patch+json"
SELECTED = {"selector": {"matchLabels": {"a": "b"}}}
KINDS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("/apis/apps/v1 deployments", SELECTED, ("template",)),
    ("/apis/apps/v1 daemonsets", SELECTED, ("template",)),
    ("/apis/apps/v1 statefulsets", {**SELECTED, "serviceName": "s"}, ("template",)),
    ("/apis/apps/v1 replicasets", SELECTED, ("template",)),
    ("/api/v1 replicationcontrollers", {}, ("template",)),
    ("/apis/batch/v1 cronjobs", {"schedule": "* * * * *"}, ("jobTemplate", "spec", "template")),
]


def spec(path: tuple[str, ...], limits: dict[str, Any], **container: Any) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "containers": [{"name": "c", "image": "i", "resources": {"limits": limits}, **container}],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": limits["memory"]}}],
    }
    if len(path) > 1:
        pod["restartPolicy"] = "Never"
    found: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    for name in reversed(path):
        found = {name: found}
    return found


@pytest.mark.parametrize(("kind", "fields", "path"), KINDS)
def test_an_amount_in_other_words(
    served: Served, place: str, kind: str, fields: dict[str, Any], path: tuple[str, ...]
) -> None:
    group, plural = kind.split()
    where = f"{place.replace('/api/v1', group)}/{plural}"
    served.make(where, {"metadata": {"name": "g"}, "spec": {**fields, **spec(path, {"cpu": "1", "memory": "1Gi"})}})

    def patched(limits: dict[str, Any], **container: Any) -> dict[str, Any]:
        sent = {"spec": spec(path, limits, **container)}
        answer = served.ask(f"PATCH {where}/g", sent, STRATEGIC)
        assert answer.status == 200, answer.message
        found: dict[str, Any] = answer.json()["metadata"]
        return found

    other = patched({"cpu": 1, "memory": "1073741824"})
    assert other["generation"] == 1
    assert patched({"cpu": 1, "memory": "1073741824"}, securityContext={})["generation"] == 2
    assert patched({"cpu": 1, "memory": "1073741825"})["generation"] == 3
