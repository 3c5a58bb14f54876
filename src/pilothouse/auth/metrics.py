"""How authentication and authorization go: how many, how they end, how long they take. Names are the original's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.kit.metrics import Buckets, Counter, Histogram, Registry, Value
from pilothouse.registry.request import Caller

_SECONDS: Final = tuple(0.001 * 2**power for power in range(15))
_KNOWN: Final = frozenset({"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})


class AuthenticationMetrics:
    """`clock`: seconds, monotonic."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        self.clock = clock
        attempts = registry.add(
            Counter("authentication_attempts", "[ALPHA] Counter of authenticated attempts.", ("result",))
        )
        durations = registry.add(
            Histogram(
                "authentication_duration_seconds",
                "[ALPHA] Authentication duration in seconds broken out by result.",
                ("result",),
                _SECONDS,
            )
        )
        self._users = registry.add(
            Counter(
                "authenticated_user_requests",
                "[ALPHA] Counter of authenticated requests broken out by username.",
                ("username",),
            )
        )
        self._good = attempts.bind("success"), durations.bind("success")
        self._bad = attempts.bind("failure"), durations.bind("failure")

    def count(self, caller: Caller | None, started: float) -> None:
        """One attempt; None: it was refused. `started` by the clock."""
        attempts, durations = self._bad if caller is None else self._good
        attempts.value += 1
        durations.observe(self.clock() - started)
        if caller is not None:
            self._users.bind(_shortened(caller.name)).value += 1


def _shortened(name: str) -> str:
    """Few enough names for a label."""
    if name in _KNOWN:
        return name
    return "email_id" if "@" in name else "other"


class AuthorizationMetrics:
    """`clock`: seconds, monotonic."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        self.clock = clock
        attempts = registry.add(
            Counter(
                "authorization_attempts_total",
                (
                    "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', "
                    "'denied', 'no-opinion' or 'error'."
                ),
                ("result",),
            )
        )
        durations = registry.add(
            Histogram(
                "authorization_duration_seconds",
                "[ALPHA] Authorization duration in seconds broken out by result.",
                ("result",),
                _SECONDS,
            )
        )
        self._results: dict[bool, tuple[Value, Buckets]] = {
            allowed: (attempts.bind(name), durations.bind(name))
            for allowed, name in ((True, "allowed"), (False, "denied"))
        }

    def count(self, allowed: bool, started: float) -> None:
        """One decision. `started` by the clock."""
        attempts, durations = self._results[allowed]
        attempts.value += 1
        durations.observe(self.clock() - started)
