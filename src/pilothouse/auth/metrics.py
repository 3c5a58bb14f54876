"""How authentication and authorization go: how many, how they end, how long they take. Names are the original's.

Each is measured once and shown twice, as they are filters as well: in finer buckets than either metric has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pilothouse.auth.attributes import Decision
from pilothouse.kit.metrics import Counter, Distribution, Histogram, Registry, Value, seen_by
from pilothouse.registry.request import Caller

SECONDS: Final = tuple(0.001 * 2**power for power in range(15))
FILTER_SECONDS: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0)
_FINE: Final = tuple(sorted({*SECONDS, *FILTER_SECONDS}))
_KNOWN: Final = frozenset({"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})
_ALLOW, _DENY = Decision.ALLOW, Decision.DENY  # to look one up in its class takes longer than all that is counted
_FILTERS: Final = "[ALPHA] Request filter latency distribution in seconds, for each filter type"
_ATTEMPTS: Final = "[ALPHA] Counter of authenticated attempts."
_AUTHENTICATION: Final = "[ALPHA] Authentication duration in seconds broken out by result."
_USERS: Final = "[ALPHA] Counter of authenticated requests broken out by username."
_DECISIONS: Final = (
    "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', "
    "'no-opinion' or 'error'."
)
_AUTHORIZATION: Final = "[ALPHA] Authorization duration in seconds broken out by result."
_TERMINAL: Final = (
    "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision."
)


class FilterTimes:
    """How long the filters took that are measured anyway."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._shown: dict[str, Histogram] = {}
        name = "apiserver_request_filter_duration_seconds"
        registry.add(Histogram(name, _FILTERS, ("filter",), FILTER_SECONDS, self._read))

    def add(self, name: str, text: str, labels: tuple[str, ...], of: str) -> Histogram:
        """A metric of the filter `of`, in the buckets of SECONDS; what is to be observed with."""
        fine = self._shown[of] = self._registry.beside(Histogram(name, text, labels, _FINE))
        self._registry.add(Histogram(name, text, labels, SECONDS, lambda: seen_by(SECONDS, fine), of=[fine]))
        return fine

    def _read(self) -> Iterator[Distribution]:
        for name, fine in self._shown.items():
            counts, seconds = [0] * (len(FILTER_SECONDS) + 1), 0.0
            for _, one, total in seen_by(FILTER_SECONDS, fine):
                counts = [left + right for left, right in zip(counts, one, strict=True)]
                seconds += total
            if any(counts):
                yield (name,), counts, seconds


class AuthenticationMetrics:
    """`clock`: seconds, monotonic."""

    def __init__(self, registry: Registry, clock: Callable[[], float], filters: FilterTimes | None = None) -> None:
        self.clock = clock
        attempts = registry.add(Counter("authentication_attempts", _ATTEMPTS, ("result",)))
        filters = filters or FilterTimes(registry)
        took = filters.add("authentication_duration_seconds", _AUTHENTICATION, ("result",), "authentication")
        self._users = registry.add(Counter("authenticated_user_requests", _USERS, ("username",)))
        self._good = attempts.bind("success"), took.bind("success").observe
        self._bad = attempts.bind("failure"), took.bind("failure").observe

    def count(self, caller: Caller | None, started: float) -> None:
        """One attempt; None: it was refused. `started` by the clock."""
        attempts, took = self._bad if caller is None else self._good
        attempts.value += 1
        took(self.clock() - started)
        if caller is not None:
            self._users.bind(_shortened(caller.name)).value += 1


def _shortened(name: str) -> str:
    """Few enough names for a label."""
    if name in _KNOWN:
        return name
    return "email_id" if "@" in name else "other"


class AuthorizationMetrics:
    """`clock`: seconds, monotonic."""

    def __init__(self, registry: Registry, clock: Callable[[], float], filters: FilterTimes | None = None) -> None:
        self.clock = clock
        attempts = registry.add(Counter("authorization_attempts_total", _DECISIONS, ("result",)))
        filters = filters or FilterTimes(registry)
        took = filters.add("authorization_duration_seconds", _AUTHORIZATION, ("result",), "authorization")
        self._allowed, self._denied, self._silent = (
            (attempts.bind(result), took.bind(result).observe) for result in ("allowed", "denied", "no-opinion")
        )

    def count(self, decision: Decision, started: float) -> None:
        """One decision. `started` by the clock."""
        if decision is _ALLOW:
            attempts, took = self._allowed
        else:
            attempts, took = self._denied if decision is _DENY else self._silent
        attempts.value += 1
        took(self.clock() - started)

    def count_administrator(self) -> None:
        """Somebody was allowed without a question, in less time than a clock tells."""
        attempts, took = self._allowed
        attempts.value += 1
        took(0.0)


class Decided:
    """What one authorizer decided."""

    __slots__ = ("allowed", "denied")

    def __init__(self, allowed: Value, denied: Value) -> None:
        self.allowed = allowed
        self.denied = denied


class DecisionMetrics:
    """Who decides, among the authorizers."""

    def __init__(self, registry: Registry) -> None:
        labels = ("type", "name", "decision")
        self._decisions = registry.add(Counter("apiserver_authorization_decisions_total", _TERMINAL, labels))

    def of(self, mode: str) -> Decided:
        """`mode`: as in `--authorization-mode`."""
        bind = self._decisions.bind
        return Decided(bind(mode, mode.lower(), "allowed"), bind(mode, mode.lower(), "denied"))
