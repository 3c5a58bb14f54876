"""Services: ports, addresses and traffic; what is filled in, what is refused, what may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.core import servicefields
from pilothouse.builtin.core.serviceaddresses import address_update, related
from pilothouse.builtin.core.servicefields import HEADLESS, externally_accessible, needs_health_check_port
from pilothouse.builtin.shared.addresses import (
    address_warnings,
    endpoint_whys,
    network_warnings,
    old_address,
    old_network,
)
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.builtin.shared.containers import PROTOCOLS
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.selectors import labels
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, on_update, rules, together
from pilothouse.registry.behaviour import Behaviour, Object, Part

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES: Final = ("ClientIP", "None")
_POLICIES: Final = ("Cluster", "Local")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_MODES: Final = ("Proxy", "VIP")
_MAX_AFFINITY: Final = 86400
_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_ONLY_BALANCER: Final = "may only be used when `type` is 'LoadBalancer'"
_ONCE: Final = "may not change once set"

Spec = Mapping[str, Any]


def _hints(service: Spec, field: Field) -> None:
    annotations = service["metadata"].get("annotations") or {}
    if _HINTS in annotations and _MODE in annotations and annotations[_HINTS] != annotations[_MODE]:
        why = f"must match annotations[{_HINTS}] when both are specified"
        field.invalid(f"metadata.annotations[{_MODE}]", annotations[_MODE], why)


def _is_headless(spec: Spec) -> bool:
    return (spec.get("clusterIPs") or [])[:1] == [HEADLESS] or spec.get("clusterIP") == HEADLESS


def _by_type(spec: Spec, field: Field) -> None:
    kind = spec.get("type")
    if not spec.get("ports") and not _is_headless(spec) and kind != "ExternalName":
        field.required("ports")
    if kind in ("NodePort", "LoadBalancer") and _is_headless(spec):
        field.invalid("clusterIPs[0]", HEADLESS, f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                field.forbidden(name, "may not be set for ExternalName services")
        target = spec.get("externalName", "").removesuffix(".")
        if not target:
            field.required("externalName")
        else:
            field.all_invalid("externalName", target, names.subdomain(target))


def _port(port: Spec, field: Field, path: str, named: bool, seen: set[str]) -> None:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if not name:
        if named:
            field.required(f"{path}.name")
    else:
        field.all_invalid(f"{path}.name", name, names.label(name))
        if name in seen:
            field.duplicate(f"{path}.name", name)
        seen.add(name)
    field.all_invalid(f"{path}.port", number, names.port_number(number))
    if protocol not in PROTOCOLS:
        field.outside(f"{path}.protocol", protocol, PROTOCOLS)
    target = port.get("targetPort", 0)
    whys = names.port_name(target) if isinstance(target, str) else names.port_number(target)
    field.all_invalid(f"{path}.targetPort", target, whys)
    application = port.get("appProtocol")
    if application is not None:
        field.all_invalid(f"{path}.appProtocol", application, names.qualified_name(application))


def _ports(spec: Spec, field: Field) -> None:
    ports: Sequence[Spec] = spec.get("ports") or ()
    seen: set[str] = set()
    for index, port in field.numbered(ports):
        _port(port, field, f"ports[{index}]", len(ports) > 1, seen)


def _affinity(spec: Spec, field: Field) -> None:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    if affinity not in _AFFINITIES:
        field.outside("sessionAffinity", affinity, _AFFINITIES)
    if affinity == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is None:
            field.required("sessionAffinityConfig", "when session affinity type is ClientIP")
        elif not 0 < seconds <= _MAX_AFFINITY:
            why = f"must be greater than 0 and less than {_MAX_AFFINITY}"
            field.invalid("sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)
    elif affinity == "None" and config is not None:
        field.forbidden("sessionAffinityConfig", "must not be set when session affinity is None")


def _external_addresses(spec: Spec, field: Field) -> None:
    kept = (field.old or {}).get("externalIPs") or ()
    for index, address in field.numbered(spec.get("externalIPs") or ()):
        before = len(field.found)
        old_address(f"externalIPs[{index}]", address, field, kept)
        if len(field.found) == before:
            field.all_invalid(f"externalIPs[{index}]", address, endpoint_whys(address))


def _type(spec: Spec, field: Field) -> None:
    kind = spec.get("type", "")
    if kind not in _TYPES:
        field.outside("type", kind, _TYPES)


def _taken_ports(spec: Spec, field: Field) -> None:
    ports: Sequence[Spec] = spec.get("ports") or ()
    if spec.get("type") == "ClusterIP":
        for index, port in field.numbered(ports):
            if port.get("nodePort"):
                field.forbidden(f"ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    for member in ("nodePort", "port"):
        seen: set[tuple[Any, Any]] = set()
        for index, port in field.numbered(ports):
            number = port.get(member, 0)
            if field.full:
                return
            if member == "nodePort" and not number:
                continue
            key = (port.get("protocol", ""), number)
            if key in seen:
                if member == "nodePort":
                    field.duplicate(f"ports[{index}].nodePort", number)
                else:
                    field.duplicate(f"ports[{index}]", internal("ServicePort", {"protocol": key[0], "port": number}))
            seen.add(key)


def _balancer(service: Spec, field: Field) -> None:
    spec = service.get("spec") or {}
    annotations = service["metadata"].get("annotations") or {}
    balancer = spec.get("type") == "LoadBalancer"
    old = (field.root_old or {}).get("spec") or {}
    if spec.get("loadBalancerSourceRanges"):
        if not balancer:
            field.forbidden("spec.LoadBalancerSourceRanges", _ONLY_BALANCER)
        kept = old.get("loadBalancerSourceRanges") or ()
        for index, text in field.numbered(spec["loadBalancerSourceRanges"]):
            if text not in kept:
                old_network(f"spec.LoadBalancerSourceRanges[{index}]", text.strip(), field)
    elif _RANGES in annotations:
        path = f"metadata.annotations[{_RANGES}]"
        if not balancer:
            field.forbidden(path, _ONLY_BALANCER)
        text = annotations[_RANGES].strip()
        for one in text.split(",") if text else ():
            old_network(path, one.strip(), field)
    if balancer and spec.get("allocateLoadBalancerNodePorts") is None:
        field.required("allocateLoadBalancerNodePorts")
    elif not balancer and spec.get("allocateLoadBalancerNodePorts") is not None:
        field.forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCER)
    name = spec.get("loadBalancerClass")
    if name is not None:
        if not balancer:
            field.forbidden("spec.loadBalancerClass", _ONLY_BALANCER)
        else:
            field.all_invalid("spec.loadBalancerClass", name, names.qualified_name(name))


def _traffic(spec: Spec, field: Field) -> None:
    policy, port = spec.get("externalTrafficPolicy", ""), spec.get("healthCheckNodePort", 0)
    if externally_accessible(spec):
        if policy not in _POLICIES:
            field.outside("externalTrafficPolicy", policy, _POLICIES)
    elif policy:
        field.invalid("externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    if needs_health_check_port(spec):
        if port and not 0 < port < 65536:
            field.all_invalid("healthCheckNodePort", port, names.port_number(port))
    elif port:
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        field.invalid("healthCheckNodePort", port, why)
    policy = spec.get("internalTrafficPolicy")
    if policy is None:
        if spec.get("type") in ("ClusterIP", "NodePort", "LoadBalancer"):
            field.required("internalTrafficPolicy")
    elif policy not in _POLICIES:
        field.not_supported("internalTrafficPolicy", policy, _POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        field.not_supported("trafficDistribution", distribution, _DISTRIBUTIONS)


def _change(spec: Spec, field: Field) -> None:
    old = field.old
    address_update(spec, field)
    if old.get("type") == spec.get("type") == "LoadBalancer":
        name = spec.get("loadBalancerClass")
        if old.get("loadBalancerClass") != name:
            field.invalid("loadBalancerClass", name, _ONCE)
    if needs_health_check_port(old) and needs_health_check_port(spec):
        if old.get("healthCheckNodePort") != spec.get("healthCheckNodePort"):
            field.forbidden("healthCheckNodePort", "field is immutable")


def _selector(spec: Spec, field: Field) -> None:
    if spec.get("selector"):
        field.within("selector", labels, spec["selector"])


def _ingress(items: Sequence[Spec], field: Field) -> None:
    if items and field.root["spec"].get("type") != "LoadBalancer":
        field.forbidden("", "may only be used when `spec.type` is 'LoadBalancer'")
        return
    kept = {one.get("ip") for one in field.old or ()}
    for index, one in field.numbered(items):
        address, mode, host = one.get("ip", ""), one.get("ipMode"), one.get("hostname", "")
        if address:
            old_address(f"[{index}].ip", address, field, [text for text in kept if text])
        if mode is not None:
            if not address:
                field.forbidden(f"[{index}].ipMode", "may not be specified when `ip` is not set")
            elif mode not in _MODES:
                field.not_supported(f"[{index}].ipMode", mode, _MODES)
        elif address:
            field.required(f"[{index}].ipMode", "must be specified when `ip` is set")
        if host:
            field.all_invalid(f"[{index}].hostname", host, names.subdomain(host))
            if names.parse_address(host) is not None:
                field.invalid(f"[{index}].hostname", host, "must be a DNS name, not an IP address")


def _spelling(name: str, texts: Sequence[str] | None) -> Iterator[str]:
    for index, text in enumerate(texts or ()):
        yield from address_warnings(f"spec.{name}[{index}]", text)


def _warn_status(new: Object, old: Object | None) -> Sequence[str]:
    points = ((new.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [
        text
        for index, point in enumerate(points)
        for text in address_warnings(f"status.loadBalancer.ingress[{index}]", point.get("ip"))
    ]


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    spec, annotations, found = new.get("spec") or {}, new["metadata"].get("annotations") or {}, []
    if _HINTS in annotations:
        found.append(f"annotation {_HINTS} is deprecated, please use {_MODE} instead")
    external: Sequence[str] = spec.get("externalIPs") or ()
    by_name = spec.get("type") == "ExternalName"
    found += _spelling("clusterIPs", spec.get("clusterIPs"))
    if _is_headless(spec):
        if spec.get("loadBalancerIP"):
            found.append("spec.loadBalancerIP is ignored for headless services")
        if spec.get("externalIPs"):
            found.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity", "None") != "None":
            found.append("spec.SessionAffinity is ignored for headless services")
    elif (
        external and not by_name and (old is None or (old.get("spec") or {}).get("externalIPs") != spec["externalIPs"])
    ):
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    found += _spelling("externalIPs", external)
    found += address_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP"))
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        found += network_warnings(f"spec.loadBalancerSourceRanges[{index}]", text.strip())
    if by_name and external:
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if not by_name and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


_everything: Final = together(
    at("spec", on_update(_change)),
    _hints,
    at("spec", _by_type, _ports, _selector, _affinity, _external_addresses, _type, _taken_ports),
    _balancer,
    at("spec", _traffic, on_update(related)),
)


def _service(service: Spec, field: Field) -> None:
    """A new service with bad addresses is refused for those alone."""
    if not field.updating:
        spec = service.get("spec") or {}
        related(spec, field)
        if field.found:
            field.prefix(0, "spec")
            return
    _everything(service, field)


_status: Final = rules(at("status", at("conditions", conditions), at("loadBalancer.ingress", _ingress)))

behaviour = Behaviour(
    defaults=servicefields.fill,
    prepare=servicefields.prepare,
    validate=rules(_service),
    warn=_warn,
    parts={"status": Part(validate=_status, warn=_warn_status)},
)
