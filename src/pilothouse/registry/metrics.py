"""How long updates are compared with what is there. Name, label and buckets are the original's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from pilothouse.kit.metrics import Histogram, Registry, Unheard

_BOUNDS: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0)
_TEXT: Final = "[ALPHA] Time taken for comparison of old vs new objects in UPDATE or PATCH requests"


class ComparisonMetrics:
    """`clock`: seconds, monotonic. `fast`, `slow`: the objects differ, told by their owners or by all they hold;
    `equal`: they do not.
    """

    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        name = "apiserver_request_timestamp_comparison_time"
        times = (registry or Unheard()).add(Histogram(name, _TEXT, ("code_path",), _BOUNDS))
        self.clock = clock
        self.fast = times.bind("unequalObjectsFast").observe
        self.slow = times.bind("unequalObjectsSlow").observe
        self.equal = times.bind("equalObjectsSlow").observe
