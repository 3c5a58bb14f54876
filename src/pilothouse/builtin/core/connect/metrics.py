"""How logs of pods are asked for where kubelets have certificates. Names and labels are the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.metrics import Counter, Registry, Unheard

_PREFIX: Final = "kube_apiserver_pod_logs_"
_USAGE: Final = (
    "[ALPHA] Total number of requests for pods/logs sliced by usage type: enforce_tls, skip_tls_allowed, "
    "skip_tls_denied"
)
_FAILURES: Final = "[ALPHA] Total number of requests for pods/logs that failed due to kubelet server TLS verification"


class LogMetrics:
    """`failed`: a kubelet showed a certificate that is not believed."""

    def __init__(self, registry: Registry | None = None) -> None:
        registry = registry or Unheard()
        usage = registry.add(Counter(f"{_PREFIX}insecure_backend_total", _USAGE, ("usage",)))
        self._strict, self._careless = usage.bind("enforce_tls"), usage.bind("skip_tls_allowed")
        self.failed = registry.add(Counter(f"{_PREFIX}backend_tls_failure_total", _FAILURES)).bind().add

    def asked(self, *, careless: bool) -> None:
        """`careless`: whoever answers will do."""
        (self._careless if careless else self._strict).add()
