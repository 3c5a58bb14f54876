"""The checks of the baseline level: known ways out of a container (Kubernetes documentation, "Pod Security
Standards").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.admission.podsecurity.pod import (
    Part,
    Pod,
    Violation,
    containers,
    plural,
    quoted,
    security_of,
    setters,
)

_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS: Final = ("httpGet", "tcpSocket")
_SELINUX: Final = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
_SELINUX_ENGINE: Final = _SELINUX | {"container_engine_t"}
_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_syncookies",
    }
)
_SYSCTLS_27: Final = _SYSCTLS | {"net.ipv4.ip_local_reserved_ports"}
_SYSCTLS_29: Final = _SYSCTLS_27 | {
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
}
_SYSCTLS_32: Final = _SYSCTLS_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
_SYSCTLS_37: Final = _SYSCTLS_32 | {"net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_slow_start_after_idle"}


def app_armor(pod: Pod) -> Violation | None:
    """Profiles other than those of the runtime or of the node."""

    def forbidden(security: Part) -> str | None:
        kind = (security.get("appArmorProfile") or {}).get("type")
        return kind if kind not in (None, "RuntimeDefault", "Localhost") else None

    names = pod.named(lambda security: forbidden(security) is not None)
    kinds = {forbidden(security_of(one)) for one in pod.containers} | {forbidden(pod.security)}
    found = sorted(kind for kind in kinds if kind is not None)
    details = []
    if found:
        who = setters(forbidden(pod.security) is not None, names)
        details.append(f"{who} must not set AppArmor profile type to {quoted(found)}")
    bad = sorted(key for key, value in pod.annotations.items() if key.startswith(_ARMOR) and not _armored(value))
    if bad:
        shown = ", ".join(f"{key}={quoted([pod.annotations[key]])}" for key in bad)
        details.append(f"{plural('annotation', len(bad))} {shown}")
    if not details:
        return None
    return Violation(plural("forbidden AppArmor profile", len(found) + len(bad)), "; ".join(details))


def _armored(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def capabilities(pod: Pod) -> Violation | None:
    added = {one.get("name", ""): sorted(set(_added(one)) - _CAPABILITIES) for one in pod.containers}
    names = [name for name, bad in added.items() if bad]
    if not names:
        return None
    found = sorted({one for bad in added.values() for one in bad})
    detail = f"{containers(names)} must not include {quoted(found)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", detail)


def _added(container: Part) -> list[str]:
    return (security_of(container).get("capabilities") or {}).get("add") or []


def host_namespaces(pod: Pod) -> Violation | None:
    shared = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(name)]
    return Violation("host namespaces", ", ".join(shared)) if shared else None


def host_path_volumes(pod: Pod) -> Violation | None:
    names = [one.get("name", "") for one in pod.spec.get("volumes") or () if one.get("hostPath") is not None]
    return Violation("hostPath volumes", f"{plural('volume', len(names))} {quoted(names)}") if names else None


def host_ports(pod: Pod) -> Violation | None:
    used = {
        one.get("name", ""): {port["hostPort"] for port in one.get("ports") or () if port.get("hostPort")}
        for one in pod.containers
    }
    names = [name for name, ports in used.items() if ports]
    if not names:
        return None
    found = sorted({str(port) for ports in used.values() for port in ports})
    detail = f"{containers(names)} {_uses(names)} {plural('hostPort', len(found))} {', '.join(found)}"
    return Violation("hostPort", detail)


def _uses(names: list[str]) -> str:
    return "uses" if len(names) == 1 else "use"


def probe_hosts(pod: Pod) -> Violation | None:
    """Probes and hooks that go elsewhere than to the pod."""
    asked = {one.get("name", ""): set(_hosts(one)) for one in pod.containers}
    names = [name for name, hosts in asked.items() if hosts]
    if not names:
        return None
    found = sorted({host for hosts in asked.values() for host in hosts})
    detail = f"{containers(names)} {_uses(names)} probe or lifecycle {plural('host', len(found))} {quoted(found)}"
    return Violation("probe or lifecycle host", detail)


def _hosts(container: Part) -> Iterator[str]:
    lifecycle = container.get("lifecycle") or {}
    handlers = [container.get(name) for name in _PROBES] + [lifecycle.get(name) for name in ("postStart", "preStop")]
    for handler in handlers:
        for kind in _HANDLERS:
            host = ((handler or {}).get(kind) or {}).get("host", "")
            if host:
                yield host


def privileged(pod: Pod) -> Violation | None:
    names = pod.named(lambda security: bool(security.get("privileged")))
    return (
        Violation("privileged", f"{containers(names)} must not set securityContext.privileged=true") if names else None
    )


def proc_mount(pod: Pod) -> Violation | None:
    names = pod.named(lambda security: security.get("procMount") not in (None, "Default"))
    if not names:
        return None
    found = sorted({security_of(one)["procMount"] for one in pod.containers if one.get("name", "") in names})
    return Violation("procMount", f"{containers(names)} must not set securityContext.procMount to {quoted(found)}")


def _selinux(pod: Pod, allowed: frozenset[str]) -> Violation | None:
    types: set[str] = set()
    members: set[str] = set()

    def bad(security: Part) -> bool:
        options = security.get("seLinuxOptions") or {}
        wrong = [name for name in ("user", "role") if options.get(name)]
        members.update(wrong)
        if options.get("type", "") in allowed:
            return bool(wrong)
        types.add(options["type"])
        return True

    who = setters(bad(pod.security), pod.named(bad))
    if not who:
        return None
    told = [f"{plural('type', len(types))} {quoted(sorted(types))}"] if types else []
    told += [f"{name} may not be set" for name in ("user", "role") if name in members]
    return Violation("seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(told)}")


def selinux(pod: Pod) -> Violation | None:
    return _selinux(pod, _SELINUX)


def selinux_with_engines(pod: Pod) -> Violation | None:
    return _selinux(pod, _SELINUX_ENGINE)


def seccomp(pod: Pod) -> Violation | None:
    def bad(security: Part) -> bool:
        return _profile(security) not in (None, "RuntimeDefault", "Localhost")

    names = pod.named(bad)
    who = setters(bad(pod.security), names)
    if not who:
        return None
    every: list[Any] = [_profile(pod.security), *(_profile(security_of(one)) for one in pod.containers)]
    found = sorted({kind for kind in every if kind not in (None, "RuntimeDefault", "Localhost")})
    return Violation("seccompProfile", f"{who} must not set securityContext.seccompProfile.type to {quoted(found)}")


def _profile(security: Part) -> Any:
    return (security.get("seccompProfile") or {}).get("type")


def seccomp_by_annotation(pod: Pod) -> Violation | None:
    """As it was before there was a field."""
    allowed = ("runtime/default", "docker/default")
    found = [
        f"{key}={quoted([value])}"
        for key, value in sorted(pod.annotations.items())
        if (key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER))
        and value not in allowed
        and not value.startswith("localhost/")
    ]
    return (
        Violation("seccompProfile", f"forbidden {plural('annotation', len(found))} {', '.join(found)}")
        if found
        else None
    )


def _sysctls(pod: Pod, allowed: frozenset[str]) -> Violation | None:
    used = [one.get("name", "") for one in pod.security.get("sysctls") or ()]
    found = [name for name in used if name not in allowed]
    return Violation("forbidden sysctls", ", ".join(found)) if found else None


def sysctls(pod: Pod) -> Violation | None:
    return _sysctls(pod, _SYSCTLS)


def sysctls_27(pod: Pod) -> Violation | None:
    return _sysctls(pod, _SYSCTLS_27)


def sysctls_29(pod: Pod) -> Violation | None:
    return _sysctls(pod, _SYSCTLS_29)


def sysctls_32(pod: Pod) -> Violation | None:
    return _sysctls(pod, _SYSCTLS_32)


def sysctls_37(pod: Pod) -> Violation | None:
    return _sysctls(pod, _SYSCTLS_37)


def windows_host_process(pod: Pod) -> Violation | None:
    def bad(security: Part) -> bool:
        return bool((security.get("windowsOptions") or {}).get("hostProcess"))

    who = setters(bad(pod.security), pod.named(bad))
    return (
        Violation("hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true") if who else None
    )
