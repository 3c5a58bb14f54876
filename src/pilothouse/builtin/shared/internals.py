"""The original's own form of an object, as a few of its messages print it: Go names, every field, nothing left out.

Some causes show such structs as JSON, and refused updates of pods, claims and volumes print a unified diff of two.
Only refusals come here, so nothing is made for speed.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.types import CORE, META, builtin_types
from pilothouse.machinery import schema as s
from pilothouse.machinery.jsoncodec import compact
from pilothouse.machinery.schema import Field, Schema

# JSON names whose Go names are not just capitalized.
_NAMES: Final = {
    "apiGroup": "APIGroup", "apiVersion": "APIVersion", "awsElasticBlockStore": "AWSElasticBlockStore",
    "bootID": "BootID", "chapAuthDiscovery": "DiscoveryCHAPAuth", "chapAuthSession": "SessionCHAPAuth",
    "cephfs": "CephFS", "csi": "CSI", "dnsConfig": "DNSConfig", "dnsPolicy": "DNSPolicy", "fc": "FC",
    "fsGroup": "FSGroup", "fsGroupChangePolicy": "FSGroupChangePolicy", "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk", "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName", "grpc": "GRPC", "httpGet": "HTTPGet",
    "httpHeaders": "HTTPHeaders", "ip": "IP", "iqn": "IQN", "iscsi": "ISCSI", "iscsiInterface": "ISCSIInterface",
    "initiatorName": "InitiatorName", "monitors": "CephMonitors", "nfs": "NFS", "os": "OS", "osImage": "OSImage",
    "pdID": "PdID", "pdName": "PDName", "pool": "RBDPool", "image": "Image", "rbd": "RBD", "scaleIO": "ScaleIO",
    "seLinuxChangePolicy": "SELinuxChangePolicy", "seLinuxOptions": "SELinuxOptions", "storageos": "StorageOS",
    "targetWWNs": "TargetWWNs", "tcpSocket": "TCPSocket", "tty": "TTY", "uid": "UID", "user": "User",
    "volumeID": "VolumeID", "wwids": "WWIDs", "datasetUUID": "DatasetUUID", "clusterIP": "ClusterIP",
}  # fmt: skip
_NAMES_OF: Final = {
    ("RBDVolumeSource", "image"): "RBDImage", ("RBDPersistentVolumeSource", "image"): "RBDImage",
    ("RBDVolumeSource", "user"): "RadosUser", ("RBDPersistentVolumeSource", "user"): "RadosUser",
    ("AzureDiskVolumeSource", "diskURI"): "DataDiskURI", ("AzureDiskVolumeSource", "diskName"): "DiskName",
}  # fmt: skip

_SOURCES: Final = (
    "gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd", "quobyte", "iscsi",
    "flexVolume", "cinder", "cephfs", "fc", "flocker", "azureFile", "vsphereVolume", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "local", "storageos", "csi",
)  # fmt: skip
# Types whose fields stand in another order there.
_ORDERS: Final[dict[str, tuple[str, ...]]] = {
    "PersistentVolumeSource": _SOURCES,
    "PodDisruptionBudgetSpec": ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy"),
    "PodSpec": (
        "volumes", "initContainers", "containers", "ephemeralContainers", "restartPolicy",
        "terminationGracePeriodSeconds", "activeDeadlineSeconds", "dnsPolicy", "nodeSelector", "serviceAccountName",
        "automountServiceAccountToken", "nodeName", "securityContext", "imagePullSecrets", "hostname", "subdomain",
        "setHostnameAsFQDN", "affinity", "schedulerName", "tolerations", "hostAliases", "priorityClassName", "priority",
        "preemptionPolicy", "dnsConfig",
        "readinessGates", "runtimeClassName", "overhead", "enableServiceLinks", "topologySpreadConstraints", "os",
        "schedulingGates", "resourceClaims", "resources", "hostnameOverride", "schedulingGroup", "evictionResponders",
    ),
}  # fmt: skip
# Pointers that are plain values there.
_VALUES: Final = frozenset({"RollingUpdateDeployment", "RollingUpdateDaemonSet"})
# Pod-wide host settings live in the security context there.
_HOST_FIELDS: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_GONE: Final = {"PodSpec": frozenset({*_HOST_FIELDS, "serviceAccount"})}


_MEMBERS: Final = "internals"  # key in Schema.compiled
_LONGEST: Final = 128 << 10  # bytes of JSON of what is shown in this form, or of two whose difference is shown
_MOST_LINES: Final = 20_000


def _go_name(owner: str, name: str) -> str:
    return _NAMES_OF.get((owner, name)) or _NAMES.get(name) or name[0].upper() + name[1:]


def _fields(schema: Schema) -> Iterable[Field]:
    """Fields in the order of the internal type, inline ones flattened."""
    found: dict[str, Field] = {}
    for one in schema.fields:
        if one.inline:
            found.update({inner.name: inner for inner in _fields(one.schema)})
        else:
            found[one.name] = one
    order = _ORDERS.get(schema.name)
    gone = _GONE.get(schema.name, frozenset())
    if order is None:
        return [one for name, one in found.items() if name not in gone]
    rest = [name for name in found if name not in order and name not in gone]
    return [found[name] for name in (*order, *rest) if name in found]


def _members(schema: Schema) -> list[tuple[str, str, Schema, bool]]:
    """Of each member that is shown: its name, its name there, its type, and whether it may be nothing."""
    known: list[tuple[str, str, Schema, bool]] | None = schema.compiled.get(_MEMBERS)
    if known is None:
        # Metadata is embedded there: its members stand among the others; versions and kinds are not kept.
        hidden = ("metadata", "kind", "apiVersion") if "metadata" in schema.properties else ()
        known = schema.compiled[_MEMBERS] = [
            (one.name, _go_name(schema.name, one.name), one.schema, one.pointer and schema.name not in _VALUES)
            for one in _fields(schema)
            if one.name not in hidden
        ]
    return known


def _struct(value: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    metadata = value.get("metadata") if "metadata" in schema.properties else None
    made = {name: one for name, one in (metadata or {}).items() if one is not None}
    made |= {shown: _view(value.get(name), of, pointer) for name, shown, of, pointer in _members(schema)}
    if schema.name == "PodSpec":
        context = made["SecurityContext"]
        hosts = {_go_name("", name): _host(name, value.get(name)) for name in _HOST_FIELDS}
        made["SecurityContext"] = {**hosts, **(context or {})}
    return made


def _host(name: str, value: Any) -> Any:
    return value if name in ("shareProcessNamespace", "hostUsers") else bool(value)


def _view(value: Any, schema: Schema, pointer: bool) -> Any:
    if value is None:
        return None if pointer else _zero(schema)
    if schema.kind == s.STRUCT:
        return value if schema.package == META else _struct(value, schema)
    if schema.kind == s.LIST:
        return [_view(one, schema.items, False) for one in value] or None
    if schema.kind == s.MAP:
        return {key: _view(value[key], schema.items, False) for key in sorted(value)} or None
    return value


def _zero(schema: Schema) -> Any:
    if schema.kind == s.STRUCT:
        return {} if schema.package == META else _struct({}, schema)
    return {s.STRING: "", s.BOOL: False, s.INT32: 0, s.INT64: 0, s.QUANTITY: "0", s.INT_OR_STRING: 0}.get(schema.kind)


def is_too_long(value: Any) -> bool:
    """Whether a value is so long that its internal form, which may be twenty times as long, is not made."""
    text = compact(value)
    return text is None or len(text) > _LONGEST


def internal(type_name: str, value: Mapping[str, Any], package: str = CORE) -> dict[str, Any]:
    """The internal form of a struct of `package`, as a dict in the order of its fields.

    What is so long that nobody would read it is shown as it was sent: the form of a short volume has 900 characters.
    """
    if is_too_long(value):
        return dict(value)
    return _struct(value, builtin_types().get(package, type_name))


def internals(
    type_name: str, values: Sequence[Mapping[str, Any]] | None, package: str = CORE
) -> list[dict[str, Any]] | None:
    """As `internal`, of a list; None where there is none."""
    if values is None:
        return None
    if is_too_long(values):
        return list(map(dict, values))
    return [internal(type_name, one, package) for one in values]


def diff(type_name: str, old: Mapping[str, Any], new: Mapping[str, Any], package: str = CORE) -> str:
    """The unified diff of two structs' internal forms, without a head; every line ends in a newline.

    Empty where they are so long that nobody would read it (and comparing them could take minutes).
    """
    if is_too_long([old, new]):
        return ""
    before = json.dumps(internal(type_name, old, package), indent=1, ensure_ascii=False).splitlines()
    after = json.dumps(internal(type_name, new, package), indent=1, ensure_ascii=False).splitlines()
    if len(before) + len(after) > _MOST_LINES:
        return ""
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return "".join(line + "\n" for line in lines)
