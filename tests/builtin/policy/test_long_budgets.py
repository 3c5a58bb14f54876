"""A budget that is refused is shown, however long its selector is."""

from __future__ import annotations

import pytest

from pilothouse.builtin.policy.poddisruptionbudgets import behaviour

WHY = "minAvailable and maxUnavailable cannot be both set"


@pytest.mark.parametrize("labels", [1, 20_000])
def test_both_bounds_of_a_short_and_of_a_long_budget_are_refused(labels: int) -> None:
    selector = {"matchLabels": {f"l{number}": "v" for number in range(labels)}}
    spec = {"minAvailable": 1, "maxUnavailable": 2, "selector": selector}
    assert behaviour.validate is not None
    causes = behaviour.validate({"metadata": {"name": "a"}, "spec": spec}, None, None)
    assert [(cause.field, cause.message.endswith(WHY)) for cause in causes] == [("spec", True)]


def test_a_short_budget_is_shown_in_the_order_of_the_original() -> None:
    spec = {"minAvailable": 1, "maxUnavailable": "5%", "selector": {"matchLabels": {"a": "b"}}}
    assert behaviour.validate is not None
    (cause,) = behaviour.validate({"metadata": {"name": "a"}, "spec": spec}, None, None)
    selector = '"Selector":{"matchLabels":{"a":"b"}}'
    shown = f'{{"MinAvailable":1,{selector},"MaxUnavailable":"5%","UnhealthyPodEvictionPolicy":null}}'
    assert cause.message == f"Invalid value: {shown}: {WHY}"
