"""What operators see of policies: what was refused, warned of or passed over. Names and labels are the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.metrics import Counter, Histogram, Registry

ALLOW: Final = "allow"
NO_ERROR: Final = "no_error"
INVALID: Final = "invalid_error"
_BOUNDS: Final = (0.0000005, 0.001, 0.01, 0.1, 1.0)
_VALIDATING: Final = "apiserver_validating_admission_policy_check"
_MUTATING: Final = "apiserver_mutating_admission_policy_check"
_JUDGED: Final = (
    "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and "
    "enforcement action taken."
)
_JUDGING: Final = (
    "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy "
    "and further including binding and enforcement action taken."
)
_CHANGED: Final = "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding."
_CHANGING: Final = (
    "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding."
)


class PolicyMetrics:
    """`policy` and `binding` are names; `error` is NO_ERROR or INVALID; `action` is ALLOW, deny, audit or warn.

    What simply holds is not counted.
    """

    def __init__(self, registry: Registry) -> None:
        add, labels = registry.add, ("policy", "policy_binding", "error_type")
        judged = (*labels, "enforcement_action")
        self._judged = add(Counter(f"{_VALIDATING}_total", _JUDGED, judged))
        self._judging = add(Histogram(f"{_VALIDATING}_duration_seconds", _JUDGING, judged, _BOUNDS))
        self._changed = add(Counter(f"{_MUTATING}_total", _CHANGED, labels))
        self._changing = add(Histogram(f"{_MUTATING}_duration_seconds", _CHANGING, labels, _BOUNDS))

    def judged(self, policy: str, binding: str, error: str, action: str, seconds: float) -> None:
        self._judged.bind(policy, binding, error, action).add()
        self._judging.bind(policy, binding, error, action).observe(seconds)

    def changed(self, policy: str, binding: str, error: str, seconds: float) -> None:
        self._changed.bind(policy, binding, error).add()
        self._changing.bind(policy, binding, error).observe(seconds)
