"""What a pod may not say when it is made for Windows or for Linux."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery.rules import Field

_SYSTEMS: Final = ("linux", "windows")
_ON_WINDOWS: Final = "cannot be set for a windows pod"
_ON_LINUX: Final = "windows options cannot be set for a linux pod"
_POD_FIELDS: Final = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser",
    "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
_HOST_FIELDS: Final = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_CONTAINER_FIELDS: Final = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip
_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")

Object = Mapping[str, Any]


def _contexts(spec: Object) -> list[tuple[str, Object]]:
    """(path, security context) of every container that has one."""
    return [
        (f"{kind}[{index}].securityContext", container["securityContext"])
        for kind in _KINDS
        for index, container in enumerate(spec.get(kind) or ())
        if container.get("securityContext") is not None
    ]


def operating_system(spec: Object, field: Field) -> None:
    """`os` and what it forbids, told from the spec."""
    if spec.get("os") is None:
        return
    name = spec["os"].get("name", "")
    if not name:
        field.required("os.name", "cannot be empty")
    elif name not in _SYSTEMS:
        field.not_supported("os", name, _SYSTEMS)
    elif name == "linux":
        if (spec.get("securityContext") or {}).get("windowsOptions") is not None:
            field.forbidden("securityContext.windowsOptions", _ON_LINUX)
        for path, context in _contexts(spec):
            if context.get("windowsOptions") is not None:
                field.forbidden(f"{path}.windowsOptions", _ON_LINUX)
    else:
        _windows(spec, field)


def _windows(spec: Object, field: Field) -> None:
    context = spec.get("securityContext") or {}
    for name in _POD_FIELDS:
        if context.get(name) not in (None, []):
            field.forbidden(f"securityContext.{name}", _ON_WINDOWS)
    for name in _HOST_FIELDS:
        if spec.get(name) not in (None, False) or (name in ("hostUsers", "shareProcessNamespace") and name in spec):
            field.forbidden(name, _ON_WINDOWS)
    for path, own in _contexts(spec):
        for name in _CONTAINER_FIELDS:
            if own.get(name) is not None:
                field.forbidden(f"{path}.{name}", _ON_WINDOWS)


def _host_process(context: Object | None) -> bool | None:
    return ((context or {}).get("windowsOptions") or {}).get("hostProcess")


def windows_host_process(spec: Object, field: Field) -> None:
    """Host processes are for all containers of a pod or for none, and need the host's network."""
    contexts = _contexts(spec)
    whole = _host_process(spec.get("securityContext"))
    if whole is None and not any(_host_process(context) is not None for _, context in contexts):
        return
    wanted = others = 0
    for kind in _KINDS:
        for index, container in field.numbered(spec.get(kind) or ()):
            own = _host_process(container.get("securityContext"))
            if whole is not None and own is not None and whole != own:
                path = f"{kind}[{index}].securityContext.windowsOptions.hostProcess"
                text = str(whole).lower()
                field.invalid(path, own, f"pod hostProcess value must be identical if both are specified, was {text}")
            if own if own is not None else whole:
                wanted += 1
            else:
                others += 1
    if wanted and others:
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        field.invalid("", "", why)
    if wanted and not spec.get("hostNetwork"):
        field.invalid("hostNetwork", False, "hostNetwork must be true if pod contains any hostProcess containers")
    if wanted and not getattr(field.context, "allow_privileged", True):
        field.forbidden("", "hostProcess containers are disallowed by cluster policy")
