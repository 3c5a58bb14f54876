"""What credentials are like that clients come with. Names, labels and buckets are the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.metrics import Counter, Histogram, Registry

_DAY: Final = 86_400.0
# Expired, half an hour, an hour, 2 h, 6 h, 12 h, a day, 2 d, 4 d, a week, a month, three, six, a year.
_LIFE: Final = (
    0.0, 1800.0, 3600.0, 7200.0, 21_600.0, 43_200.0, _DAY, 2 * _DAY, 4 * _DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY,
    180 * _DAY, 360 * _DAY,
)  # fmt: skip
_EXPIRATION: Final = "[ALPHA] Distribution of the remaining lifetime on the certificate used to authenticate a request."
_VALID: Final = "[BETA] Cumulative valid projected service account tokens used"
_STALE: Final = "[BETA] Cumulative stale projected service account tokens used"


class CredentialMetrics:
    """`valid_token`, `stale_token`: a token with a time after which it should have been replaced was looked at, before
    that time or after. `certificate_left`: seconds that a client's certificate is good for.
    """

    def __init__(self, registry: Registry | None = None) -> None:
        registry = registry or Registry()
        left = registry.add(Histogram("apiserver_client_certificate_expiration_seconds", _EXPIRATION, (), _LIFE))
        self.certificate_left = left.bind().observe
        self.valid_token = registry.add(Counter("serviceaccount_valid_tokens_total", _VALID)).bind().add
        self.stale_token = registry.add(Counter("serviceaccount_stale_tokens_total", _STALE)).bind().add
