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
    r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+|eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32}", re.ASCII
)
_HOST_PORT: Final = re.compile(r"[^:\[\]]*:[^:\[\]]*|\[[^\[\]]*\]:[^:\[\]]*")
# Where the original tells of a source under another name: of the source itself, or of one too many.
_TOLD_AS: Final = {"gcePersistentDisk": "persistentDisk"}
_ONE_TOO_MANY: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
LONG_TARGET: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    + "if iscsi.initiatorName is specified."
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
            field.forbidden(_ONE_TOO_MANY.get(name, name), "may not specify more than 1 volume type")
        else:
            field.within(_TOLD_AS.get(name, name), rule, inner)
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
    if not path.startswith("/"):
        field.invalid("path", path, "must be an absolute path")


def _partition(name: str) -> Rule:
    """A disk and its partition; 0 is let through, whatever the original says."""

    def run(value: Object, field: Field) -> None:
        if not value.get(name):
            field.required(name)
        if not 0 <= value.get("partition", 0) <= 255:
            field.invalid("partition", value["partition"], "must be between 1 and 255, inclusive")

    return run


def _qualified_name(name: str, text: str, field: Field, of_pod: bool) -> None:
    if not text.startswith(_ISCSI_START):
        field.invalid(name, text, "must be valid format" + (" starting with iqn, eui, or naa" if of_pod else ""))
    elif not _ISCSI.fullmatch(text):
        field.invalid(name, text, "must be valid format")


def iscsi(value: Object, field: Field, of_pod: bool = True) -> None:
    """`of_pod`: the volume is of a pod, not a persistent one, which has other words and a whole reference."""
    if not value.get("targetPortal"):
        field.required("targetPortal")
    name = value.get("iqn", "")
    if not name:
        field.required("iqn")
    else:
        _qualified_name("iqn", name, field, of_pod)
    if not 0 <= value.get("lun", 0) <= 255:
        field.invalid("lun", value["lun"], "must be between 0 and 255, inclusive")
    secret = value.get("secretRef")
    if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and secret is None:
        field.required("secretRef")
    if not of_pod and secret is not None and not secret.get("name"):
        field.required("secretRef.name")
    initiator = value.get("initiatorName")
    if initiator is not None:
        _qualified_name("initiatorname", initiator, field, of_pod)


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
        if ("." + name.partition("/")[0].lower()).endswith((".kubernetes.io", ".k8s.io")):
            field.invalid(f"options[{name}]", name, "kubernetes.io and k8s.io namespaces are reserved")


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
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        field.not_supported(
            "diskURI",
            uri,
            ["/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"],
        )
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        field.not_supported(
            "diskURI", uri, ["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"]
        )


def _quobyte(value: Object, field: Field) -> None:
    registry = value.get("registry", "")
    if not registry:
        field.required("registry", "must be a host:port pair or multiple pairs separated by commas")
    elif len(value.get("tenant", "")) >= 65:
        field.required("tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if not _HOST_PORT.fullmatch(pair):
                field.invalid("registry", registry, "must be a host:port pair or multiple pairs separated by commas")
    if not value.get("volume"):
        field.required("volume")


def _storage_os(value: Object, field: Field) -> None:
    field.named("volumeName", value.get("volumeName", ""), words.label)
    space = value.get("volumeNamespace", "")
    if space:
        field.all_invalid("volumeNamespace", space, words.label(space))


def with_secret(rule: Rule, *members: str) -> Rule:
    """A source whose `secretRef`, where there is one, must have these members."""

    def run(value: Object, field: Field) -> None:
        rule(value, field)
        secret = value.get("secretRef")
        if secret is not None:
            for name in members:
                if not secret.get(name):
                    field.required(f"secretRef.{name}")

    return run


def _endpoints_namespace(value: Object, field: Field) -> None:
    needs("endpoints", "path")(value, field)
    space = value.get("endpointsNamespace")
    if space == "":
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        field.invalid("endpointsNamespace", space, why)
    elif space is not None:
        field.all_invalid("endpointsNamespace", space, words.label(space))


def _azure_file_of_persistent(value: Object, field: Field) -> None:
    needs("secretName", "shareName")(value, field)
    if value.get("secretNamespace") == "":
        field.required("secretNamespace")


def _iscsi_of_persistent(value: Object, field: Field) -> None:
    iscsi(value, field, of_pod=False)


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
    "cinder": with_secret(needs("volumeID"), "name"),
    "cephfs": needs("monitors"),
    "quobyte": _quobyte,
    "fc": fibre_channel,
    "flexVolume": _flex,
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": with_secret(_storage_os, "name"),
    "scaleIO": needs("gateway", "system", "volumeName"),
}

# What persistent volumes judge otherwise: they have no namespace, so their references name one.
PERSISTENT: Final[dict[str, Rule]] = {
    **COMMON,
    "iscsi": _iscsi_of_persistent,
    "glusterfs": _endpoints_namespace,
    "cinder": with_secret(needs("volumeID"), "name", "namespace"),
    "azureFile": _azure_file_of_persistent,
    "storageos": with_secret(_storage_os, "name", "namespace"),
}
