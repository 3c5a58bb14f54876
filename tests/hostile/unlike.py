"""Long lists of objects that have other members each, in every form, as they are and damaged in a place."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import yaml

from hostile.assault import Attack
from hostile.mutated import as_cbor, hurt
from hostile.nasty import APPLY, JSON, MERGE_PATCH, NAMESPACE, PROTOBUF, SIZE, STRATEGIC_PATCH, YAML
from hostile.nasty_cbor import APPLY as APPLY_CBOR
from hostile.nasty_cbor import CBOR
from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import protobuf
from support.chance import random_object

# The package of the types, the kind, its apiVersion, its path, where the list is, and the type of its items.
_LISTS: Final = (
    (CORE, "Pod", "v1", f"{NAMESPACE}/pods", ("spec", "containers"), "Container"),
    (CORE, "Pod", "v1", f"{NAMESPACE}/pods", ("spec", "volumes"), "Volume"),
    (CORE, "Service", "v1", f"{NAMESPACE}/services", ("spec", "ports"), "ServicePort"),
    ("k8s.io/api/autoscaling/v2", "HorizontalPodAutoscaler", "autoscaling/v2",
     "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", ("spec", "metrics"), "MetricSpec"),
    ("k8s.io/api/networking/v1", "NetworkPolicy", "networking.k8s.io/v1",
     "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", ("spec", "ingress"), "NetworkPolicyIngressRule"),
    ("k8s.io/api/rbac/v1", "ClusterRole", "rbac.authorization.k8s.io/v1",
     "/apis/rbac.authorization.k8s.io/v1/clusterroles", ("rules",), "PolicyRule"),
)  # fmt: skip


def requests() -> Iterator[Attack]:
    """All but CBOR."""
    return (attack for attack in _all() if not attack[3].endswith("cbor"))


def cbor_requests() -> Iterator[Attack]:
    return (attack for attack in _all() if attack[3].endswith("cbor"))


def _all() -> Iterator[Attack]:
    for number, (package, kind, version, path, place, item) in enumerate(_LISTS):
        made = random.Random(number)
        schema = builtin_types().get(package, kind)
        value: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": {"name": "there"}}
        inner = value
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = _items(builtin_types().get(package, item), made)
        patch = json.dumps({place[0]: value[place[0]]}).encode()
        whole = json.dumps(value).encode()
        text = yaml.dump(value, Dumper=yaml.CSafeDumper).encode()
        short = yaml.dump(value, Dumper=yaml.CSafeDumper, default_flow_style=None).encode()
        for form, media_type, body in (
            ("JSON", JSON, whole),
            ("YAML", YAML, text),
            ("YAML with short values in flow style", YAML, short),
            ("CBOR", CBOR, as_cbor(value)),
            ("protobuf", PROTOBUF, protobuf.wrap(version, kind, protobuf.encode_message(schema, value))),
            ("merge patch", MERGE_PATCH, patch),
            ("strategic patch", STRATEGIC_PATCH, patch),
            ("applied", APPLY, text),
            ("applied JSON", APPLY, whole),
            ("applied CBOR", APPLY_CBOR, as_cbor(value)),
        ):
            patched = "patch" in media_type
            method, where = ("PATCH", f"{path}/there?fieldManager=a&") if patched else ("POST", f"{path}?")
            where += "dryRun=All"
            name = f"{form}: {item}s unlike each other"
            damaged = hurt(random.Random(number), body, 1)
            yield name, method, where, media_type, lambda body=body: body
            yield f"{name}, hurt", method, where, media_type, lambda damaged=damaged: damaged


def _items(schema: Any, chance: random.Random) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    size = 0
    while size < SIZE:
        items.append(random_object(schema, chance))
        size += len(json.dumps(items[-1]))
    return items
