"""What operators see of expressions: how long it takes to compile and to evaluate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.kit.metrics import Histogram, Registry

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMPILED: Final = "apiserver_cel_compilation_duration_seconds"
_EVALUATED: Final = "apiserver_cel_evaluation_duration_seconds"


class ExpressionMetrics:
    """`now` gives seconds; the rules of one node of a schema are counted as one."""

    def __init__(self, registry: Registry, now: Callable[[], float]) -> None:
        compiled = registry.add(Histogram(_COMPILED, "[BETA] CEL compilation time in seconds.", (), _BOUNDS))
        evaluated = registry.add(Histogram(_EVALUATED, "[BETA] CEL evaluation time in seconds.", (), _BOUNDS))
        self.now = now
        self.compiled = compiled.bind().observe
        self.evaluated = evaluated.bind().observe
