"""Which checks make up each level in each version, as one table, and what a pod violates."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pilothouse.admission.podsecurity import baseline, restricted
from pilothouse.admission.podsecurity.pod import Check, Pod, Violation, but_own_users
from pilothouse.admission.podsecurity.policy import Standard
from pilothouse.admission.podsecurity.restricted import but_windows

# The check's word, and its forms with the first minor version of Kubernetes in which each holds; newest first.
Forms = tuple[tuple[int, Check], ...]
_BASELINE: Final[tuple[tuple[str, Forms], ...]] = (
    ("appArmorProfile", ((0, baseline.app_armor),)),
    ("capabilities", ((0, baseline.capabilities),)),
    ("hostNamespaces", ((0, baseline.host_namespaces),)),
    ("hostPathVolumes", ((0, baseline.host_path_volumes),)),
    ("hostPorts", ((0, baseline.host_ports),)),
    ("hostProbesAndHostLifecycle", ((34, baseline.probe_hosts),)),
    ("privileged", ((0, baseline.privileged),)),
    ("procMount", ((35, but_own_users(baseline.proc_mount)), (0, baseline.proc_mount))),
    ("seLinuxOptions", ((31, baseline.selinux_with_engines), (0, baseline.selinux))),
    ("seccompProfile", ((19, baseline.seccomp), (0, baseline.seccomp_by_annotation))),
    (
        "sysctls",
        (
            (37, baseline.sysctls_37),
            (32, baseline.sysctls_32),
            (29, baseline.sysctls_29),
            (27, baseline.sysctls_27),
            (0, baseline.sysctls),
        ),
    ),
    ("windowsHostProcess", ((0, baseline.windows_host_process),)),
)
_RESTRICTED: Final[tuple[tuple[str, Forms], ...]] = (
    (
        "allowPrivilegeEscalation",
        ((25, but_windows(restricted.privilege_escalation)), (8, restricted.privilege_escalation)),
    ),
    ("capabilities", ((25, but_windows(restricted.capabilities)), (22, restricted.capabilities))),
    ("procMountOfAll", ((35, baseline.proc_mount),)),  # told beside that of the baseline, not in its place
    ("restrictedVolumes", ((0, restricted.volumes),)),
    ("runAsNonRoot", ((0, but_own_users(restricted.run_as_non_root)),)),
    ("runAsUser", ((23, but_own_users(restricted.run_as_user)),)),
    ("seccompProfile", ((25, but_windows(restricted.seccomp)), (19, restricted.seccomp))),
)
# What a check of the restricted level says better than one of the baseline.
_REPLACES: Final = {
    "capabilities": "capabilities",
    "restrictedVolumes": "hostPathVolumes",
    "seccompProfile": "seccompProfile",
}


@lru_cache(maxsize=256)
def checks(standard: Standard) -> tuple[Check, ...]:
    """The checks of a standard, in the order in which their violations are told."""
    if not standard.demands:
        return ()
    found = _in_force(_BASELINE, standard.minor)
    strict = _in_force(_RESTRICTED, standard.minor) if standard.level == "restricted" else {}
    for name in strict:
        found.pop(_REPLACES.get(name, ""), None)
    return (*found.values(), *strict.values())


def _in_force(table: tuple[tuple[str, Forms], ...], minor: int) -> dict[str, Check]:
    found: dict[str, Check] = {}
    for name, forms in table:
        for since, check in forms:
            if since <= minor:
                found[name] = check
                break
    return found


def violations(standard: Standard, pod: Pod) -> list[Violation]:
    found = (check(pod) for check in checks(standard))
    return [one for one in found if one is not None]
