"""What is filled into pods and pod templates: the same tables for all workloads.

`template_defaults` is for a pod template, `pod_defaults` for a pod, which gets a little more (requests from limits,
service links).
"""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.builtin.shared.amounts import round_amounts
from pilothouse.kit.memo import remembered
from pilothouse.machinery.rules import computed, defaults

# [domain[:port]/]path[:tag][@digest]
_LABEL: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    rf"(?:{_LABEL}(?:\.{_LABEL})*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*(?::(\w[\w.-]{{0,127}}))?"
    r"(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)


def image_tag(image: str) -> str:
    """The tag of an image reference: `latest` without tag and digest, empty for a digest alone or no reference."""
    found = _IMAGE.fullmatch(image)
    if found is None:
        return ""
    return found[1] or ("" if found[2] else "latest")


@remembered(2048)
def _pull_policy(image: str) -> str:
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def _pull_policy_of(container: dict[str, Any], _: dict[str, Any]) -> str:
    return _pull_policy(container.get("image", ""))


def _grpc(handler: dict[str, Any]) -> None:
    """The service's name is always shown, if only as empty."""
    if handler.get("service") is None:
        handler["service"] = ""


_HTTP_GET: Final = defaults({"path": "/", "scheme": "HTTP"})
_PROBE: Final = defaults(
    {
        "httpGet": _HTTP_GET,
        "grpc": _grpc,
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
)
_FIELD_REF: Final = defaults({"fieldRef.apiVersion": "v1"})
_VALUE_FROM: Final = defaults({"fieldRef.apiVersion": "v1", "fileKeyRef.optional": False})

container_defaults: Final = defaults(
    {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": computed(_pull_policy_of),
        "ports[].protocol": "TCP",
        "env[].valueFrom": _VALUE_FROM,
        "resources.limits": round_amounts,
        "resources.requests": round_amounts,
        "livenessProbe": _PROBE,
        "readinessProbe": _PROBE,
        "startupProbe": _PROBE,
        "lifecycle.postStart.httpGet": _HTTP_GET,
        "lifecycle.preStop.httpGet": _HTTP_GET,
    }
)

claim_spec_defaults: Final = defaults(
    {
        "volumeMode": "Filesystem",
        "resources.limits": round_amounts,
        "resources.requests": round_amounts,
    }
)


def _image_pull_policy(image: dict[str, Any], _: dict[str, Any]) -> str | None:
    return _pull_policy(image.get("reference", ""))


_SCALE_IO: Final = {"storageMode": "ThinProvisioned", "fsType": "xfs"}
_RBD: Final = {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
_AZURE_DISK: Final = {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"}
_ISCSI: Final = {"iscsiInterface": "default"}

_VOLUME_TYPES: Final = {
    "secret": defaults({"defaultMode": 420}),
    "configMap": defaults({"defaultMode": 420}),
    "downwardAPI": defaults({"items[]": _FIELD_REF, "defaultMode": 420}),
    "projected": defaults(
        {
            "sources[].serviceAccountToken.expirationSeconds": 3600,
            "sources[].downwardAPI.items[]": _FIELD_REF,
            "defaultMode": 420,
        }
    ),
    "hostPath": defaults({"type": ""}),
    "iscsi": defaults(_ISCSI),
    "rbd": defaults(_RBD),
    "azureDisk": defaults(_AZURE_DISK),
    "scaleIO": defaults(_SCALE_IO),
    "ephemeral": defaults({"volumeClaimTemplate.spec": claim_spec_defaults}),
    "image": defaults({"pullPolicy": computed(_image_pull_policy)}),
}

# A persistent volume has the same sources under its spec.
volume_source_defaults: Final = {
    name: _VOLUME_TYPES[name] for name in ("hostPath", "iscsi", "rbd", "azureDisk", "scaleIO")
}


def volume_defaults(volume: dict[str, Any]) -> None:
    """A volume without a source becomes an empty directory."""
    if len(volume) < 2 and (not volume or "name" in volume):
        volume["emptyDir"] = {}
        return
    if _VOLUME_TYPES.keys().isdisjoint(volume):
        return
    for kind, inner in volume.items():
        if kind in _VOLUME_TYPES and inner is not None:
            _VOLUME_TYPES[kind](inner)


def _account(spec: dict[str, Any], _: dict[str, Any]) -> str | None:
    """The old name of the field and the new one are always the same."""
    return spec.get("serviceAccount") or None


def _old_account(spec: dict[str, Any]) -> None:
    name = spec.get("serviceAccountName")
    if name:
        spec["serviceAccount"] = name


def _host_ports(spec: dict[str, Any]) -> None:
    if spec.get("hostNetwork"):
        for kind in ("containers", "initContainers"):
            for container in spec.get(kind) or ():
                for port in container.get("ports") or ():
                    if "hostPort" not in port and "containerPort" in port:
                        port["hostPort"] = port["containerPort"]


spec_defaults: Final = defaults(
    {
        "volumes[]": volume_defaults,
        "initContainers[]": container_defaults,
        "containers[]": container_defaults,
        "ephemeralContainers[]": container_defaults,
        "resources.limits": round_amounts,
        "resources.requests": round_amounts,
        "overhead": round_amounts,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": computed(_account),
        "": _old_account,
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }
)


def template_defaults(template: dict[str, Any]) -> None:
    """Fill in a pod template, in place."""
    spec = template.get("spec")
    if spec is not None:
        spec_defaults(spec)


def _requests(container: dict[str, Any]) -> None:
    """What is limited but not requested is requested in full."""
    resources: dict[str, Any] = container.get("resources") or {}
    limits = resources.get("limits")
    if not limits:
        return
    requests = resources.get("requests")
    if requests is None:
        resources["requests"] = dict(limits)
        return
    for name, amount in limits.items():
        if name not in requests:
            requests[name] = amount


def _pod_addresses(status: dict[str, Any]) -> None:
    """`podIP` is the first of `podIPs`; where they differ, the one that older kubelets know is right."""
    every = status.get("podIPs")
    if not every or every[0].get("ip") != status["podIP"]:
        status["podIPs"] = [{"ip": status["podIP"]}]


def pod_defaults(pod: dict[str, Any]) -> None:
    """Fill in a pod, in place."""
    spec = pod.get("spec")
    if spec is None:
        return
    spec_defaults(spec)
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            _requests(container)
    status = pod.get("status")
    if status and "podIP" in status:
        _pod_addresses(status)
    if "enableServiceLinks" not in spec:
        spec["enableServiceLinks"] = True
    _host_ports(spec)
