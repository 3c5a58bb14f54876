"""What was decided about pods, and under which standard. Names and labels are the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.admission.podsecurity.policy import LATEST, Standard
from pilothouse.kit.metrics import Counter, Registry, Unheard, Value

ENFORCE: Final = "enforce"
WARN: Final = "warn"
_TEXT: Final = "[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests."
_LABELS: Final = (
    "decision", "policy_level", "policy_version", "mode", "request_operation", "resource", "subresource",
)  # fmt: skip
_NEWEST: Final = 37  # minor version of Kubernetes; what asks for a later one is of the future


class PodSecurityMetrics:
    def __init__(self, registry: Registry | None = None) -> None:
        self._counter = (registry or Unheard()).add(Counter("pod_security_evaluations_total", _TEXT, _LABELS))
        self._known: dict[tuple[bool, str, int, str, str, bool, str], Value] = {}

    def evaluated(
        self, standard: Standard, mode: str, operation: str, subresource: str, *, pod: bool, allowed: bool
    ) -> None:
        """`mode`: ENFORCE or WARN, of which refusals alone are told. `pod`: a pod itself, not the template of some."""
        key = allowed, standard.level, standard.minor, mode, operation, pod, subresource
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._counter.bind(
                "allow" if allowed else "deny",
                standard.level,
                _version(standard),
                mode,
                operation.lower(),
                "pod" if pod else "controller",
                subresource,
            )
        found.value += 1


def _version(standard: Standard) -> str:
    if standard.minor == LATEST:
        return "latest"
    return "future" if standard.minor > _NEWEST else f"v1.{standard.minor}"
