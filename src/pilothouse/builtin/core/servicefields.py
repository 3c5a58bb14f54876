"""What the server fills into and takes out of services when they are made and when their type changes.

Addresses and node ports are given out by the allocator; here are only the parts that need no memory of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.addresses import is_plain
from pilothouse.machinery import names
from pilothouse.machinery.rules import defaults
from pilothouse.registry.behaviour import Context, Object

HEADLESS: Final = "None"
CLUSTER_FAMILIES: Final = ("IPv4",)  # of a server without settings of its own
_EXTERNAL: Final = ("NodePort", "LoadBalancer")
_INTERNAL: Final = ("ClusterIP", "NodePort", "LoadBalancer")
_AFFINITY_SECONDS: Final = 10800

Spec = Mapping[str, Any]


def needs_cluster_ip(spec: Spec) -> bool:
    return spec.get("type") in _INTERNAL


def needs_node_port(spec: Spec) -> bool:
    """Node ports of a load balancer can be waived."""
    kind = spec.get("type")
    return kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False)


def needs_health_check_port(spec: Spec) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def externally_accessible(spec: Spec) -> bool:
    return spec.get("type") in _EXTERNAL or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _target_port(port: Object) -> None:
    if port.get("targetPort") in (None, 0, ""):
        port["targetPort"] = port.get("port", 0)


def _affinity(spec: Object) -> None:
    if spec.get("sessionAffinity") == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec.get("sessionAffinity") == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        client = config.get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {**config, "clientIP": {**client, "timeoutSeconds": _AFFINITY_SECONDS}}


def _traffic(spec: Object) -> None:
    if not spec.get("externalTrafficPolicy") and externally_accessible(spec):
        spec["externalTrafficPolicy"] = "Cluster"
    if "internalTrafficPolicy" not in spec and spec.get("type") in _INTERNAL:
        spec["internalTrafficPolicy"] = "Cluster"
    if "allocateLoadBalancerNodePorts" not in spec and spec.get("type") == "LoadBalancer":
        spec["allocateLoadBalancerNodePorts"] = True


def _ingress_modes(service: Object) -> None:
    if (service.get("spec") or {}).get("type") != "LoadBalancer":
        return
    for one in ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
        if one.get("ip") and "ipMode" not in one:
            one["ipMode"] = "VIP"


_table: Final = defaults(
    {
        "spec.sessionAffinity": "None",
        "spec": _affinity,
        "spec.type": "ClusterIP",
        "spec.ports[].protocol": "TCP",
        "spec.ports[]": _target_port,
    }
)


def fill(service: Object) -> None:
    """The defaults of a service, in place."""
    _table(service)
    if service.get("spec") is not None:
        _traffic(service["spec"])
    _ingress_modes(service)


# -- what moves between types


def _put(spec: Object, name: str, value: Any) -> None:
    if value in (None, "", [], 0):
        spec.pop(name, None)
    else:
        spec[name] = value


def normalize_addresses(spec: Object, old: Object | None) -> None:
    """`clusterIP` and the first of `clusterIPs` say the same; who changes one need not know of the other."""
    one, every = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if old is None:
        if one and not every:
            spec["clusterIPs"] = [one]
        return
    before, all_before = old.get("clusterIP", ""), old.get("clusterIPs") or []
    same_list = every == all_before
    if before and not one and same_list:
        spec.pop("clusterIPs", None)
    elif before and one and before != one and same_list:
        spec["clusterIPs"] = [one, *every[1:]]
    elif all_before and not every and one == before:
        spec.pop("clusterIP", None)
    elif one and not every:
        spec["clusterIPs"] = [one]


def keep_allocated(spec: Object, old: Object) -> None:
    """What an update leaves out is kept while the type still needs it."""
    if needs_cluster_ip(old) and needs_cluster_ip(spec):
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and old.get(name):
                spec[name] = old[name]
    if needs_node_port(old) and needs_node_port(spec):
        _keep_node_ports(spec, old)
    if needs_health_check_port(old) and needs_health_check_port(spec):
        if not spec.get("healthCheckNodePort"):
            _put(spec, "healthCheckNodePort", old.get("healthCheckNodePort"))


def _keep_node_ports(spec: Object, old: Object) -> None:
    before = {
        (one.get("protocol", ""), one.get("port", 0)): one["nodePort"]
        for one in old.get("ports") or ()
        if one.get("nodePort")
    }
    used = {(one.get("protocol", ""), one["nodePort"]) for one in spec.get("ports") or () if one.get("nodePort")}
    for one in spec.get("ports") or ():
        kept = before.get((one.get("protocol", ""), one.get("port", 0)))
        if not one.get("nodePort") and kept and (one.get("protocol", ""), kept) not in used:
            one["nodePort"] = kept


def _node_ports(spec: Object) -> list[int]:
    return [one.get("nodePort", 0) for one in spec.get("ports") or ()]


def drop_of_other_types(spec: Object, old: Object) -> None:
    """What belongs to the old type and was not changed goes with it."""
    if needs_cluster_ip(old) and not needs_cluster_ip(spec):
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name) == old.get(name):
                spec.pop(name, None)
    if needs_node_port(old) and not needs_node_port(spec) and _node_ports(spec) == _node_ports(old):
        for one in spec.get("ports") or ():
            one.pop("nodePort", None)
    if needs_health_check_port(old) and not needs_health_check_port(spec):
        if spec.get("healthCheckNodePort") == old.get("healthCheckNodePort"):
            spec.pop("healthCheckNodePort", None)
    if old.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(name) == old.get(name):
                spec.pop(name, None)
    if externally_accessible(old) and not externally_accessible(spec):
        if spec.get("externalTrafficPolicy") == old.get("externalTrafficPolicy"):
            spec.pop("externalTrafficPolicy", None)
    if spec.get("type") == "ExternalName":
        if spec.get("internalTrafficPolicy") == old.get("internalTrafficPolicy"):
            spec.pop("internalTrafficPolicy", None)


def family_of(text: str) -> str:
    """The family of an address; nothing where it is none."""
    if is_plain(text):
        return "IPv4"
    found = names.parse_address(text)
    return "" if found is None else f"IPv{found.version}"


def fill_families(spec: Object, cluster: tuple[str, ...] = CLUSTER_FAMILIES) -> None:
    """Families and policy of a service that has said nothing, or part, of them. `cluster`: those with addresses."""
    if not needs_cluster_ip(spec):
        return
    policy, families = spec.get("ipFamilyPolicy"), spec.get("ipFamilies") or []
    addresses = spec.get("clusterIPs") or []
    headless = addresses[:1] == [HEADLESS]
    if headless and not spec.get("selector") and not families and policy in (None, "RequireDualStack"):
        # Its endpoints are somebody else's, and may be of any family.
        spec["ipFamilyPolicy"] = "RequireDualStack"
        spec["ipFamilies"] = [cluster[0], "IPv6" if cluster[0] == "IPv4" else "IPv4"]
        return
    if policy is None:
        policy = "RequireDualStack" if len(addresses) == 2 or len(families) == 2 else "SingleStack"
        spec["ipFamilyPolicy"] = policy
    if not headless:
        for address in dict.fromkeys(addresses[len(families) :]):
            family = family_of(address)
            if family and family not in families:
                families = [*families, family]
                if {"IPv4", "IPv6"}.issubset(families):  # there are no more
                    break
    if not families:
        families = [cluster[0]]
    if policy != "SingleStack" and len(families) == 1:
        other = [one for one in cluster if one not in families]
        families = [*families, *other]
    spec["ipFamilies"] = families


def prepare(new: Object, old: Object | None, context: Context) -> None:
    """Before admission: normal forms, what is kept and dropped, families."""
    spec = new.get("spec") or {}
    before = (old or {}).get("spec") if old is not None else None
    if before is None:
        new["status"] = {"loadBalancer": {}}
        normalize_addresses(spec, None)
    else:
        normalize_addresses(spec, before)
        keep_allocated(spec, before)
        drop_of_other_types(spec, before)
        if spec.get("type") != "LoadBalancer" and ((old or {}).get("status") or {}).get("loadBalancer"):
            new["status"] = {**(old or {})["status"], "loadBalancer": {}}
    fill_families(spec, getattr(context, "service_families", CLUSTER_FAMILIES))
