"""Times, durations and ages as they are shown and read."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.times import (
    TimeError,
    age,
    canonical_micro_time,
    canonical_time,
    format_duration,
    format_micro_time,
    format_time,
    human_duration,
    parse_duration,
    parse_micro_time,
    parse_time,
)

SECONDS = '"2006-01-02T15:04:05Z07:00"'
MICROS = '"2006-01-02T15:04:05.000000Z07:00"'


def test_times_are_shown_in_utc() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, timezone(timedelta(hours=2)))
    assert format_time(moment) == "2026-01-02T01:04:05Z"
    assert format_micro_time(moment) == "2026-01-02T01:04:05.000006Z"


def test_times_are_read_in_any_zone() -> None:
    assert parse_time("2026-01-02T03:04:05.5+01:30") == datetime(2026, 1, 2, 1, 34, 5, 500_000, UTC)
    assert canonical_time("2026-01-02T03:04:05.999999999Z") == "2026-01-02T03:04:05Z"
    assert canonical_time("2026-01-02T03:04:05Z") == "2026-01-02T03:04:05Z"
    assert canonical_time("2024-02-29T00:00:00-01:00") == "2024-02-29T01:00:00Z"
    assert canonical_time("0001-01-01T00:00:00Z") is None
    assert canonical_micro_time("2026-01-02T03:04:05.000001+01:00") == "2026-01-02T02:04:05.000001Z"
    assert canonical_micro_time("2026-01-02T03:04:05.000001Z") == "2026-01-02T03:04:05.000001Z"
    assert canonical_micro_time("0001-01-01T00:00:00.000000Z") is None


@pytest.mark.parametrize("year", [1, 2023, 2024])
def test_every_day_stays_as_it_is_written_and_no_other_is_one(year: int) -> None:
    for month in range(1, 13):
        for day in range(1, 32):
            text = f"{year:04}-{month:02}-{day:02}T12:34:56Z"
            if day <= monthrange(year, month)[1]:
                assert canonical_time(text) == text
            else:
                with pytest.raises(TimeError, match="day out of range"):
                    canonical_time(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", f'parsing time "yesterday" as {SECONDS}: cannot parse "yesterday" as "2006"'),
        ("2024-06-23 18:10:50", f'parsing time "2024-06-23 18:10:50" as {SECONDS}: cannot parse " 18:10:50" as "T"'),
        ("2024-06-23T18:10:50", f'parsing time "2024-06-23T18:10:50" as {SECONDS}: cannot parse "" as "Z07:00"'),
        ("2024-13-23T18:10:50Z", 'parsing time "2024-13-23T18:10:50Z": month out of range'),
        ("2024-02-30T18:10:50Z", 'parsing time "2024-02-30T18:10:50Z": day out of range'),
        ("2023-02-29T18:10:50Z", 'parsing time "2023-02-29T18:10:50Z": day out of range'),
        ("2024-06-23T24:10:50Z", 'parsing time "2024-06-23T24:10:50Z": hour out of range'),
        ("2024-06-23T18:10:50Zx", 'parsing time "2024-06-23T18:10:50Zx": extra text: "x"'),
        ("", f'parsing time "" as {SECONDS}: cannot parse "" as "2006"'),
    ],
)
def test_bad_times_are_told_as_go_tells_them(text: str, message: str) -> None:
    with pytest.raises(TimeError) as refused:
        parse_time(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "rest", "piece"),
    [
        ("2024-06-23T18:10:50.278Z", ".278Z", ".000000"),
        ("2024-06-23T18:10:50Z", "Z", ".000000"),
        ("2024-06-23T18:10:50.636526400Z", "400Z", "Z07:00"),
        ("2024-06-23T18:10:50.5Z", ".5Z", ".000000"),
    ],
)
def test_micro_times_have_exactly_six_fraction_digits(text: str, rest: str, piece: str) -> None:
    with pytest.raises(TimeError) as refused:
        parse_micro_time(text)
    assert str(refused.value) == f'parsing time "{text}" as {MICROS}: cannot parse "{rest}" as "{piece}"'


@settings(deadline=None)
@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_survives(moment: datetime) -> None:
    assert parse_micro_time(format_micro_time(moment)) == moment
    assert parse_time(format_time(moment)) == moment.replace(microsecond=0)


@settings(deadline=None)
@given(st.text(alphabet="0123456789-:TZ.+", max_size=26))
def test_any_text_is_a_time_or_refused_in_words(text: str) -> None:
    for read in (parse_time, parse_micro_time):
        try:
            read(text)
        except TimeError as refused:
            assert str(refused).startswith(f'parsing time "{text}"')


@pytest.mark.parametrize(
    ("text", "nanos", "shown"),
    [
        ("0", 0, "0s"), ("1m30s", 90 * 10**9, "1m30s"), ("90s", 90 * 10**9, "1m30s"), ("1.5h", 5400 * 10**9, "1h30m0s"),
        ("100ms", 10**8, "100ms"), ("1.5ms", 1_500_000, "1.5ms"), ("2us", 2_000, "2µs"), ("3ns", 3, "3ns"),
        ("-1.25s", -1_250_000_000, "-1.25s"), ("24h", 86400 * 10**9, "24h0m0s"), ("+5s", 5 * 10**9, "5s"),
    ],
)  # fmt: skip
def test_durations_are_read_and_shown_as_go_does(text: str, nanos: int, shown: str) -> None:
    assert parse_duration(text) == nanos
    assert format_duration(nanos) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("x", 'time: invalid duration "x"'),
        ("5", 'time: missing unit in duration "5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
        ("1s2", 'time: missing unit in duration "1s2"'),
        ("9223372037s", 'time: invalid duration "9223372037s"'),
    ],
)
def test_bad_durations_are_told_as_go_tells_them(text: str, message: str) -> None:
    with pytest.raises(TimeError) as refused:
        parse_duration(text)
    assert str(refused.value) == message


@settings(deadline=None)
@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_every_duration_survives(nanos: int) -> None:
    assert parse_duration(format_duration(nanos)) == nanos


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"),
        (600, "10m"), (179 * 60, "179m"), (180 * 60, "3h"), (181 * 60, "3h1m"), (8 * 3600, "8h"), (47 * 3600, "47h"),
        (48 * 3600, "2d"), (49 * 3600, "2d1h"), (8 * 86400, "8d"), (365 * 86400, "365d"),
        (800 * 86400, "2y70d"), (3000 * 86400, "8y"), (2000 * 365 * 86400, "292y"),
    ],
)  # fmt: skip
def test_ages_are_shown_as_kubectl_shows_them(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown


def test_ages_count_from_the_creation() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert age("2026-01-01T23:59:55Z", now) == "5s"
    assert age(None, now) == "<unknown>"
