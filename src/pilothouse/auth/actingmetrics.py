"""How it goes when somebody wants to act as another: in which mode, if allowed, how long. Names are the original's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from pilothouse.auth.metrics import SECONDS, FilterTimes
from pilothouse.kit.metrics import Counter, Histogram, Registry, Unheard

_PREFIX: Final = "apiserver_impersonation_"
_LABELS: Final = ("mode", "decision")
_ATTEMPTS: Final = "[ALPHA] Total number of impersonation attempts split by mode and decision."
_TOOK: Final = "[ALPHA] Latency of impersonation attempts in seconds split by mode and decision."
_CHECKS: Final = (
    "[ALPHA] Total number of authorization checks made by the impersonation handler split by mode and decision."
)
_CHECKING: Final = (
    "[ALPHA] Latency of authorization checks made by the impersonation handler in seconds split by mode and decision."
)


class ImpersonationMetrics:
    """`clock`: seconds, monotonic. `mode`: legacy is the verb impersonate; "" where none allowed it."""

    def __init__(
        self,
        registry: Registry | None = None,
        clock: Callable[[], float] = perf_counter,
        filters: FilterTimes | None = None,
    ) -> None:
        registry = registry or Unheard()
        self.clock = clock
        self._attempts = registry.add(Counter(f"{_PREFIX}attempts_total", _ATTEMPTS, _LABELS))
        filters = filters or FilterTimes(registry)
        self._took = filters.add(f"{_PREFIX}attempts_duration_seconds", _TOOK, _LABELS, "impersonation")
        self._checks = registry.add(Counter(f"{_PREFIX}authorization_attempts_total", _CHECKS, _LABELS))
        self._checking = registry.add(
            Histogram(f"{_PREFIX}authorization_attempts_duration_seconds", _CHECKING, _LABELS, SECONDS)
        )

    def attempted(self, mode: str, allowed: bool, started: float) -> None:
        """A request as somebody else was allowed or not. `started` by the clock."""
        labels = mode, "allowed" if allowed else "denied"
        self._attempts.bind(*labels).value += 1
        self._took.bind(*labels).observe(self.clock() - started)

    def checked(self, mode: str, allowed: bool, started: float) -> None:
        """The authorizer was asked one question. `started` by the clock."""
        labels = mode, "allowed" if allowed else "denied"
        self._checks.bind(*labels).value += 1
        self._checking.bind(*labels).observe(self.clock() - started)
