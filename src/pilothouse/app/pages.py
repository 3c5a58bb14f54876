"""The pages for operators: metrics, profiles, flags, status. What they show is made elsewhere."""

from __future__ import annotations

import logging
import platform
import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pilothouse.aggregator.delegation import PathRoutes
from pilothouse.app.settings import Settings, flag_name
from pilothouse.kit.metrics import Registry
from pilothouse.machinery.times import format_duration
from pilothouse.serving.debug import flags_handler, pprof_handler, set_verbosity
from pilothouse.serving.debug_status import Running, flagz_handler, statusz_handler
from pilothouse.serving.metrics_page import metrics_handler
from pilothouse.serving.process_metrics import add_process_metrics

KUBERNETES_VERSION: Final = "1.37.2"
_MINOR: Final = KUBERNETES_VERSION.rpartition(".")[0]
_DURATIONS: Final = "duration"


def add_pages(routes: PathRoutes, settings: Settings, registry: Registry, slis: Registry, began: float) -> None:
    """`slis`: metrics of health alone, for /metrics/slis. `began`: start of the process, seconds since 1970."""
    add_process_metrics(registry, began)
    routes.at("/metrics", metrics_handler(registry, began))
    routes.at("/metrics/slis", metrics_handler(slis, began))
    running = Running(
        datetime.fromtimestamp(began, UTC),
        lambda: datetime.now(UTC),
        KUBERNETES_VERSION,
        _MINOR,
        f"cpython-{platform.python_version()}",
    )
    routes.at("/statusz", statusz_handler(running))
    routes.at("/flagz", flagz_handler(flags_of(settings)))
    if settings.profiling:
        routes.under("/debug/pprof", pprof_handler())
        routes.under("/debug/flags", flags_handler(set_verbosity(logging.getLogger())))


def flags_of(settings: Settings) -> Mapping[str, str]:
    """Every flag and its value, written as on the command line."""
    return {
        flag_name(row.name)[2:]: _written(row.metadata["parse"], getattr(settings, row.name))
        for row in fields(settings)
    }


def _written(parse: Any, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if getattr(parse, "__name__", "") == _DURATIONS:
        return format_duration(round(value * 1e9))
    if isinstance(value, tuple):
        return f"[{','.join(_written(None, item) for item in value)}]"
    if isinstance(value, re.Pattern):
        return str(value.pattern)
    return str(value) if isinstance(value, str | int | float | Path) else "..."
