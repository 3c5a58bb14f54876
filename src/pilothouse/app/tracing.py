"""Spans for a collector of OpenTelemetry: the file of --tracing-config-file, and who sends what the filter makes.

The libraries are those of the extra `tracing`; they are imported when the flag is given, and not before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery import yamlcodec
from pilothouse.serving.http import Filter

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

KIND: Final = "TracingConfiguration"
VERSIONS: Final = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1")
SERVICE: Final = "apiserver"  # unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say else
GRACE: Final = 1.0  # seconds for what is not sent yet when the server stops
_MOST: Final = 1_000_000
_FIELDS: Final = frozenset({"apiVersion", "kind", "endpoint", "samplingRatePerMillion"})
_SCHEMES: Final = ("dns:///", "unix:", "unix-abstract:")
_MISSING: Final = "spans need packages that are not installed; pip install 'pilothouse[tracing]'"


@record
class TracingConfiguration:
    """`endpoint`: of the collector, for gRPC without TLS. `rate`: how many of a million traces that begin here are
    sampled.
    """

    endpoint: str = "localhost:4317"
    rate: int = 0


def read_tracing(path: Path) -> TracingConfiguration:
    """What the file says. Raises ValueError, which names the file and the field."""
    try:
        return _parsed(yamlcodec.loads(path.read_bytes()))
    except (OSError, ValueError, yamlcodec.YAMLError) as error:
        raise ValueError(f"{path}: {error}") from None


def check_tracing(path: Path) -> None:
    """Raises ValueError where the file or the packages will not do."""
    read_tracing(path)
    try:
        import opentelemetry.exporter.otlp.proto.grpc.trace_exporter
        import opentelemetry.sdk.trace.export  # noqa: F401
    except ImportError:
        raise ValueError(_MISSING) from None


def _parsed(found: Any) -> TracingConfiguration:
    if not isinstance(found, dict):
        raise ValueError(f"is no {KIND}")
    if found.get("kind") != KIND:
        raise ValueError(f"kind must be {KIND}, not {found.get('kind')!r}")
    if found.get("apiVersion") not in VERSIONS:
        raise ValueError(f"apiVersion must be {' or '.join(VERSIONS)}, not {found.get('apiVersion')!r}")
    for name in found:
        if name not in _FIELDS:
            raise ValueError(f"there is no field {name!r}; there are endpoint and samplingRatePerMillion")
    usual = TracingConfiguration()
    endpoint, rate = found.get("endpoint"), found.get("samplingRatePerMillion")
    return TracingConfiguration(
        usual.endpoint if endpoint is None else _endpoint(endpoint), usual.rate if rate is None else _rate(rate)
    )


def _endpoint(value: object) -> str:
    """As gRPC takes it."""
    if isinstance(value, str):
        if value.startswith(_SCHEMES):
            return value
        host, colon, port = value.rpartition(":")
        if host and colon and "/" not in host and port.isascii() and port.isdigit() and int(port) < 1 << 16:
            return value
    raise ValueError(
        f"endpoint must be a host and a port, as in localhost:4317, dns:///..., or unix:..., not {value!r}"
    )


def _rate(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError(f"samplingRatePerMillion must be a whole number from 0 to {_MOST}, not {value!r}")
    return value


class Tracing:
    """Collects the spans that end and sends them in batches, from a thread of its own. To be stopped, once."""

    def __init__(self, configuration: TracingConfiguration) -> None:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased

        self._rate = configuration.rate
        root = TraceIdRatioBased(configuration.rate / _MOST) if configuration.rate else ALWAYS_OFF
        resource = Resource({"service.name": SERVICE}).merge(OTELResourceDetector().detect())
        self._exporter: SpanExporter = OTLPSpanExporter(endpoint=configuration.endpoint, insecure=True)
        self._provider: TracerProvider = TracerProvider(ParentBased(root), resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))

    def filter(self) -> Filter:
        """What makes the spans."""
        from pilothouse.filters.tracing import tracing

        return tracing(self._provider.get_tracer("pilothouse"), time.time_ns, samples=self._rate > 0)

    async def stop(self) -> None:
        """Send what is left, if the collector takes it soon."""
        sending = threading.Thread(target=self._provider.shutdown, name="last spans", daemon=True)
        sending.start()
        await asyncio.to_thread(sending.join, GRACE)
        if sending.is_alive():  # the exporter would try again for many seconds
            await asyncio.to_thread(self._exporter.shutdown)


def build_tracing(path: Path | None) -> Tracing | None:
    """None without a file. Raises ValueError as `check_tracing` does."""
    if path is None:
        return None
    check_tracing(path)
    return Tracing(read_tracing(path))
