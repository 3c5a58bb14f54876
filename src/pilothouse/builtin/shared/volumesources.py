"""Kinds of storage that pods and persistent volumes both can name: one rule each, in tables by JSON name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.paths import descending, no_backsteps
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, Rule

HOST_PATH_TYPES: Final = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_ISCSI_START: Final = ("iqn", "eui", "naa")
_ISCSI: Final = re.compile(
    r"(iqn\.\d{4}-\d{2}\.([a-z0-9]([-a-z0-9]*[a-z0-9])?\.?)+(:[^,;*&$|\s]*)?|eui\.[0-9A-Fa-f]{16}|naa\.[0-9A-Fa-f]{16}([0-9A-Fa-f]{16})?)"
)
_CACHING: Final = ("None", "ReadOnly", "ReadWrite")
_AZURE_KINDS: Final = ("Dedicated", "Managed", "Shared")

Object = Mapping[str, Any]


def needs(*names: str) -> Rule:
    """A source whose named fields must not be empty."""

    def run(value: Object, field: Field) -> None:
        for name in names:
            if not value.get(name):
                field.required(name)

    return run


def one_source(value: Object, sources: Mapping[str, Rule], field: Field) -> bool:
    """Judge the one source that a volume names; a second one is forbidden. Whether there is any."""
    count = 0
    for name, rule in sources.items() if len(value) > 2 else ((name, sources.get(name)) for name in value):
        inner = value.get(name)
        if rule is None or inner is None:
            continue
        count += 1
        if count > 1:
            field.forbidden(name, "may not specify more than 1 volume type")
        else:
            field.within(name, rule, inner)
    return count > 0


def host_path(value: Object, field: Field) -> None:
    path = value.get("path", "")
    if not path:
        field.required("path")
        return
    no_backsteps(path, field, "path")
    kind = value.get("type")
    if kind is not None and kind not in HOST_PATH_TYPES:
        field.not_supported("type", kind, HOST_PATH_TYPES)


def nfs(value: Object, field: Field) -> None:
    if not value.get("server"):
        field.required("server")
    path = value.get("path", "")
    if not path:
        field.required("path")
    elif not path.startswith("/"):
        field.invalid("path", path, "must be an absolute path")


def _partition(name: str) -> Rule:
    def run(value: Object, field: Field) -> None:
        if not value.get(name):
            field.required(name)
        if not 0 <= value.get("partition", 0) <= 255:
            field.invalid("partition", value["partition"], "must be between 0 and 255, inclusive")

    return run


def _qualified_name(name: str, text: str, field: Field) -> None:
    if not text.startswith(_ISCSI_START):
        field.invalid(name, text, "must be valid format starting with iqn, eui, or naa")
    elif not _ISCSI.fullmatch(text):
        field.invalid(name, text, "must be valid format")


def iscsi(value: Object, field: Field) -> None:
    if not value.get("targetPortal"):
        field.required("targetPortal")
    name = value.get("iqn", "")
    if not name:
        field.required("iqn")
    else:
        _qualified_name("iqn", name, field)
    if not 0 <= value.get("lun", 0) <= 255:
        field.invalid("lun", value["lun"], "must be between 0 and 255, inclusive")
    secret = value.get("secretRef")
    if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and secret is None:
        field.required("secretRef")
    initiator = value.get("initiatorName")
    if initiator is not None:
        _qualified_name("initiatorname", initiator, field)
    if secret is not None and not secret.get("name"):
        field.required("secretRef.name")


def fibre_channel(value: Object, field: Field) -> None:
    targets, names = value.get("targetWWNs"), value.get("wwids")
    if not targets and not names:
        field.required("targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and names:
        field.invalid("targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets:
        lun = value.get("lun")
        if lun is None:
            field.required("lun", "lun is required if targetWWNs is specified")
        elif not 0 <= lun <= 255:
            field.invalid("lun", lun, "must be between 0 and 255, inclusive")


def _flocker(value: Object, field: Field) -> None:
    name, dataset = value.get("datasetName", ""), value.get("datasetUUID", "")
    if not name and not dataset:
        field.required("", "one of datasetName and datasetUUID is required")
    if name and dataset:
        field.invalid("", "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        field.invalid("datasetName", name, "must not contain '/'")


def _flex(value: Object, field: Field) -> None:
    if not value.get("driver"):
        field.required("driver")
    for name in sorted(value.get("options") or ()):
        if name.startswith(("kubernetes.io/", "k8s.io/")) or ".kubernetes.io/" in name or ".k8s.io/" in name:
            domain = "kubernetes.io" if "kubernetes.io" in name else "k8s.io"
            field.invalid(f"options[{name}]", name, f"{domain} and k8s.io namespaces are reserved")


def _azure_disk(value: Object, field: Field) -> None:
    name, uri = value.get("diskName", ""), value.get("diskURI", "")
    if not name:
        field.required("diskName")
    if not uri:
        field.required("diskURI")
    caching, kind = value.get("cachingMode"), value.get("kind")
    if caching is not None and caching not in _CACHING:
        field.not_supported("cachingMode", caching, _CACHING)
    if kind is not None and kind not in _AZURE_KINDS:
        field.not_supported("kind", kind, _AZURE_KINDS)
    if kind == "Managed" and uri and not uri.startswith("/subscriptions/"):
        field.not_supported(
            "diskURI",
            uri,
            ["/subscriptions/{sub-id}/resourceGroups/{group-name}/providers/Microsoft.Compute/disks/{disk-id}"],
        )
    if kind is not None and kind != "Managed" and uri and not uri.startswith("https://"):
        field.not_supported(
            "diskURI", uri, ["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"]
        )


def _quobyte(value: Object, field: Field) -> None:
    registry = value.get("registry", "")
    if not registry:
        field.required("registry", "must be a host:port pair or multiple pairs separated by commas")
    elif len(registry) >= 65:
        field.invalid("registry", registry, "must be less than 65 characters")
    else:
        for pair in registry.split(","):
            if not re.fullmatch(r"[^:]+:\d+", pair) and not re.fullmatch(r"\[.+\]:\d+", pair):
                field.invalid("registry", registry, "must be a host:port pair or multiple pairs separated by commas")
    if len(value.get("tenant", "")) >= 65:
        field.required("tenant", "must be a UUID and may not exceed a length of 64 characters")
    if not value.get("volume"):
        field.required("volume")


def _storage_os(value: Object, field: Field) -> None:
    if not value.get("volumeName"):
        field.required("volumeName")
    elif words.label(value["volumeName"]):
        field.all_invalid("volumeName", value["volumeName"], words.label(value["volumeName"]))
    space = value.get("volumeNamespace", "")
    if space:
        field.all_invalid("volumeNamespace", space, words.label(space))
    secret = value.get("secretRef")
    if secret is not None and not secret.get("name"):
        field.required("secretRef.name")


def _secret_ref(*names: str) -> Rule:
    plain = needs(*names)

    def run(value: Object, field: Field) -> None:
        plain(value, field)
        secret = value.get("secretRef")
        if secret is not None and not secret.get("name"):
            field.required("secretRef.name")

    return run


def git_repo(value: Object, field: Field) -> None:
    if not value.get("repository"):
        field.required("repository")
    descending(value.get("directory", ""), field, "directory")


# In the order in which the original looks for more than one.
COMMON: Final[dict[str, Rule]] = {
    "hostPath": host_path,
    "gcePersistentDisk": _partition("pdName"),
    "awsElasticBlockStore": _partition("volumeID"),
    "nfs": nfs,
    "iscsi": iscsi,
    "glusterfs": needs("endpoints", "path"),
    "flocker": _flocker,
    "rbd": needs("monitors", "image"),
    "cinder": _secret_ref("volumeID"),
    "cephfs": needs("monitors"),
    "quobyte": _quobyte,
    "fc": fibre_channel,
    "flexVolume": _flex,
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _storage_os,
    "scaleIO": needs("gateway", "system", "volumeName"),
}
