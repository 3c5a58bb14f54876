"""Security contexts of pods and containers: profiles, ids, Windows options, sysctls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.paths import descending
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

MAX_ID: Final = 2**31 - 1
_ID_TEXT: Final = f"must be between 0 and {MAX_ID}, inclusive"
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS: Final = ("Default", "Unmasked")
_SYSCTL: Final = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?", re.ASCII)
_SYSCTL_TEXT: Final = (
    r"must have at most 253 characters and match regex "
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
)
_MAX_SPEC: Final = 64 * 1024
_MAX_USER: Final = 104
_NETBIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DOMAIN_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN: Final = re.compile(rf"{_DOMAIN_LABEL}(?:\.{_DOMAIN_LABEL})*")
_USER_SIGNS: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_MAX_DOMAIN: Final = 256
_IPC_SYSCTLS: Final = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")

Object = Mapping[str, Any]


def _id(name: str, value: int | None, field: Field) -> None:
    if value is not None and not 0 <= value <= MAX_ID:
        field.invalid(name, value, _ID_TEXT)


def seccomp_profile(value: Object, field: Field) -> None:
    kind, file = value.get("type", ""), value.get("localhostProfile")
    if kind == "":
        field.required("type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        field.not_supported("type", kind, _PROFILES)
    if kind == "Localhost":
        if file is None:
            field.required("localhostProfile", "must be set when seccomp type is Localhost")
        else:
            descending(file, field, "localhostProfile")
    elif file is not None:
        shown = {"Type": kind, "LocalhostProfile": file}
        field.invalid("localhostProfile", shown, "can only be set when seccomp type is Localhost")


def app_armor_profile(value: Object, field: Field) -> None:
    kind, file = value.get("type", ""), value.get("localhostProfile")
    if kind == "Localhost":
        if not file:
            field.required("localhostProfile", "must be set when AppArmor type is Localhost")
        elif file != file.strip():
            field.invalid("localhostProfile", file, "must not be padded with whitespace")
        if file is not None and len(file.encode()) > 4095:
            field.too_long("localhostProfile", 4095)
    elif kind in _PROFILES:
        if file is not None:
            field.invalid("localhostProfile", file, "can only be set when AppArmor type is Localhost")
    elif kind == "":
        field.required("type", "type is required when appArmorProfile is set")
    else:
        field.not_supported("type", kind, _PROFILES)


def _user_name(name: str) -> list[str]:
    """Why a Windows user name is refused."""
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, slash, user = name.rpartition("\\")
    whys = []
    if len(domain.encode()) >= _MAX_DOMAIN:
        whys.append(f"runAsUserName's Domain length must be under {_MAX_DOMAIN} characters")
    if slash and not _NETBIOS.fullmatch(domain) and not _DOMAIN.fullmatch(domain):
        whys.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        whys.append("runAsUserName's User cannot be empty")
    elif len(user.encode()) > _MAX_USER:
        whys.append(f"runAsUserName's User length must not be longer than {_MAX_USER} characters")
    if user and not user.strip(". "):
        whys.append("runAsUserName's User cannot contain only periods or spaces")
    if _USER_SIGNS.search(user):
        whys.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return whys


def windows_options(value: Object, field: Field) -> None:
    name = value.get("gmsaCredentialSpecName")
    if name is not None:
        field.all_invalid("gmsaCredentialSpecName", name, words.subdomain(name))
    spec = value.get("gmsaCredentialSpec")
    if spec is not None:
        if not spec:
            field.invalid("gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
        elif len(spec.encode()) > _MAX_SPEC:
            why = f"gmsaCredentialSpec size must be under {_MAX_SPEC // 1024} KiB"
            field.invalid("gmsaCredentialSpec", spec, why)
    user = value.get("runAsUserName")
    if user is not None:
        field.all_invalid("runAsUserName", user, _user_name(user))


def _escalation(value: Object, field: Field) -> None:
    if value.get("allowPrivilegeEscalation") is not False:
        return
    if value.get("privileged"):
        why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        field.invalid("", internal("SecurityContext", value), why)
    for one in (value.get("capabilities") or {}).get("add") or ():
        if one == "CAP_SYS_ADMIN":
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            field.invalid("", internal("SecurityContext", value), why)


def container_security(value: Object, field: Field, host_users: bool) -> None:
    """A container's security context. `host_users`: the pod shares the node's user namespace."""
    if value.get("privileged") and not getattr(field.context, "allow_privileged", True):
        field.forbidden("privileged", "disallowed by cluster policy")
    _id("runAsUser", value.get("runAsUser"), field)
    _id("runAsGroup", value.get("runAsGroup"), field)
    mount = value.get("procMount")
    if mount is not None:
        if mount not in _PROC_MOUNTS:
            field.not_supported("procMount", mount, _PROC_MOUNTS)
        if host_users and mount == "Unmasked":
            field.invalid("procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    if value.get("seccompProfile") is not None:
        field.within("seccompProfile", seccomp_profile, value["seccompProfile"])
    _escalation(value, field)
    if value.get("windowsOptions") is not None:
        field.within("windowsOptions", windows_options, value["windowsOptions"])
    if value.get("appArmorProfile") is not None:
        field.within("appArmorProfile", app_armor_profile, value["appArmorProfile"])


def _sysctls(items: list[Object], field: Field, spec: Object) -> None:
    seen: set[str] = set()
    names = [item.get("name", "") for item in items]
    hosts = spec.get("hostNetwork") or spec.get("hostIPC")
    judged_alone = not hosts and len(set(names)) == len(names)
    for index, name in field.doubtful(names, words.are_subdomains) if judged_alone else field.numbered(names):
        path = f"sysctls[{index}].name"
        if not name:
            field.required(path)
        elif len(name) > 253 or not _SYSCTL.fullmatch(name):
            field.invalid(path, name, _SYSCTL_TEXT)
        elif name in seen:
            field.duplicate(path, name)
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            field.invalid(path, name, "may not be specified when 'hostNetwork' is true")
        if spec.get("hostIPC") and dotted.startswith(_IPC_SYSCTLS):
            field.invalid(path, name, "may not be specified when 'hostIPC' is true")
        seen.add(name)


def _closed(name: str, value: Object, supported: tuple[str, ...], field: Field) -> None:
    if value.get(name) is not None and value[name] not in supported:
        field.not_supported(name, value[name], supported)


def pod_security(value: Object, field: Field, spec: Object) -> None:
    """The security context of a whole pod, told from `securityContext`."""
    _id("fsGroup", value.get("fsGroup"), field)
    _id("runAsUser", value.get("runAsUser"), field)
    _id("runAsGroup", value.get("runAsGroup"), field)
    groups = value.get("supplementalGroups")
    if groups and not 0 <= min(groups) <= max(groups) <= MAX_ID:
        for index, group in field.numbered(groups):
            _id(f"supplementalGroups[{index}]", group, field)
    if value.get("sysctls"):
        _sysctls(value["sysctls"], field, spec)
    _closed("fsGroupChangePolicy", value, ("Always", "OnRootMismatch"), field)
    if value.get("seccompProfile") is not None:
        field.within("seccompProfile", seccomp_profile, value["seccompProfile"])
    if value.get("windowsOptions") is not None:
        field.within("windowsOptions", windows_options, value["windowsOptions"])
    if value.get("appArmorProfile") is not None:
        field.within("appArmorProfile", app_armor_profile, value["appArmorProfile"])
    _closed("supplementalGroupsPolicy", value, ("Merge", "Strict"), field)
    _closed("seLinuxChangePolicy", value, ("MountOption", "Recursive"), field)
