"""Conversations recorded with the original, as far as they can be held without a server: see `conversations`."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import SHARED, Skip, StandIn, cases, comparable

pytestmark = pytest.mark.shared


def _suites() -> list[Any]:
    if not SHARED.exists():
        return []
    return [
        pytest.param(case, answers, id=f"{suite}/{case['case']}")
        for suite in ("apply", "patches")
        for case, answers in cases(suite)
    ]


@pytest.mark.parametrize(("case", "answers"), _suites())
def test_answers_as_recorded(case: dict[str, Any], answers: list[dict[str, Any]]) -> None:
    world = StandIn()
    compared = 0
    for step, recorded in zip(case["steps"], answers, strict=False):
        try:
            code, answer = world.do(step, recorded)
            if recorded.get("quiet"):
                continue
            ours, theirs = comparable(code, answer, recorded)
        except Skip:
            continue
        for ignored in step.get("ignore") or ():
            _leave_out(ours, ignored)
            _leave_out(theirs, ignored)
        assert ours == theirs, f"{case['why']}: {step['do']}"
        compared += 1
    if not compared:
        pytest.skip("nothing in it that can be compared without a server")


def _leave_out(answer: dict[str, Any], path: str) -> None:
    answer.pop(path, None)
    outer, _, name = path.partition(".")
    if isinstance(answer.get(outer), dict):
        answer[outer].pop(name, None)
