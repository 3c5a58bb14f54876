"""How the queues of controllers fare: what comes, waits, is worked on, fails. Names, labels and buckets are the
original's, and so are the names of queues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from pilothouse.kit.metrics import Counter, Gauge, Histogram, Registry, Unheard

_BOUNDS: Final = tuple(1e-8 * 10.0**power for power in range(12))
_ADDS: Final = "[BETA] Total number of adds handled by workqueue"
_DEPTH: Final = "[BETA] Current depth of workqueue"
_LONGEST: Final = "[BETA] How many seconds has the longest running processor for workqueue been running."
_QUEUED: Final = "[BETA] How long in seconds an item stays in workqueue before being requested."
_RETRIES: Final = "[BETA] Total number of retries handled by workqueue"
_UNFINISHED: Final = (
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
    "Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at "
    "which this increases."
)
_WORKED: Final = "[BETA] How long in seconds processing an item from workqueue takes."


class Queue(Protocol):
    @property
    def depth(self) -> int:
        """Keys that wait to be worked on."""
        ...

    def running(self) -> list[float]:
        """For how many seconds each key has been worked on."""
        ...


class QueueSeries:
    """The numbers of one queue. `queued`, `worked`: seconds that a key waited, and that it took."""

    __slots__ = ("adds", "queued", "retries", "worked")

    def __init__(self, metrics: QueueMetrics, name: str) -> None:
        self.adds = metrics.adds.bind(name)
        self.retries = metrics.retries.bind(name)
        self.queued = metrics.queued.bind(name).observe
        self.worked = metrics.worked.bind(name).observe


class QueueMetrics:
    def __init__(self, registry: Registry | None = None) -> None:
        add = (registry or Unheard()).add
        self.adds = add(Counter("workqueue_adds_total", _ADDS, ("name",)))
        self.retries = add(Counter("workqueue_retries_total", _RETRIES, ("name",)))
        self.queued = add(Histogram("workqueue_queue_duration_seconds", _QUEUED, ("name",), _BOUNDS))
        self.worked = add(Histogram("workqueue_work_duration_seconds", _WORKED, ("name",), _BOUNDS))
        self._queues: dict[str, Queue] = {}
        for name, text, number in (
            ("depth", _DEPTH, _depth),
            ("unfinished_work_seconds", _UNFINISHED, _unfinished),
            ("longest_running_processor_seconds", _LONGEST, _longest),
        ):
            add(Gauge(f"workqueue_{name}", text, ("name",), self._reader(number)))

    def of(self, name: str, queue: Queue) -> QueueSeries:
        """A controller that begins anew has a new queue, and counts on."""
        self._queues[name] = queue
        return QueueSeries(self, name)

    def _reader(self, number: Callable[[Queue], float]) -> Callable[[], Iterator[tuple[tuple[str, ...], float]]]:
        def read() -> Iterator[tuple[tuple[str, ...], float]]:
            for name, queue in list(self._queues.items()):
                yield (name,), number(queue)

        return read


def _depth(queue: Queue) -> float:
    return float(queue.depth)


def _unfinished(queue: Queue) -> float:
    return sum(queue.running(), 0.0)


def _longest(queue: Queue) -> float:
    return max(queue.running(), default=0.0)
