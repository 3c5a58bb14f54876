"""The text of a scrape, made by prometheus-client from our families.

Imported at the first scrape: the library loads slowly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as OPENMETRICS_TYPE
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from pilothouse.kit.metrics import Counter, Family, Histogram, Registry

TEXT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

__all__ = ["OPENMETRICS_TYPE", "TEXT_TYPE", "render"]


class _Collector:
    """Our registry as prometheus-client wants to see it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.families():
            yield _metric(family)


def _metric(family: Family) -> Metric:
    if isinstance(family, Histogram):
        return _histogram(family)
    kind = CounterMetricFamily if isinstance(family, Counter) else GaugeMetricFamily
    shown: CounterMetricFamily | GaugeMetricFamily = kind(family.name, family.text, labels=family.labels)
    for labels, value in family.samples():
        shown.add_metric(labels, value)
    return shown


def _histogram(family: Histogram) -> Metric:
    shown = HistogramMetricFamily(family.name, family.text, labels=family.labels)
    names = [_number(bound) for bound in family.bounds] + ["+Inf"]
    for labels, counts, total in family.samples():
        running = 0
        buckets = []
        for name, count in zip(names, counts, strict=True):
            running += count
            buckets.append((name, float(running)))
        shown.add_metric(labels, buckets, total)
    return shown


def _number(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else repr(bound)


def render(registry: Registry, *, openmetrics: bool = False) -> bytes:
    """All families as text. Takes milliseconds: run it off the loop."""
    collectors = CollectorRegistry(auto_describe=False)
    collectors.register(_Collector(registry))
    text: bytes = generate_openmetrics(collectors) if openmetrics else generate_latest(collectors)  # type: ignore[no-untyped-call]
    return text
