"""How long admission takes: each plug-in, and all of a step together. Names, labels and buckets are the original's.

Every write is measured, so series are bound once for each plug-in and operation, and one look at the clock is the end
of one plug-in and the beginning of the next. Nearly all are within the first bucket: those are added up in place, as
memory that is kept for each of them costs more than all else here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from time import perf_counter
from typing import Final

from pilothouse.admission.plugin import Attributes
from pilothouse.kit.metrics import Buckets, Histogram, Registry, Summary, Summed, Unheard, quantiles
from pilothouse.machinery.errors import APIError

ADMIT: Final = "admit"
VALIDATE: Final = "validate"
_BOUNDS: Final = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_QUICK: Final = _BOUNDS[0]
_LABELS: Final = ("type", "operation", "rejected")
_SHARES: Final = (0.5, 0.9, 0.99)
_REMEMBERED: Final = 512  # durations of a step, for the summary
_STEP: Final = "apiserver_admission_step_admission_duration_seconds"
_PLUGIN: Final = "apiserver_admission_controller_admission_duration_seconds"
_PLUGIN_TEXT: Final = (
    "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation "
    "and API resource and type (validate or admit)."
)
_STEP_TEXT: Final = (
    "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step "
    "type (validate or admit)."
)
_SUMMARY_TEXT: Final = (
    "[ALPHA] Admission sub-step latency summary in seconds, broken out for each operation and API resource and step "
    "type (validate or admit)."
)
Judge = Callable[[Attributes], Awaitable[None]]


class Measured:
    """One plug-in on one operation."""

    __slots__ = ("judge", "passed", "quick", "refused", "seconds")

    def __init__(self, judge: Judge, passed: Buckets, refused: Buckets) -> None:
        self.judge = judge
        self.passed = passed
        self.refused = refused.observe
        self.quick = 0  # within the first bucket and still to be told of
        self.seconds = 0.0  # all of those together

    def settle(self) -> None:
        if self.quick:
            self.passed.add_to_first(self.quick, self.seconds)
            self.quick, self.seconds = 0, 0.0


class StepTimes:
    """One step (a type) of one operation."""

    __slots__ = ("_all", "_late", "clock")

    def __init__(self, clock: Callable[[], float], both: tuple[_Recent, _Recent]) -> None:
        """`both`: of steps that passed, of those that were refused."""
        self.clock = clock
        self._all = both[0].all.observe, both[1].all.observe
        self._late = both[0].last.append, both[1].last.append

    async def ask(self, plugins: Sequence[Measured], attributes: Attributes) -> None:
        """Ask one after another. Raises the APIError of the first that refuses."""
        clock = self.clock
        began = last = clock()
        asked = None
        try:
            for asked in plugins:
                await asked.judge(attributes)
                now = clock()
                took = now - last
                if took <= _QUICK:
                    asked.quick += 1
                    asked.seconds += took
                else:
                    asked.passed.observe(took)
                last = now
        except APIError:
            now = clock()
            if asked is not None:
                asked.refused(now - last)
            self._all[1](now - began)
            self._late[1](now - began)
            raise
        took = last - began
        self._all[0](took)
        self._late[0](took)


class _Recent:
    """All durations of a step by bucket, and the last ones."""

    __slots__ = ("all", "last")

    def __init__(self, seen: Buckets) -> None:
        self.all = seen
        self.last: deque[float] = deque(maxlen=_REMEMBERED)


class AdmissionMetrics:
    """`clock`: seconds, monotonic. A plug-in counts only for the resources that it is for."""

    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        registry = registry or Unheard()
        self._clock = clock
        self._measured: list[Measured] = []
        self._plugins = registry.add(Histogram(_PLUGIN, _PLUGIN_TEXT, ("name", *_LABELS), _BOUNDS, sparse=True))
        self._plugins.before = self._settle
        self._steps = registry.add(Histogram(_STEP, _STEP_TEXT, _LABELS, _BOUNDS, sparse=True))
        registry.add(Summary(f"{_STEP}_summary", _SUMMARY_TEXT, _LABELS, self._summaries))
        self._recent: dict[tuple[str, ...], _Recent] = {}

    def plugin(self, name: str, kind: str, operation: str, judge: Judge) -> Measured:
        """`kind`: ADMIT or VALIDATE."""
        bind = self._plugins.bind
        made = Measured(judge, bind(name, kind, operation, "false"), bind(name, kind, operation, "true"))
        self._measured.append(made)
        return made

    def _settle(self) -> None:
        for one in self._measured:
            one.settle()

    def step(self, kind: str, operation: str) -> StepTimes:
        """`kind`: ADMIT or VALIDATE."""
        return StepTimes(self._clock, (self._of(kind, operation, "false"), self._of(kind, operation, "true")))

    def _of(self, *labels: str) -> _Recent:
        found = self._recent.get(labels)
        if found is None:
            found = self._recent[labels] = _Recent(self._steps.bind(*labels))
        return found

    def _summaries(self) -> Iterator[Summed]:
        for labels, recent in list(self._recent.items()):
            number = sum(recent.all.counts)
            if number:
                yield Summed(labels, number, recent.all.total, quantiles(list(recent.last), _SHARES))
