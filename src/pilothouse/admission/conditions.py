"""Match conditions: expressions that must all hold before a webhook is asked or a policy counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pilothouse.admission import expressions
from pilothouse.admission.conditionmetrics import ConditionMetrics
from pilothouse.cel.environment import Environment, Program
from pilothouse.kit.aside import HEAVY, Aside
from pilothouse.kit.record import record

BUDGET: Final = 2_500_000  # units of all conditions together
QUICK: Final = 20_000  # units that are worth no thread
OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


class ConditionFailed(Exception):
    """A condition could not be evaluated; the text is told to the client."""


class Heavy(Exception):
    """More is to be done than the loop should wait for."""


@record
class Meter:
    """How an evaluation is counted. `now`: seconds of a steady clock."""

    metrics: ConditionMetrics
    now: Callable[[], float]
    name: str
    kind: str
    phase: str
    operation: str


class Conditions:
    """The conditions of one webhook or policy, compiled at the first use. `within`: what they may speak of."""

    def __init__(self, conditions: Sequence[Mapping[str, Any]], within: Environment | None = None) -> None:
        self._texts = [condition.get("expression", "") for condition in conditions]
        self._within = within
        self._programs: list[tuple[str, Program | str]] | None = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    async def hold(self, values: Mapping[str, Any], aside: Aside, meter: Meter) -> bool:
        """Whether all of them hold. `values` of variables. Raises ConditionFailed."""
        began, held = meter.now(), None
        try:
            try:
                held = self._hold(values, QUICK)
            except Heavy:
                held = await aside.run(HEAVY, self._hold, values, 0)
            return held
        finally:
            seconds = meter.now() - began
            meter.metrics.evaluated(meter.name, meter.kind, meter.phase, meter.operation, seconds, held)

    def _hold(self, values: Mapping[str, Any], quick: int) -> bool:
        """`quick`: units after which to give up with Heavy, 0 for never."""
        left = BUDGET
        failures: list[str] = []
        for text, program in self._compiled():
            if isinstance(program, str):
                failures.append(program)
                continue
            answer = program.evaluate(values, quick) if quick else program.evaluate(values)
            if answer.over_limit and quick:
                raise Heavy
            left -= answer.cost
            if answer.error is None and answer.value is False:
                return False  # whatever else is wrong
            if answer.error is not None:
                failures.append(f"expression '{text}' resulted in error: {answer.error}")
            elif answer.value is not True:
                failures.append(f"expression '{text}' resulted in error: no such overload")
            if left < 0:
                failures.append(OUT_OF_BUDGET)
                break
        if failures:
            told = list(dict.fromkeys(failures))
            raise ConditionFailed(told[0] if len(told) == 1 else f"[{', '.join(told)}]")
        return True

    def _compiled(self) -> list[tuple[str, Program | str]]:
        if self._programs is None:
            within = self._within or expressions.base()
            self._programs = [(text, expressions.compiled(text, within)) for text in self._texts]
        return self._programs
