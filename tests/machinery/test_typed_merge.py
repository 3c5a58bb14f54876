"""Comparison, merge and pruning of typed objects: laws for all objects of a type that has every way of owning."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from things import THING, things

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.typed import added, applied, compare, created, merge, problems, prune
from pilothouse.machinery.typed.fieldset import Node, intersect, members, ordered, subtract, union
from pilothouse.machinery.typed.merge import merged_order
from pilothouse.machinery.typed.prune import with_named, without

Object = dict[str, Any]
EXAMPLES = settings(deadline=None, max_examples=80)


def paths(node: Node) -> set[tuple[str, ...]]:
    return set(members(node))


def all_of(obj: Object) -> Node:
    return {element: child for element, child in added(THING)(obj).items() if element != "."}


@given(things, things)
@EXAMPLES
def test_what_was_owned_less_the_lost_and_with_the_gained_is_what_is_owned_now(old: Object, new: Object) -> None:
    gained, lost = compare(THING, old, new)
    assert (paths(all_of(old)) - paths(lost)) | paths(gained) == paths(all_of(new))


@given(things, things, things, things)
@EXAMPLES
def test_a_look_at_what_some_own_finds_all_that_they_lose(old: Object, new: Object, one: Object, two: Object) -> None:
    sets = (all_of(one), applied(THING)(two))
    for all_changes, seen in zip(compare(THING, old, new), compare(THING, old, new, sets), strict=True):
        assert paths(seen) <= paths(all_changes)
        for owned in sets:
            assert json.dumps(intersect(owned, seen)) == json.dumps(intersect(owned, all_changes))
            assert json.dumps(subtract(owned, seen)) == json.dumps(subtract(owned, all_changes))


@given(things)
@EXAMPLES
def test_an_object_differs_from_its_copy_in_nothing(obj: Object) -> None:
    assert compare(THING, obj, copy.deepcopy(obj)) == ({}, {})


@given(things)
@EXAMPLES
def test_sets_come_in_the_original_order(obj: Object) -> None:
    def check(node: Node) -> None:
        assert list(node) == list(ordered(node))
        for child in node.values():
            check(child)

    check(all_of(obj))
    check(applied(THING)(obj))


@given(things, things)
@EXAMPLES
def test_merging_changes_neither_side_and_twice_is_once(live: Object, config: Object) -> None:
    before = copy.deepcopy((live, config))
    merged = merge(THING, live, config)
    assert (live, config) == before
    assert merge(THING, merged, config) == merged
    assert not problems(THING, merged)


@given(things, things)
@EXAMPLES
def test_what_was_applied_is_in_the_merged_object(live: Object, config: Object) -> None:
    merged = merge(THING, live, config)
    gained, _ = compare(THING, config, merged)
    leaves = {
        path
        for path in paths(applied(THING)(config))
        if not any(p[: len(path)] == path and p != path for p in paths(gained))
    }
    assert not leaves & paths(gained) - _nulls(config)


def _nulls(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Paths of nulls and empties: applying those says nothing about what is there."""
    if not value:
        return {path}
    found: set[tuple[str, ...]] = set()
    if isinstance(value, dict):
        for name, inner in value.items():
            found |= _nulls(inner, (*path, f"f:{name}"))
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                found |= _nulls(item, (*path, 'k:{"name":' + json.dumps(item["name"]) + "}"))
    return found


@given(things)
@EXAMPLES
def test_merging_what_is_there_gives_the_very_object(obj: Object) -> None:
    assert merge(THING, obj, obj) is obj
    assert merge(THING, obj, {}) is obj


