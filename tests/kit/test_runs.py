"""Items of long lists that stand in no run that is fine as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from pilothouse.kit.runs import RUN, doubtful, doubtful_names


def _positive(run: Sequence[int]) -> bool:
    return min(run) >= 0


def test_runs_that_are_fine_are_passed_over_and_what_is_wrong_is_found_with_its_place() -> None:
    items = [-1 if index in (5, 3 * RUN + 7, 10 * RUN - 1) else index for index in range(10 * RUN)]
    found = list(doubtful(items, _positive))
    assert [place for place, item in found if item < 0] == [5, 3 * RUN + 7, 10 * RUN - 1]
    assert all(items[place] == item for place, item in found)
    assert len(found) < RUN


def test_nothing_is_looked_at_when_there_is_enough() -> None:
    found: list[int] = []
    for place, _ in doubtful([-1] * (5 * RUN), _positive, lambda: len(found) >= RUN):
        found.append(place)
    assert found == list(range(RUN))


def test_names_that_are_left_come_in_order() -> None:
    names = [f"k{number * 7919 % 9999}" for number in range(20 * RUN)]
    wrong = {names[7], names[5 * RUN], names[-1]}
    found = list(doubtful_names(names, wrong.isdisjoint, lambda: False))
    assert found == sorted(found) and wrong <= set(found) and len(found) < RUN
    assert list(doubtful_names(names[:9], wrong.isdisjoint, lambda: False)) == sorted(names[:9])
    assert list(doubtful_names(names, wrong.isdisjoint, lambda: True)) == []
