"""What objects of each kind cost a quota. Kinds without a line of their own count as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pilothouse.admission.plugin import CREATE, UPDATE
from pilothouse.admission.podamounts import Amounts, add
from pilothouse.admission.quota import podusage
from pilothouse.admission.quota.podusage import ONE
from pilothouse.kit.record import record
from pilothouse.machinery import quantity
from pilothouse.machinery.errors import qualified
from pilothouse.machinery.quantity import Quantity
from pilothouse.registry.resource import Object, Resource

Kind = tuple[str, str]
IGNORED: Final = frozenset({("", "events"), ("events.k8s.io", "events"), ("", "bindings")})
_OLD_NAMES: Final = frozenset({"configmaps", "secrets", "replicationcontrollers", "resourcequotas"})
_CLASS_MARK: Final = ".storageclass.storage.k8s.io/"
_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_ALL_DEVICES: Final = 32  # what "all" of a request is taken for
_SERVICES: Final = frozenset({"services", "services.nodeports", "services.loadbalancers", "count/services"})
_CLAIMS: Final = frozenset({"persistentvolumeclaims", "requests.storage", "count/persistentvolumeclaims"})


@record
class Evaluator:
    """One kind. `counts`: whether a resource of a quota is about it; `usage`: what one object costs.

    `demands`: what an object must say because of the resources that a quota counts. `on`: (operation, subresource).
    """

    counts: Callable[[str], bool]
    usage: Callable[[Object], Amounts]
    on: frozenset[tuple[str, str]]
    demands: Callable[[Object, Iterable[str]], str] | None = None


def _amount(count: int) -> Quantity:
    return Quantity(count * 10**9)


def _service(obj: Object) -> Amounts:
    spec = obj.get("spec") or {}
    kind, ports = spec.get("type"), spec.get("ports") or ()
    found = {"services": ONE, "count/services": ONE}
    if kind == "LoadBalancer":
        found["services.loadbalancers"] = ONE
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        found["services.nodeports"] = _amount(sum(1 for port in ports if port.get("nodePort")))
    elif kind in ("NodePort", "LoadBalancer"):
        found["services.nodeports"] = _amount(len(ports))
    return found


def _counts_claims(name: str) -> bool:
    return name in _CLAIMS or _CLASS_MARK in name


def _claim(obj: Object) -> Amounts:
    spec = obj.get("spec") or {}
    found = {"persistentvolumeclaims": ONE, "count/persistentvolumeclaims": ONE}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    storage_class = annotations.get(_OLD_CLASS) or spec.get("storageClassName") or ""
    if storage_class:
        found[f"{storage_class}{_CLASS_MARK}persistentvolumeclaims"] = ONE
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        amount = quantity.parse(asked)
        found["requests.storage"] = amount
        if storage_class:
            found[f"{storage_class}{_CLASS_MARK}requests.storage"] = amount
    return found


def _counts_resource_claims(name: str) -> bool:
    return name == "count/resourceclaims.resource.k8s.io" or name.endswith(_DEVICES)


def _resource_claim(obj: Object) -> Amounts:
    found = {"count/resourceclaims.resource.k8s.io": ONE}
    for request in ((obj.get("spec") or {}).get("devices") or {}).get("requests") or ():
        if request.get("exactly"):
            add(found, _devices(request["exactly"]))
        else:
            most: Amounts = {}
            for one in request.get("firstAvailable") or ():
                for name, amount in _devices(one).items():
                    most[name] = max(amount, most.get(name, amount))
            add(found, most)
    return found


def _devices(request: Mapping[str, Any]) -> Amounts:
    every = request.get("allocationMode") == "All"
    count = _ALL_DEVICES if every else request.get("count") or 1
    return {f"{request.get('deviceClassName', '')}{_DEVICES}": _amount(count)}


_ON_CREATE: Final = frozenset({(CREATE, "")})
_ON_BOTH: Final = frozenset({(CREATE, ""), (UPDATE, "")})
_EVALUATORS: Final[dict[Kind, Evaluator]] = {
    ("", "pods"): Evaluator(
        podusage.counts, podusage.usage, frozenset({(CREATE, ""), (UPDATE, "resize")}), podusage.demands
    ),
    ("", "services"): Evaluator(_SERVICES.__contains__, _service, _ON_BOTH),
    ("", "persistentvolumeclaims"): Evaluator(_counts_claims, _claim, _ON_BOTH),
    ("resource.k8s.io", "resourceclaims"): Evaluator(_counts_resource_claims, _resource_claim, _ON_BOTH),
}


def evaluator_of(resource: Resource) -> Evaluator:
    """That of the kind, or one that counts its objects."""
    own = _EVALUATORS.get((resource.group, resource.plural))
    if own is not None:
        return own
    names = {f"count/{qualified(resource.group, resource.plural)}": ONE}
    if not resource.group and resource.plural in _OLD_NAMES:
        names[resource.plural] = ONE
    return Evaluator(names.__contains__, lambda obj: names, _ON_CREATE)
