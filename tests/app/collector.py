"""A collector of OpenTelemetry in this process: gRPC, and all that it was sent."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

ALL = 1_000_000


class Collector(TraceServiceServicer):
    def __init__(self) -> None:
        self.port = 0
        self.sent: list[ExportTraceServiceRequest] = []

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> ExportTraceServiceResponse:
        self.sent.append(request)
        return ExportTraceServiceResponse()

    @property
    def spans(self) -> list[Span]:
        """In the order in which they ended."""
        return [
            span
            for request in self.sent
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def of(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    @property
    def services(self) -> set[str]:
        return {
            str(facts(resource.resource.attributes)["service.name"])
            for request in self.sent
            for resource in request.resource_spans
        }

    def config(self, folder: Path, rate: int | None = None) -> Path:
        """The file that leads here."""
        return config(folder, f"127.0.0.1:{self.port}", rate)


def config(folder: Path, endpoint: str, rate: int | None = None) -> Path:
    lines = ["apiVersion: apiserver.config.k8s.io/v1", "kind: TracingConfiguration", f"endpoint: {endpoint}"]
    if rate is not None:
        lines.append(f"samplingRatePerMillion: {rate}")
    file = folder / "tracing.yaml"
    file.write_text("\n".join(lines) + "\n")
    return file


def facts(attributes: Any) -> dict[str, Any]:
    """Attributes as a mapping."""

    def value(pair: KeyValue) -> Any:
        return getattr(pair.value, pair.value.WhichOneof("value") or "string_value")

    return {pair.key: value(pair) for pair in attributes}


@contextmanager
def collector() -> Iterator[Collector]:
    made = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(made, server)
    made.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield made
    finally:
        server.stop(None).wait(5)
