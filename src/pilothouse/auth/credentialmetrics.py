"""What credentials are like that clients come with. Names, labels and buckets are the original's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from pilothouse.kit.metrics import Counter, Gauge, Histogram, Registry, Unheard

_DAY: Final = 86_400.0
# Expired, half an hour, an hour, 2 h, 6 h, 12 h, a day, 2 d, 4 d, a week, a month, three, six, a year.
_LIFE: Final = (
    0.0, 1800.0, 3600.0, 7200.0, 21_600.0, 43_200.0, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY,
    180 * _DAY, 360 * _DAY,
)  # fmt: skip
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_CACHE: Final = "authentication_token_cache_"
_UNTOLD: Final = "[ALPHA] "  # the original says no more of these
_EXPIRATION: Final = "[ALPHA] Distribution of the remaining lifetime on the certificate used to authenticate a request."
_VALID: Final = "[BETA] Cumulative valid projected service account tokens used"
_STALE: Final = "[BETA] Cumulative stale projected service account tokens used"


class TokenCacheMetrics:
    """Tokens that are remembered for a while. `clock`: seconds, monotonic."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        add, labels = registry.add, ("status",)
        requests = add(Counter(f"{_CACHE}request_total", _UNTOLD, labels))
        seconds = add(Histogram(f"{_CACHE}request_duration_seconds", _UNTOLD, labels, _SECONDS))
        fetched = add(Counter(f"{_CACHE}fetch_total", _UNTOLD, labels))
        active = add(Gauge(f"{_CACHE}active_fetch_count", _UNTOLD, labels))
        self._clock = clock
        self._hits, self._misses = requests.bind("hit"), requests.bind("miss")
        self._found, self._missed = seconds.bind("hit").observe, seconds.bind("miss").observe
        self._good, self._bad = fetched.bind("ok"), fetched.bind("error")
        self._active = active.bind("in_flight")

    def hit(self) -> None:
        """It was remembered, which takes less time than a clock tells."""
        self._hits.value += 1
        self._found(0.0)

    def begin(self) -> float:
        """It was not, and is looked at now."""
        self._active.value += 1
        return self._clock()

    def end(self, began: float, good: bool | None) -> None:
        """`good` None: it was no token of ours."""
        self._active.value -= 1
        if good is not None:
            (self._good if good else self._bad).value += 1
            self._misses.value += 1
            self._missed(self._clock() - began)


class CredentialMetrics:
    """`valid_token`, `stale_token`: a token with a time after which it should have been replaced was looked at, before
    that time or after. `certificate_left`: seconds that a client's certificate is good for.
    """

    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        registry = registry or Unheard()
        self.cache = TokenCacheMetrics(registry, clock)
        left = registry.add(Histogram("apiserver_client_certificate_expiration_seconds", _EXPIRATION, (), _LIFE))
        self.certificate_left = left.bind().observe
        self.valid_token = registry.add(Counter("serviceaccount_valid_tokens_total", _VALID)).bind().add
        self.stale_token = registry.add(Counter("serviceaccount_stale_tokens_total", _STALE)).bind().add
