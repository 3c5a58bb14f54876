"""Defaults are a table; what is there stays, what is absent is filled in, in the order written."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery.rules import computed, defaults, when_is


def test_absent_fields_are_filled_and_others_stay() -> None:
    fill = defaults({"spec.replicas": 1, "spec.strategy.type": "RollingUpdate", "spec.paused": False})
    thing: dict[str, Any] = {"spec": {"replicas": 0, "strategy": {}}}
    fill(thing)
    assert thing == {"spec": {"replicas": 0, "strategy": {"type": "RollingUpdate"}, "paused": False}}


def test_an_absent_parent_gets_nothing() -> None:
    thing: dict[str, Any] = {}
    defaults({"spec.replicas": 1, "spec.ports[].protocol": "TCP"})(thing)
    assert thing == {}


def test_lists_maps_and_other_tables() -> None:
    port = defaults({"protocol": "TCP"})
    fill = defaults({"spec.ports[]": port, "spec.more[].inner.x": {"a": []}, "spec.template": port})
    thing: dict[str, Any] = {"spec": {"ports": [{}, {"protocol": "UDP"}], "more": [{"inner": {}}, {}], "template": {}}}
    fill(thing)
    assert thing == {
        "spec": {
            "ports": [{"protocol": "TCP"}, {"protocol": "UDP"}],
            "more": [{"inner": {"x": {"a": []}}}, {}],
            "template": {"protocol": "TCP"},
        }
    }


def test_made_values_are_not_shared() -> None:
    fill = defaults({"a": {"b": []}})
    one: dict[str, Any] = {}
    two: dict[str, Any] = {}
    fill(one)
    fill(two)
    one["a"]["b"].append(1)
    assert two == {"a": {"b": []}}


def test_conditions_and_computed_values_see_what_stands_before_them() -> None:
    fill = defaults(
        {
            "spec.type": "Rolling",
            "spec.rolling": when_is("type", "Rolling", {}),
            "spec.rolling.step": "25%",
            "spec.name": computed(lambda parent, whole: whole["metadata"].get("name") if parent["type"] else None),
            "spec.none": computed(lambda parent, whole: None),
        }
    )
    thing: dict[str, Any] = {"metadata": {"name": "x"}, "spec": {}}
    fill(thing)
    assert thing["spec"] == {"type": "Rolling", "rolling": {"step": "25%"}, "name": "x"}
    other: dict[str, Any] = {"metadata": {}, "spec": {"type": "Recreate"}}
    fill(other)
    assert other["spec"] == {"type": "Recreate"}


def test_the_empty_path_runs_on_the_object_itself() -> None:
    thing: dict[str, Any] = {}
    defaults({"": defaults({"a": 1}), "b": 2})(thing)
    assert thing == {"a": 1, "b": 2}
