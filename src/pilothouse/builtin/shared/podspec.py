"""The spec of pods and pod templates: what is refused, in the order of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.affinity import affinity
from pilothouse.builtin.shared.containers import PodFacts, containers, ephemeral_containers, init_containers
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.podresources import pod_resources
from pilothouse.builtin.shared.resources import amount, resource_name
from pilothouse.builtin.shared.scheduling import TOLERATED, scheduling_gates, toleration, topology_spread
from pilothouse.builtin.shared.security import pod_security
from pilothouse.builtin.shared.selectors import labels
from pilothouse.builtin.shared.systems import operating_system, windows_host_process
from pilothouse.builtin.shared.volumes import volumes
from pilothouse.kit.memo import Stamped
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION: Final = ("Never", "PreemptLowerPriority")
_MAX_DEADLINE: Final = 2**31 - 1
MAX_NAMESERVERS: Final = 3
MAX_SEARCHES: Final = 32
MAX_SEARCH_CHARS: Final = 2048

Object = Mapping[str, Any]

_good: Final[Stamped[bool]] = Stamped()  # specs without a fault, by whose they are
_NAMED: Final = b'"ephemeral":'  # volumes whose claims are named after the pod


def _claims(items: Sequence[Object], field: Field) -> list[str]:
    """Judge `resourceClaims`, told from the spec; return their names."""
    names: list[str] = []
    for index, value in field.numbered(items):
        path = f"resourceClaims[{index}]"
        name, claim, template = (
            value.get("name", ""),
            value.get("resourceClaimName"),
            value.get("resourceClaimTemplateName"),
        )
        if not name:
            field.required(f"{path}.name")
        elif name in names:
            field.duplicate(f"{path}.name", name)
        else:
            field.all_invalid(f"{path}.name", name, words.label(name))
            names.append(name)
        if claim is not None and template is not None:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            field.invalid(path, internal("PodResourceClaim", dict(value)), why)
        elif claim is None and template is None:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            field.invalid(path, internal("PodResourceClaim", dict(value)), why)
        if claim is not None:
            field.all_invalid(f"{path}.resourceClaimName", claim, words.subdomain(claim))
        if template is not None:
            field.all_invalid(f"{path}.resourceClaimTemplateName", template, words.subdomain(template))
    return names


def _all_containers(spec: Object, field: Field, facts: PodFacts) -> None:
    found = field.found
    before = len(found)
    items = spec.get("containers") or ()
    if not items:
        field.required("containers")
    else:
        containers(items, field, facts)
        if len(found) > before:
            field.prefix(before, "containers")
    if spec.get("initContainers"):
        before = len(found)
        init_containers(spec["initContainers"], field, facts, {one.get("name", "") for one in items})
        if len(found) > before:
            field.prefix(before, "initContainers")
    if spec.get("ephemeralContainers"):
        before = len(found)
        ephemeral_containers(spec["ephemeralContainers"], field, facts, spec)
        if len(found) > before:
            field.prefix(before, "ephemeralContainers")


def _host_network(spec: Object, field: Field, of_pod: bool) -> None:
    """Ports are those of the node; a template may leave them open."""
    if not spec.get("hostNetwork"):
        return
    for index, container in field.numbered(spec.get("containers") or ()):
        for port_index, port in field.numbered(container.get("ports") or ()):
            host = port.get("hostPort", 0)
            if (host or of_pod) and host != port.get("containerPort", 0):
                path = f"containers[{index}].ports[{port_index}].hostPort"
                field.invalid(path, host, "must match `containerPort` when `hostNetwork` is true")


def _policies(spec: Object, field: Field) -> None:
    policy = spec.get("restartPolicy", "")
    if policy not in _RESTART_POLICIES:
        field.outside("restartPolicy", policy, _RESTART_POLICIES)
    policy = spec.get("dnsPolicy", "")
    if policy not in _DNS_POLICIES:
        field.outside("dnsPolicy", policy, _DNS_POLICIES)


def _security(spec: Object, field: Field) -> None:
    context = spec.get("securityContext")
    if context:
        before = len(field.found)
        pod_security(context, field, spec)
        if len(field.found) > before:
            field.prefix(before, "securityContext")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        field.invalid("shareProcessNamespace", True, why)


def _dns(spec: Object, field: Field) -> None:
    """`dnsConfig`, told from the spec."""
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            field.required("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            field.required("dnsConfig.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
            return
    if config is None:
        return
    servers = config.get("nameservers") or []
    if len(servers) > MAX_NAMESERVERS:
        why = f"must not have more than {MAX_NAMESERVERS} nameservers"
        field.invalid("dnsConfig.nameservers", servers, why)
    for index, server in field.numbered(servers):
        field.all_invalid(f"dnsConfig.nameservers[{index}]", server, words.address(server))
    searches = config.get("searches") or []
    if len(searches) > MAX_SEARCHES:
        field.invalid("dnsConfig.searches", searches, f"must not have more than {MAX_SEARCHES} search paths")
    if len(" ".join(searches)) > MAX_SEARCH_CHARS:
        why = f"must not have more than {MAX_SEARCH_CHARS} characters (including spaces) in the search list"
        field.invalid("dnsConfig.searches", searches, why)
    for index, search in field.numbered(searches):
        if search != ".":
            text = search.removesuffix(".")
            field.all_invalid(f"dnsConfig.searches[{index}]", text, words.underscored_subdomain(text))
    for index, option in field.numbered(config.get("options") or ()):
        if not option.get("name"):
            field.required(f"dnsConfig.options[{index}]", "must not be empty")


def _host_users(spec: Object, field: Field) -> None:
    if spec.get("hostUsers") is not False:
        return
    for name in ("hostPID", "hostIPC", "hostNetwork"):
        if spec.get(name):
            field.forbidden(name, "when `hostUsers` is false")
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            if container.get("volumeDevices"):
                field.forbidden(f"{kind}", "when `hostUsers` is false")


def _names(spec: Object, field: Field) -> None:
    """Names that are not there are not judged."""
    name = spec.get("serviceAccountName")
    if name:
        field.all_invalid("serviceAccountName", name, words.subdomain(name))
    name = spec.get("nodeName")
    if name:
        field.all_invalid("nodeName", name, words.subdomain(name))
    seconds = spec.get("activeDeadlineSeconds")
    if seconds is not None and not 1 <= seconds <= _MAX_DEADLINE:
        field.invalid("activeDeadlineSeconds", seconds, f"must be between 1 and {_MAX_DEADLINE}, inclusive")
    name = spec.get("hostname")
    if name:
        field.all_invalid("hostname", name, words.label(name))
    name = spec.get("subdomain")
    if name:
        field.all_invalid("subdomain", name, words.label(name))


def _host_aliases(items: Sequence[Object], field: Field) -> None:
    for index, value in field.numbered(items):
        address = value.get("ip", "")
        field.all_invalid(f"[{index}].ip", address, words.address(address))
        for name_index, name in field.doubtful(value.get("hostnames") or (), words.are_subdomains):
            field.all_invalid(f"[{index}].hostnames[{name_index}]", name, words.subdomain(name))


def _classes(spec: Object, field: Field) -> None:
    name = spec.get("priorityClassName")
    if name:
        field.all_invalid("priorityClassName", name, words.subdomain(name))
    name = spec.get("runtimeClassName")
    if name is not None:
        field.all_invalid("runtimeClassName", name, words.subdomain(name))
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in _PREEMPTION:
        if policy:
            field.not_supported("preemptionPolicy", policy, _PREEMPTION)
        else:
            field.required("preemptionPolicy")
    overhead = spec.get("overhead") or {}
    for resource in field.names(overhead):
        resource_name(resource, field, f"overhead.limits[{resource}]")
        amount(resource, overhead[resource], field, f"overhead.limits[{resource}]")


def _hostname_override(spec: Object, field: Field) -> None:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    if spec.get("setHostnameAsFQDN"):
        field.forbidden("hostnameOverride", "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        field.forbidden("hostnameOverride", "may not be specified when hostNetwork is true")
    field.all_invalid(
        "hostnameOverride", name, words.subdomain(name) if len(name) <= 64 else ["must be no more than 64 characters"]
    )


def _placement(spec: Object, field: Field) -> None:
    """Affinity, DNS, gates and spreading."""
    for index, reference in field.numbered(spec.get("imagePullSecrets") or ()):
        if not reference.get("name") and len(reference) > 1:
            field.required(f"imagePullSecrets[{index}].name")
    if spec.get("affinity"):
        field.within("affinity", affinity, spec["affinity"])
    if "dnsConfig" in spec or spec.get("dnsPolicy") == "None":
        _dns(spec, field)
    for index, gate in field.numbered(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        field.all_invalid(f"readinessGates[{index}].conditionType", kind, words.qualified_name(kind))
    if spec.get("schedulingGates"):
        field.within("schedulingGates", scheduling_gates, spec["schedulingGates"])
    if spec.get("topologySpreadConstraints"):
        field.within("topologySpreadConstraints", topology_spread, spec["topologySpreadConstraints"])


def pod_spec(spec: Object, field: Field, pod: str = "") -> None:
    """The spec of a pod or of a template, told from the spec. `pod`: the pod's name, empty for a template.

    Nothing else tells what is wrong with it, so what was good once (another pod of the template) is good again.
    """
    text = b"" if getattr(field.context, "big", False) else _good.key(spec)
    key = b"" if not text or _NAMED in text else text + (b"pod" if pod else b"template")
    if _good.get(key):
        return
    before = len(field.found)
    _pod_spec(spec, field, pod)
    if len(field.found) == before and not field.full:  # of what is full nobody knows
        _good.keep(key, True)


def _pod_spec(spec: Object, field: Field, pod: str) -> None:
    found = field.found
    known: dict[str, Object] = {}
    if spec.get("volumes"):
        before = len(found)
        known = volumes(spec["volumes"], field, pod)
        if len(found) > before:
            field.prefix(before, "volumes")
    claims = _claims(spec["resourceClaims"], field) if spec.get("resourceClaims") else []
    facts = PodFacts(
        known,
        claims,
        spec.get("terminationGracePeriodSeconds"),
        spec.get("restartPolicy", ""),
        spec.get("hostUsers") is not False,
    )
    _all_containers(spec, field, facts)
    if spec.get("resources") is not None:
        before = len(found)
        pod_resources(spec, field, claims)
        if len(found) > before:
            field.prefix(before, "resources")
    if "hostNetwork" in spec:
        _host_network(spec, field, bool(pod))
    _policies(spec, field)
    if spec.get("nodeSelector"):
        field.within("nodeSelector", labels, spec["nodeSelector"])
    _security(spec, field)
    _placement(spec, field)
    windows_host_process(spec, field)
    _host_users(spec, field)
    _names(spec, field)
    if spec.get("tolerations"):
        field.each("tolerations", toleration, spec["tolerations"], alone=True, free=TOLERATED)
    if spec.get("hostAliases"):
        field.within("hostAliases", _host_aliases, spec["hostAliases"])
    _classes(spec, field)
    operating_system(spec, field)
    _hostname_override(spec, field)
