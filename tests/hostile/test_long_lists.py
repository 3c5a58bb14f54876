"""Objects near the size limit that are one long list or map: work on them grows as they do, and beside the others'."""

from __future__ import annotations

from typing import Any

import pytest

from support.canary import unharmed
from support.server import Server

CORE = "/api/v1/namespaces/default"
SOON = 20.0  # seconds for a megabyte; work that grows with the square takes minutes


def _pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def _config_map(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p", **metadata}}


def _of(api_version: str, kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "p"}, **parts}


_OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x"}
_BLOCKS = [{"ipBlock": {"cidr": f"10.{i >> 8}.{i & 255}.0/24"}} for i in range(16_000)]
_RULES = [{"apiGroups": [""], "resources": [f"r{i}"], "verbs": ["get"]} for i in range(15_000)]
_ADDRESSES = [{"ip": f"10.0.{i >> 8}.{i & 255}"} for i in range(30_000)]
OBJECTS = {
    "containers": (f"{CORE}/pods", _pod(containers=[{"name": f"c{i}", "image": "i"} for i in range(40_000)])),
    "volumes": (f"{CORE}/pods", _pod(volumes=[{"name": f"v{i}", "emptyDir": {}} for i in range(20_000)])),
    "owners": (
        f"{CORE}/configmaps",
        _config_map(ownerReferences=[{**_OWNER, "uid": str(i)} for i in range(8_000)]),
    ),
    "controllers": (
        f"{CORE}/configmaps",
        _config_map(ownerReferences=[{**_OWNER, "uid": str(i), "controller": True} for i in range(8_000)]),
    ),
    "finalizers": (f"{CORE}/configmaps", _config_map(finalizers=[f"a.b/l{i}" for i in range(50_000)])),
    "labels": (f"{CORE}/configmaps", _config_map(labels={f"l{i}": "x" for i in range(50_000)})),
    "service ports": (
        f"{CORE}/services",
        _of("v1", "Service", spec={"ports": [{"name": f"v{i}", "port": i + 1} for i in range(10_000)]}),
    ),
    "addresses": (
        f"{CORE}/endpoints",
        _of("v1", "Endpoints", subsets=[{"addresses": _ADDRESSES, "ports": [{"port": 1}]}]),
    ),
    "amounts": (
        f"{CORE}/resourcequotas",
        _of("v1", "ResourceQuota", spec={"hard": {f"a.b/r{i}": "1" for i in range(20_000)}}),
    ),
    "networks": (
        "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
        _of("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "ingress": [{"from": _BLOCKS}]}),
    ),
    "rules": (
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
        _of("rbac.authorization.k8s.io/v1", "Role", rules=_RULES),
    ),
}


REFUSED = {"containers": (500, "etcdserver: request is too large"), "controllers": (422, "Only one reference can have")}


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_a_long_list_is_written_in_time_that_grows_with_it(target: Server, name: str) -> None:
    where, obj = OBJECTS[name]

    def attack() -> None:
        with target.api(timeout=SOON) as api:
            made = api.post(where, obj)
            if name in REFUSED:
                status, why = REFUSED[name]
                assert made.status == status, made.text[:300]
                assert why in made.json()["message"]
                return
            assert made.status == 201, made.text[:300]
            changed = made.json()
            changed["metadata"]["labels"] = {**changed["metadata"].get("labels", {}), "a": "b"}
            assert api.put(f"{where}/p", changed).status == 200
            assert api.patch(f"{where}/p", {"metadata": {"labels": {"q": "w"}}}).status == 200
            assert api.delete(f"{where}/p").status == 200
            if name == "finalizers":  # they hold it until they are gone
                assert api.patch(f"{where}/p", {"metadata": {"finalizers": None}}).status == 200

    attack()
    unharmed(target, attack)
