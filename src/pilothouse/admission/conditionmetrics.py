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
_TIME: Final = (
    "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each "
    "kind containing matchConditions (webhook or policy), operation and type (validate or admit)."
)
_ERRORS: Final = (
    "[ALPHA] Admission match condition evaluation errors count, identified by name of resource containing the "
    "match condition and broken out for each kind containing matchConditions (webhook or policy), operation "
    "and admission type (validate or admit)."
)
_OUT: Final = (
    "[ALPHA] Admission match condition evaluation exclusions count, identified by name of resource containing "
    "the match condition and broken out for each kind containing matchConditions (webhook or policy), "
    "operation and admission type (validate or admit)."
)


class ConditionMetrics:
    """`kind`: WEBHOOK or POLICY; `phase`: ADMIT or VALIDATE."""

    def __init__(self, registry: Registry) -> None:
        add = registry.add
        self._seconds = add(Histogram(f"{_PREFIX}evaluation_seconds", _TIME, _LABELS, _BOUNDS))
        self._errors = add(Counter(f"{_PREFIX}evaluation_errors_total", _ERRORS, _LABELS))
        self._out = add(Counter(f"{_PREFIX}exclusions_total", _OUT, _LABELS))

    def evaluated(self, name: str, kind: str, phase: str, operation: str, seconds: float, held: bool | None) -> None:
        """`held` None: they could not be evaluated."""
        self._seconds.bind(name, kind, phase, operation).observe(seconds)
        if held is None:
            self._errors.bind(name, kind, phase, operation).add()
        elif not held:
            self._out.bind(name, kind, phase, operation).add()
