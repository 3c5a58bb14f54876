"""Schedules, time zones and index sets of jobs: what is read and what is refused in which words."""

from __future__ import annotations

import pytest

from pilothouse.builtin.batch.indexes import BadIndexes, count_indexes
from pilothouse.builtin.batch.schedules import BadSchedule, check_schedule, time_zones


@pytest.mark.parametrize(
    "text",
    ["*/5 * * * *", "0 0 31 2 *", "@daily", "@every 1h30m", "0-59/2 1,2,3 ? jan-dec SUN", "5/15 * * * *", "0 0 1 1 6"],
)
def test_good_schedules(text: str) -> None:
    check_schedule(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("61 * * * *", "end of range (61) above maximum (59): 61"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("*/2/3 * * * *", "too many slashes: */2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("*/5 * * * *x", 'failed to parse int from *x: strconv.Atoi: parsing "*x": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
    ],
)
def test_bad_schedules(text: str, why: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        check_schedule(text)
    assert str(refused.value) == why


def test_time_zones_are_those_of_the_tz_database() -> None:
    assert {"Europe/Berlin", "UTC", "Etc/UTC"} <= time_zones()
    assert not time_zones() & {"Mars/Olympus", "", "localtime"}


@pytest.mark.parametrize(("text", "count"), [("", 0), ("0", 1), ("0-2", 3), ("0,2-3,5", 4)])
def test_index_sets_are_counted(text: str, count: int) -> None:
    assert count_indexes(text, 6) == count


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("9", 'too large index: "9"'),
        ("2-1", "non-increasing order, previous: 2, current: 1"),
        ("1,1", "non-increasing order, previous: 1, current: 1"),
        ("a", 'cannot convert string to integer for index: "a"'),
    ],
)
def test_bad_index_sets(text: str, why: str) -> None:
    with pytest.raises(BadIndexes) as refused:
        count_indexes(text, 6)
    assert str(refused.value) == why
