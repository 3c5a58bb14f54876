"""The core group but for pods."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns import events, pods
from pilothouse.builtin.columns.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    Object,
    Template,
    age,
    containers,
    count,
    created,
    first_three,
    images,
    items,
    labels,
    labels_text,
    name,
    number,
    optional,
    part,
    row,
    text,
)

_ROLE: Final = "node-role.kubernetes.io/"
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_MODES: Final = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


# ---- services and endpoints ------------------------------------------------------------------------------------------


def balancer_addresses(obj: Object) -> list[str]:
    """The addresses or names under status.loadBalancer, sorted, each once."""
    ingress = items(part(part(obj, "status"), "loadBalancer"), "ingress")
    return sorted({shown for one in ingress if (shown := one.get("ip") or one.get("hostname"))})


def _cluster_address(obj: Object) -> str:
    spec = part(obj, "spec")
    addresses = items(spec, "clusterIPs")
    return (addresses[0] if addresses else spec.get("clusterIP")) or NONE


def _external_address(obj: Object) -> str:
    spec = part(obj, "spec")
    kind = spec.get("type")
    given: list[str] = items(spec, "externalIPs")
    if kind == "ExternalName":
        return spec.get("externalName") or ""
    if kind == "LoadBalancer":
        return ",".join(balancer_addresses(obj) + given) or "<pending>"
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(given) or NONE
    return UNKNOWN


def _ports(obj: Object) -> str:
    shown = []
    for port in items(part(obj, "spec"), "ports"):
        node_port = port.get("nodePort")
        middle = f":{node_port}" if node_port else ""
        shown.append(f"{port.get('port') or 0}{middle}/{port.get('protocol') or ''}")
    return ",".join(shown) or NONE


def _endpoints(obj: Object) -> str:
    subsets = items(obj, "subsets")
    if not subsets:
        return NONE
    shown: list[str] = []
    for subset in subsets:
        addresses = [one.get("ip") or "" for one in items(subset, "addresses")]
        ports = items(subset, "ports")
        if not ports:
            shown += addresses
        for port in ports:
            shown += [_host_port(address, port.get("port") or 0) for address in addresses]
    return first_three(shown)


def _host_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# ---- nodes -----------------------------------------------------------------------------------------------------------


def _node(obj: Object) -> list[Any]:
    status = part(obj, "status")
    info = part(status, "nodeInfo")
    addresses = items(status, "addresses")
    return [
        name(obj),
        _node_status(obj),
        _node_roles(obj),
        age(obj),
        info.get("kubeletVersion") or "",
        _node_address(addresses, "InternalIP"),
        _node_address(addresses, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        _kernel(info),
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_status(obj: Object) -> str:
    status = "Unknown"
    for one in items(part(obj, "status"), "conditions"):
        if one.get("type") == "Ready":
            status = "Ready" if one.get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if part(obj, "spec").get("unschedulable") else status


def _node_roles(obj: Object) -> str:
    roles = set()
    for key, found in part(part(obj, "metadata"), "labels").items():
        if key.startswith(_ROLE):
            roles.add(key[len(_ROLE) :])
        elif key == "kubernetes.io/role":
            roles.add(found)
    return ",".join(sorted(roles - {""})) or NONE


def _node_address(addresses: list[Object], kind: str) -> str:
    for one in addresses:
        if one.get("type") == kind:
            return one.get("address") or ""
    return NONE


def _kernel(info: Object) -> str:
    version, architecture = info.get("kernelVersion"), info.get("architecture")
    if not version:
        return UNKNOWN
    return f"{version} ({architecture})" if architecture else version


# ---- volumes ---------------------------------------------------------------------------------------------------------


def _phase(obj: Object) -> str:
    if part(obj, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return part(obj, "status").get("phase") or ""


def _storage_class(obj: Object) -> str:
    old: str | None = part(part(obj, "metadata"), "annotations").get(_OLD_CLASS)
    return part(obj, "spec").get("storageClassName") or "" if old is None else old


def _modes(modes: list[str]) -> str:
    return ",".join([short for mode, short in _MODES if mode in modes])


def _volume_capacity(obj: Object) -> str:
    return str(part(part(obj, "spec"), "capacity").get("storage") or "0")


def _volume_modes(obj: Object) -> str:
    return _modes(items(part(obj, "spec"), "accessModes"))


def _claim(obj: Object) -> str:
    reference = part(obj, "spec").get("claimRef")
    return f"{reference.get('namespace') or ''}/{reference.get('name') or ''}" if reference else ""


def _claim_capacity(obj: Object) -> str:
    if not part(obj, "spec").get("volumeName"):
        return ""
    return str(part(part(obj, "status"), "capacity").get("storage") or "0")


def _claim_modes(obj: Object) -> str:
    return _modes(items(part(obj, "status"), "accessModes")) if part(obj, "spec").get("volumeName") else ""


# ---- the rest --------------------------------------------------------------------------------------------------------


def _quota(limits: bool) -> Any:
    """Used and hard of the limits, or of everything else."""

    def cell(obj: Object) -> str:
        status = part(obj, "status")
        hard, used = part(status, "hard"), part(status, "used")
        chosen = [key for key in sorted(hard) if key.startswith("limits.") is limits]
        return ", ".join([f"{key}: {used.get(key) or '0'}/{hard[key]}" for key in chosen])

    return cell


def _component(obj: Object) -> list[Any]:
    for one in items(obj, "conditions"):
        if one.get("type") == "Healthy":
            health = "Healthy" if one.get("status") == "True" else "Unhealthy"
            return [name(obj), health, one.get("message") or "", one.get("error") or ""]
    return [name(obj), "Unknown", "", ""]


def _pod_labels(obj: Object) -> str:
    return labels_text(part(part(part(obj, "template"), "metadata"), "labels"))


ROWS: Final[dict[str, Template]] = {
    "componentstatuses": _component,
    "configmaps": row(name, count("data", "binaryData"), age),
    "endpoints": row(name, _endpoints, age),
    "events": events.cells,
    "limitranges": row(name, created),
    "namespaces": row(name, text("status.phase"), age),
    "nodes": _node,
    "persistentvolumeclaims": row(
        name,
        _phase,
        text("spec.volumeName"),
        _claim_capacity,
        _claim_modes,
        _storage_class,
        optional("spec.volumeAttributesClassName"),
        age,
        optional("spec.volumeMode"),
    ),
    "persistentvolumes": row(
        name,
        _volume_capacity,
        _volume_modes,
        text("spec.persistentVolumeReclaimPolicy"),
        _phase,
        _claim,
        _storage_class,
        optional("spec.volumeAttributesClassName"),
        text("status.reason"),
        age,
        optional("spec.volumeMode", UNSET),
    ),
    "pods": pods.cells,
    "podtemplates": row(name, containers("template.spec"), images("template.spec"), _pod_labels),
    "replicationcontrollers": row(
        name,
        number("spec.replicas"),
        number("status.replicas"),
        number("status.readyReplicas"),
        age,
        containers("spec.template.spec"),
        images("spec.template.spec"),
        labels("spec.selector"),
    ),
    "resourcequotas": row(name, _quota(False), _quota(True), age),
    "secrets": row(name, text("type"), count("data"), age),
    "serviceaccounts": row(name, age),
    "services": row(name, text("spec.type"), _cluster_address, _external_address, _ports, age, labels("spec.selector")),
}

CONDITIONS: Final = {"pods": pods.conditions}