def without_empty_lists(value: Any) -> Any:
    """Empty lists are in no set: the original loses sight of a struct in which nothing else remains, and drops it."""
    if isinstance(value, dict):
        return {name: without_empty_lists(inner) for name, inner in value.items() if inner != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


def pruned_in_steps(merged: Object, last: Node, kept: Node) -> Object:
    """The original's way: take out all that was applied, put back what is owned, then what nobody owns."""
    last, kept = with_named(THING, last), with_named(THING, kept)

    def fields(obj: Object) -> Node:
        return with_named(THING, applied(THING)(obj))

    part = without(THING, merged, last) or {}
    part = without(THING, merged, subtract(fields(merged), union(fields(part), kept))) or {}
    return without(THING, merged, intersect(subtract(fields(merged), fields(part)), last)) or {}


@given(things, things, things, things)
@EXAMPLES
def test_pruning_in_one_walk_is_pruning_in_steps(live: Object, last: Object, now: Object, other: Object) -> None:
    live, last, now, other = map(without_empty_lists, (live, last, now, other))
    live = merge(THING, merge(THING, live, other), last)
    merged = merge(THING, live, now)
    before = applied(THING)(last)
    kept = union(applied(THING)(now), applied(THING)(other))
    walked = prune(THING, merged, before, kept) or {}
    assert walked == pruned_in_steps(merged, before, kept)


@given(things, things)
@EXAMPLES
def test_what_is_still_applied_is_never_pruned(live: Object, config: Object) -> None:
    merged = merge(THING, live, config)
    fields = applied(THING)(config)
    assert prune(THING, merged, fields, fields) is merged


@given(st.lists(st.integers(0, 6), max_size=6), st.lists(st.integers(0, 6), max_size=6, unique=True))
def test_merged_lists_keep_the_applied_order_and_lose_nobody(live: list[int], config: list[int]) -> None:
    live_keys, keys = [str(item) for item in live], [str(item) for item in config]
    order = merged_order(live_keys, keys)
    assert [keys[-1 - at] for at in order if at < 0] == keys
    assert [live_keys[at] for at in order if at >= 0] == [key for key in live_keys if key not in keys]


@pytest.mark.parametrize(
    ("live", "config", "merged"),
    [
        ("ABC", "XBY", "AXBCY"),
        ("AXBCY", "CDA", "XBCYDA"),
        ("XBCYDA", "YZX", "BCYDAZX"),
        ("", "AB", "AB"),
        ("AB", "", "AB"),
    ],
)
def test_new_items_are_placed_by_their_neighbours(live: str, config: str, merged: str) -> None:
    order = merged_order(list(live), list(config))
    assert "".join(live[at] if at >= 0 else config[-1 - at] for at in order) == merged


# ---------------------------------------------------------------------- built-in types


def test_a_creator_owns_what_differs_from_the_zero_value() -> None:
    event = builtin_types().get(CORE, "Event")
    obj = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod"},
        "reason": "R",
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "source": {},
        "reportingComponent": "",
        "reportingInstance": "x",
    }
    assert created(event)(obj) == {
        "f:involvedObject": {},
        "f:metadata": {"f:name": {}},
        "f:reason": {},
        "f:reportingInstance": {},
    }


def test_lists_that_are_always_written_are_nobodys_but_their_items_are_somebodys() -> None:
    pod = builtin_types().get(CORE, "Pod")
    obj = {
        "spec": {
            "containers": [{"name": "c", "resources": {}, "ports": [{"containerPort": 80}]}],
            "securityContext": {},
        }
    }
    assert created(pod)(obj) == {
        "f:spec": {
            "f:containers": {
                'k:{"name":"c"}': {
                    ".": {},
                    "f:name": {},
                    "f:ports": {".": {}, 'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
                    "f:resources": {},
                }
            },
            "f:securityContext": {},
        }
    }


def test_problems_are_told_with_their_paths() -> None:
    deployment = builtin_types().get("k8s.io/api/apps/v1", "Deployment")
    containers = [{"name": "a", "ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]}, {"name": 5}]
    obj = {"spec": {"replicas": "x", "paused": 1, "template": {"spec": {"containers": containers}}, "what": 1}}
    assert problems(deployment, obj) == [
        ".spec.replicas: expected numeric (int or float), got string",
        ".spec.paused: expected boolean, got &{1}",
        '.spec.template.spec.containers[name="a"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
        ".spec.template.spec.containers[name=5].name: expected string, got &value.valueUnstructured{Value:5}",
        ".spec.what: field not declared in schema",
    ]
    assert not problems(
        deployment, {"spec": {"template": {"spec": {"containers": [{"name": "a"}] * 2}}}}, duplicates=True
    )


@given(things)
@EXAMPLES
def test_good_objects_have_no_problems(obj: Object) -> None:
    assert problems(THING, obj) == []


def test_thousands_of_doubled_keys_are_not_each_looked_for() -> None:
    deployment = builtin_types().get("k8s.io/api/apps/v1", "Deployment")

    def with_names(value: str) -> Object:
        env = [{"name": f"E{at // 2}", "value": value if at % 4 == 3 else "x"} for at in range(20_000)]
        return {"spec": {"template": {"spec": {"containers": [{"name": "c", "env": env}]}}}}

    gained, lost = compare(deployment, with_names("x"), with_names("y"))
    assert lost == {}
    assert len(paths(gained)) == 5_000


def test_the_few_that_do_not_fit_are_found_among_thousands() -> None:
    pod = builtin_types().get(CORE, "Pod")
    containers: list[Any] = [{"name": f"c{n}", "image": "i", "env": [{"name": "E"}]} for n in range(2000)]
    containers[1500] = {"name": "c1500", "image": 1}
    containers[1700] = {"name": "c1700", "ports": [{"containerPort": 1}, {"containerPort": 1}], "imag": "i"}
    obj = {
        "metadata": {"labels": {f"k{n}": "v" if n != 999 else 1 for n in range(1000)}},
        "spec": {"containers": containers},
    }
    assert problems(pod, obj) == [
        ".metadata.labels.k999: expected string, got &value.valueUnstructured{Value:1}",
        '.spec.containers[name="c1500"].image: expected string, got &value.valueUnstructured{Value:1}',
        '.spec.containers[name="c1700"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
        '.spec.containers[name="c1700"].imag: field not declared in schema',
    ]
    containers[1900] = {"name": "c3"}
    assert problems(pod, obj)[-1] == '.spec.containers: duplicate entries for key [name="c3"]'
