"""What operators see of webhooks: how often, how long, how they end. Names and labels are the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.metrics import Counter, Histogram, Registry

ADMIT: Final = "admit"
VALIDATING: Final = "validating"
NO_ERROR: Final = "no_error"
CALLING: Final = "calling_webhook_error"
INTERNAL: Final = "apiserver_internal_error"
_BOUNDS: Final = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)
_HIGHEST: Final = 600  # larger codes count as this one
_PREFIX: Final = "apiserver_admission_webhook_"
_DURATION: Final = (
    "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each "
    "operation and API resource and type (validate or admit)."
)
_REQUESTS: Final = (
    "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type "
    "(validating or admit) and operation. Additional labels specify whether the request was rejected or not "
    "and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality "
    "bounded."
)
_REJECTIONS: Final = (
    "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type "
    "(validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or "
    "apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection "
    "code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code "
    "is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality "
    "bounded."
)
_FAIL_OPEN: Final = (
    "[ALPHA] Admission webhook fail open count, identified by name and broken out for each admission type "
    "(validating or admit)."
)


class WebhookMetrics:
    """`kind` is ADMIT or VALIDATING."""

    def __init__(self, registry: Registry) -> None:
        labels = ("name", "type", "operation")
        add = registry.add
        self._durations = add(
            Histogram(f"{_PREFIX}admission_duration_seconds", _DURATION, (*labels, "rejected"), _BOUNDS)
        )
        self._requests = add(Counter(f"{_PREFIX}request_total", _REQUESTS, (*labels, "code", "rejected")))
        self._rejections = add(
            Counter(f"{_PREFIX}rejection_count", _REJECTIONS, (*labels, "error_type", "rejection_code"))
        )
        self._fail_open = add(Counter(f"{_PREFIX}fail_open_count", _FAIL_OPEN, ("name", "type")))

    def called(self, name: str, kind: str, operation: str, seconds: float, code: int, *, rejected: bool) -> None:
        said = "true" if rejected else "false"
        self._durations.bind(name, kind, operation, said).observe(seconds)
        self._requests.bind(name, kind, operation, str(min(code, _HIGHEST)), said).add()

    def rejected(self, name: str, kind: str, operation: str, error: str, code: int) -> None:
        self._rejections.bind(name, kind, operation, error, str(min(code, _HIGHEST))).add()

    def failed_open(self, name: str, kind: str) -> None:
        self._fail_open.bind(name, kind).add()
