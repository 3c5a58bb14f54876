"""What operators see of match conditions: how long they take, what they keep out, what goes wrong. Names and labels are
the original's.
"""

from __future__ import annotations

from typing import Final

from pilothouse.kit.metrics import Counter, Histogram, Registry

WEBHOOK: Final = "webhook"
POLICY: Final = "policy"
ADMIT: Final = "admit"
VALIDATE: Final = "validate"
_PREFIX: Final = "apiserver_admission_match_condition_"
_BOUNDS: Final = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)
_LABELS: Final = ("name", "kind", "type", "operation")
_BY: Final = (
    "identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and "
    "admission type (validate or admit)."
)


class ConditionMetrics:
    """`kind`: WEBHOOK or POLICY; `phase`: ADMIT or VALIDATE."""

    def __init__(self, registry: Registry) -> None:
        add = registry.add
        seconds = f"Admission match condition evaluation time in seconds, {_BY}"
        self._seconds = add(Histogram(f"{_PREFIX}evaluation_seconds", seconds, _LABELS, _BOUNDS))
        errors = f"Admission match condition evaluation errors count, {_BY}"
        self._errors = add(Counter(f"{_PREFIX}evaluation_errors_total", errors, _LABELS))
        out = f"Admission match condition evaluation exclusions count, {_BY}"
        self._out = add(Counter(f"{_PREFIX}exclusions_total", out, _LABELS))

    def evaluated(self, name: str, kind: str, phase: str, operation: str, seconds: float, held: bool | None) -> None:
        """`held` None: they could not be evaluated."""
        self._seconds.bind(name, kind, phase, operation).observe(seconds)
        if held is None:
            self._errors.bind(name, kind, phase, operation).add()
        elif not held:
            self._out.bind(name, kind, phase, operation).add()
