"""Numbers with thousands of digits, wherever a number may stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.server import Server

LONG = "9" * 5000
DEFAULT = "/api/v1/namespaces/default"
CONTAINER = {"name": "c", "image": "i"}


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n"}, "spec": {"containers": [CONTAINER], **spec}}


def job(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    return {"metadata": {"name": "n"}, "spec": {"template": template, **spec}}


def requests(amount: str) -> dict[str, Any]:
    return pod(containers=[{**CONTAINER, "resources": {"requests": {"cpu": amount}}}])


BODIES: list[tuple[str, Any]] = [
    (f"{DEFAULT}/configmaps", {"metadata": {"name": "n", "resourceVersion": LONG}}),
    (f"{DEFAULT}/configmaps", {"metadata": {"name": "n", "resourceVersion": "²"}}),
    (f"{DEFAULT}/configmaps", {"metadata": {"name": "n", "labels": {"a": LONG}}}),
    (f"{DEFAULT}/configmaps", {"metadata": {"name": LONG}}),
    (f"{DEFAULT}/pods", requests(LONG)),
    (f"{DEFAULT}/pods", requests(f"1e{LONG}")),
    (f"{DEFAULT}/pods", requests(f"1e-{LONG}")),
    (f"{DEFAULT}/pods", requests(f"0.{LONG}")),
    (f"{DEFAULT}/pods", requests("9" * 200_000)),
    (f"{DEFAULT}/pods", pod(tolerations=[{"key": "a", "operator": "Gt", "value": LONG}])),
    (f"{DEFAULT}/pods", pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": [LONG]}]}]}}})),  # fmt: skip
    (f"{DEFAULT}/pods", pod(containers=[{**CONTAINER, "ports": [{"containerPort": "9" * 50}]}])),
    (f"{DEFAULT}/services", {"metadata": {"name": "n"}, "spec": {"ports": [{"port": 80, "targetPort": LONG}], "selector": {"a": "b"}}}),  # fmt: skip
    (f"{DEFAULT}/services", {"metadata": {"name": "n"}, "spec": {"ports": [{"port": 80}], "clusterIP": f"{LONG}.0.0.1"}}),
    ("/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "n"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}, "strategy": {"rollingUpdate": {"maxSurge": f"{LONG}%"}}}}),  # fmt: skip
    ("/apis/batch/v1/namespaces/default/jobs", job(completions=2, completionMode="Indexed", successPolicy={"rules": [{"succeededIndexes": f"0-{LONG}"}]})),  # fmt: skip
    ("/apis/batch/v1/namespaces/default/cronjobs", {"metadata": {"name": "n"}, "spec": {"schedule": f"*/{LONG} * * * *", "jobTemplate": {"spec": job()["spec"]}}}),  # fmt: skip
    ("/apis/batch/v1/namespaces/default/cronjobs", {"metadata": {"name": "n"}, "spec": {"schedule": f"@every {LONG}h", "jobTemplate": {"spec": job()["spec"]}}}),  # fmt: skip
    ("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": "n"}, "spec": {"renewTime": f"{LONG}-01-01T00:00:00.000000Z"}}),  # fmt: skip
    ("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {"metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": f"10.0.0.0/{LONG}"}}]}]}}),  # fmt: skip
    ("/apis/networking.k8s.io/v1/servicecidrs", {"metadata": {"name": "n"}, "spec": {"cidrs": [f"10.0.0.0/{LONG}"]}}),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", b'{"metadata":{"name":"n"},"value":' + LONG.encode() + b"}"),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", b'{"metadata":{"name":"n"},"value":1e' + LONG.encode() + b"}"),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", b'{"metadata":{"name":"n"},"value":1.' + LONG.encode() + b"}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body"), BODIES, ids=[f"{path.rpartition('/')[2]}-{n}" for n, (path, _) in enumerate(BODIES)]
)
def test_long_numbers_in_objects(target: Server, path: str, body: Any) -> None:
    with target.api() as api:
        answer = api.post(f"{path}?dryRun=All", body)
        assert answer.status < 500 or "resourceVersion" in answer.text, answer.text[:500]
        assert answer.json()["kind"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/apply-patch+yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n}}\ndata: {{a: {LONG}}}"),
        ("application/apply-patch+yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n, generation: {LONG}}}"),
        ("application/apply-patch+yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n, generation: 0x{LONG}}}"),
        ("application/apply-patch+yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n, generation: 1e{LONG}}}"),
        ("application/apply-patch+yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n, generation: .{LONG}}}"),
        ("application/json-patch+json", json.dumps([{"op": "add", "path": f"/metadata/finalizers/{LONG}", "value": "a"}])),
        ("application/json-patch+json", f'[{{"op": "add", "path": "/metadata/generation", "value": {LONG}}}]'),
        ("application/json-patch+json", f'[{{"op": "test", "path": "/metadata/generation", "value": {LONG}}}]'),
        ("application/merge-patch+json", f'{{"metadata": {{"generation": {LONG}}}}}'),
        ("application/merge-patch+json", f'{{"metadata": {{"generation": 1e{LONG}}}}}'),
        ("application/strategic-merge-patch+json", f'{{"metadata": {{"generation": {LONG}}}}}'),
        ("application/merge-patch+json", json.dumps({"metadata": {"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": f"{LONG}-01-01T00:00:00Z", "fieldsV1": {f"i:{LONG}": {}, f"v:{LONG}": {}, f'k:{{"a":{LONG}}}': {}}}]}})),
    ],
)  # fmt: skip
def test_long_numbers_in_patches(target: Server, kind: str, body: str) -> None:
    with target.api() as api:
        api.post(f"{DEFAULT}/configmaps", {"metadata": {"name": "n"}})
        answer = api.request(
            "PATCH",
            f"{DEFAULT}/configmaps/n?fieldManager=a&force=true"[: -11 if "apply" not in kind else None],
            body.encode(),
            kind=kind,
        )
        assert answer.status < 500 or "apply" in kind, answer.text[:500]
        assert answer.status != 500 or "panic" not in answer.text
        assert answer.json()["kind"]


@pytest.mark.parametrize(
    "query",
    [
        "limit",
        "timeoutSeconds",
        "resourceVersion",
        "resourceVersion=1&resourceVersionMatch=Exact&limit",
        "watch=1&timeoutSeconds",
        "watch=1&resourceVersion",
        "labelSelector=a>",
        "timeout",
    ],
)
def test_long_numbers_in_queries(target: Server, query: str) -> None:
    with target.api() as api:
        sign = "" if query.endswith(">") else "="
        answer = api.get(f"{DEFAULT}/configmaps?{query}{sign}{LONG}")
        assert "panic" not in answer.text
        assert 400 <= answer.status <= 500
