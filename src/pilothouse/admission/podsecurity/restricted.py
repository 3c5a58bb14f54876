"""The checks of the restricted level: what a hardened pod must say (Kubernetes documentation, "Pod Security
Standards").
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.admission.podsecurity.pod import (
    Check,
    Part,
    Pod,
    Violation,
    containers,
    plural,
    quoted,
    security_of,
    setters,
)

_VOLUMES: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
_PROFILES: Final = ("RuntimeDefault", "Localhost")


def but_windows(check: Check) -> Check:
    """The check for pods that do not say that they are for Windows."""
    return lambda pod: None if pod.windows else check(pod)


def privilege_escalation(pod: Pod) -> Violation | None:
    names = pod.named(lambda security: security.get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    detail = f"{containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def capabilities(pod: Pod) -> Violation | None:
    undropped: list[str] = []
    adding: list[str] = []
    added: set[str] = set()
    for one in pod.containers:
        own = security_of(one).get("capabilities") or {}
        if "ALL" not in (own.get("drop") or ()):
            undropped.append(one.get("name", ""))
        bad = [name for name in own.get("add") or () if name != "NET_BIND_SERVICE"]
        if bad:
            adding.append(one.get("name", ""))
            added.update(bad)
    details = []
    if undropped:
        details.append(f'{containers(undropped)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        details.append(
            f"{containers(adding)} must not include {quoted(sorted(added))} in securityContext.capabilities.add"
        )
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def volumes(pod: Pod) -> Violation | None:
    bad: list[str] = []
    types: set[str] = set()
    for volume in pod.spec.get("volumes") or ():
        sources = [name for name, value in volume.items() if name != "name" and value is not None]
        if not any(source in _VOLUMES for source in sources):
            bad.append(volume.get("name", ""))
            types.update(sources[:1] or ["unknown"])
    if not bad:
        return None
    use = "uses" if len(bad) == 1 else "use"
    kinds = f"restricted volume {plural('type', len(types))} {quoted(sorted(types))}"
    return Violation("restricted volume types", f"{plural('volume', len(bad))} {quoted(bad)} {use} {kinds}")


def run_as_non_root(pod: Pod) -> Violation | None:
    whole = pod.security.get("runAsNonRoot")
    wrong = setters(whole is False, pod.named(lambda security: security.get("runAsNonRoot") is False))
    if wrong:
        return Violation("runAsNonRoot != true", f"{wrong} must not set securityContext.runAsNonRoot=false")
    silent = [] if whole else pod.named(lambda security: security.get("runAsNonRoot") is None)
    if silent:
        detail = f"pod or {containers(silent)} must set securityContext.runAsNonRoot=true"
        return Violation("runAsNonRoot != true", detail)
    return None


def run_as_user(pod: Pod) -> Violation | None:
    def bad(security: Part) -> bool:
        return security.get("runAsUser") == 0

    who = setters(bad(pod.security), pod.named(bad))
    return Violation("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def _profile(security: Part) -> Any:
    return (security.get("seccompProfile") or {}).get("type")


def seccomp(pod: Pod) -> Violation | None:
    def bad(security: Part) -> bool:
        return _profile(security) not in (None, *_PROFILES)

    who = setters(bad(pod.security), pod.named(bad))
    if who:
        every = [_profile(pod.security), *(_profile(security_of(one)) for one in pod.containers)]
        found = sorted({kind for kind in every if kind not in (None, *_PROFILES)})
        return Violation("seccompProfile", f"{who} must not set securityContext.seccompProfile.type to {quoted(found)}")
    silent = [] if _profile(pod.security) else pod.named(lambda security: _profile(security) is None)
    if not silent:
        return None
    detail = (
        f'pod or {containers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    )
    return Violation("seccompProfile", detail)
