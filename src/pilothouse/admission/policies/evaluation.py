"""Evaluation of the expressions of one policy against one write: budgets, and variables that are computed when they
are first looked at.

It begins on the loop with few units; what turns out to be long raises Heavy there and is done anew in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.admission.conditions import OUT_OF_BUDGET, QUICK, Heavy
from pilothouse.cel.environment import PER_CALL, PER_REQUEST, Answer, Program
from pilothouse.cel.values import Fault

VARIABLES: Final = "variables"


class Evaluation:
    """`values` of all variables but the policy's own, whose `programs` are in their order. `quick`: on the loop."""

    def __init__(self, values: Mapping[str, Any], programs: Mapping[str, Program | str], *, quick: bool) -> None:
        self._left = PER_REQUEST
        self._quick = QUICK if quick else 0
        self._values = {**values, VARIABLES: _Variables(self, programs)}

    def evaluate(self, text: str, program: Program | str) -> tuple[Any, str]:
        """The value, and what went wrong, "" for nothing. Raises Heavy."""
        if isinstance(program, str):
            return None, program
        if self._left < 0:
            return None, OUT_OF_BUDGET
        answer = self.run(program)
        if answer.error is not None:
            return None, f"expression '{text}' resulted in error: {answer.error}"
        return answer.value, ""

    def run(self, program: Program) -> Answer:
        """Raises Heavy."""
        answer = program.evaluate(self._values, self._quick or PER_CALL)
        if self._quick:
            self._quick = max(self._quick - answer.cost, 1)
            if answer.over_limit:
                raise Heavy
        self._left -= answer.cost
        return answer


class _Variables(dict[str, Any]):
    """The policy's own variables, as expressions see them."""

    def __init__(self, evaluation: Evaluation, programs: Mapping[str, Program | str]) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._programs = programs

    def __contains__(self, name: object) -> bool:
        return name in self._programs

    def get(self, name: str, default: Any = None) -> Any:
        """Raises Fault for one that cannot be computed."""
        if super().__contains__(name):
            return super().__getitem__(name)
        program = self._programs.get(name)
        if program is None:
            return default
        if isinstance(program, str):
            raise Fault(f'composited variable "{name}" fails to compile: {program}')
        answer = self._evaluation.run(program)
        if answer.error is not None:
            raise Fault(f'composited variable "{name}" fails to evaluate: {answer.error}')
        self[name] = answer.value
        return answer.value
