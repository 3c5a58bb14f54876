"""Records behave as frozen dataclasses do, but for the assignment that only the type checker refuses."""

from __future__ import annotations

from dataclasses import field, fields, replace

import pytest

from pilothouse.kit.record import record


@record
class Point:
    x: int
    y: int = 0
    names: dict[str, str] = field(default_factory=dict, hash=False)
    seen: int = field(default=0, repr=False, compare=False)


@record
class Nothing:
    pass


@record
class One:
    value: str


def test_equal_fields_make_equal_values() -> None:
    assert Point(1, 2) == Point(1, 2, seen=5)
    assert Point(1, 2) != Point(1, 3)
    assert Point(1) != One("1")  # type: ignore[comparison-overlap]
    assert len({One("a"), One("a"), One("b")}) == 2
    assert hash(Point(1, 2, {"a": "b"})) == hash(Point(1, 2))
    assert Nothing() == Nothing()


def test_it_is_a_dataclass() -> None:
    assert replace(Point(1, 2), y=5) == Point(1, 5)
    assert [one.name for one in fields(Point)] == ["x", "y", "names", "seen"]
    assert repr(Point(1)) == "Point(x=1, y=0, names={})"


def test_there_are_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        One("a").other = 1  # type: ignore[attr-defined]
