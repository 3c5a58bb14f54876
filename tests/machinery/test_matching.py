"""Long selectors match what the meaning of each requirement says, and cost no more for being long."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from pilothouse.machinery.matching import compile_labels
from pilothouse.machinery.requirements import Requirement
from pilothouse.machinery.selectors import parse_field_selector, parse_label_selector

keys = st.sampled_from(["a", "b", "c", "d", *(f"k{number}" for number in range(12))])
values = st.sampled_from(["", "x", "y", "1", "2", "30", "-4", "99999999999999999999"])
integers = st.sampled_from(["1", "2", "-5", "30"])
requirement = st.one_of(
    st.builds(Requirement, keys, st.sampled_from(["exists", "!"])),
    st.builds(
        lambda key, operator, value: Requirement(key, operator, (value,)),
        keys,
        st.sampled_from(["=", "==", "!="]),
        values,
    ),
    st.builds(
        lambda key, operator, found: Requirement(key, operator, tuple(sorted(found))),
        keys,
        st.sampled_from(["in", "notin"]),
        st.sets(values, min_size=1),
    ),
    st.builds(
        lambda key, operator, value: Requirement(key, operator, (value,)), keys, st.sampled_from(["gt", "lt"]), integers
    ),
)


def meets(labels: dict[str, str], one: Requirement) -> bool:
    """One requirement, as the documentation defines it."""
    value = labels.get(one.key)
    match one.operator:
        case "exists":
            return value is not None
        case "!":
            return value is None
        case "notin" | "!=":
            return value not in one.values
        case "gt" | "lt":
            try:
                number = int(value or "")
            except ValueError:
                return False
            if abs(number) >= 2**63:
                return False
            return number > int(one.values[0]) if one.operator == "gt" else number < int(one.values[0])
    return value in one.values


@given(st.lists(requirement, max_size=20), st.dictionaries(keys, values, max_size=6))
def test_a_selector_is_all_of_its_requirements(requirements: list[Requirement], labels: dict[str, str]) -> None:
    assert compile_labels(requirements)(labels) == all(meets(labels, one) for one in requirements)


@given(st.lists(requirement, min_size=9, max_size=40, unique_by=lambda one: one.key))
def test_what_a_long_selector_asks_for_is_found(requirements: list[Requirement]) -> None:
    labels = {one.key: one.values[0] for one in requirements if one.operator in ("=", "==", "in")}
    assert compile_labels(requirements)(labels) == all(meets(labels, one) for one in requirements)


def test_a_long_selector_costs_no_more_for_each_object() -> None:
    different = parse_label_selector(",".join(f"k{number} notin (a,b)" for number in range(5000)))
    same = parse_label_selector(",".join(f"app!=x{number}" for number in range(5000)))
    fields = parse_field_selector(",".join(f"metadata.name!=x{number}" for number in range(5000)))
    labels = {"app": "web", "tier": "front"}
    began = time.process_time()
    for _ in range(2000):
        assert different.matches(labels)
        assert same.matches(labels)
        assert fields.matches({"metadata.name": "web"})
    assert time.process_time() - began < 1.0  # ten million comparisons would take longer
