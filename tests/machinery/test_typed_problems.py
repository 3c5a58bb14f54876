"""What is told of applied configurations that do not fit their types, beside the same in the simplest words."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from typing import Any

import pytest

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed import added, applied, compare, created, merge, problems, prune
from pilothouse.machinery.typed.fieldset import intersect, of_paths, subtract, union, union_of
from pilothouse.machinery.typed.paths import element_text
from pilothouse.machinery.typed.prune import collapsed, with_named, without
from pilothouse.machinery.typed.shape import KEYED, SET, shape_of
from pilothouse.machinery.typed.text import plain, syntax, type_name

_POD = builtin_types().get(CORE, "Pod")
_OTHERS: tuple[Any, ...] = (1, 1.0, 1.5, "x", "a1", True, None, {}, [], {"x": 1}, {"name": "a1"}, {"name": 1}, [None])
_TEXTS = (s.STRING, s.BYTES, s.TIME, s.MICRO_TIME, s.DURATION)


def _told(schema: Schema, value: Any, duplicates: bool, path: str = "") -> list[str]:
    """All that is wrong, for values that are not wide."""
    kind = schema.kind
    if value is None:
        return []
    if kind in (s.STRUCT, s.MAP) and not isinstance(value, dict):
        return [f"{path}: expected map, got &{{{plain(value)}}}"]
    if kind == s.LIST and not isinstance(value, list):
        return [f"{path}: expected list, got &{{{plain(value)}}}"]
    if kind == s.LIST:
        return _told_of_items(schema, value, duplicates, path)
    if kind == s.MAP:
        return [told for name in value for told in _told(schema.items, value[name], duplicates, f"{path}.{name}")]
    if kind == s.STRUCT:
        found = []
        for name, inner in value.items():
            if name in schema.properties:
                found += _told(schema.properties[name].schema, inner, duplicates, f"{path}.{name}")
            else:
                found.append(f"{path}.{name}: field not declared in schema")
        return found
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (s.INT32, s.INT64, s.FLOAT64) and not number:
        return [f"{path}: expected numeric (int or float), got {type_name(value)}"]
    if kind in _TEXTS and not isinstance(value, str):
        return [f"{path}: expected string, got &value.valueUnstructured{{Value:{syntax(value)}}}"]
    if kind == s.BOOL and not isinstance(value, bool):
        return [f"{path}: expected boolean, got &{{{plain(value)}}}"]
    if kind in (s.QUANTITY, s.INT_OR_STRING) and isinstance(value, dict | list):
        return [f"{path}: expected any scalar, got &{{{plain(value)}}}"]
    return []


def _told_of_items(schema: Schema, items: list[Any], duplicates: bool, path: str) -> list[str]:
    shape = shape_of(schema)
    found: list[str] = []
    elements: list[str] = []
    for at, item in enumerate(items):
        if shape.kind not in (SET, KEYED):
            found += _told(schema.items, item, duplicates, f"{path}[{at}]")
            continue
        bad = not isinstance(item, dict) if shape.kind == KEYED else item is None or isinstance(item, dict | list)
        if bad or (shape.needs_key and shape.element(item) == "k:{}"):
            return [*found, f"{path}: element {at}: "]
        element = shape.element(item)
        if element in elements and not duplicates:
            found.append(f"{path}: duplicate entries for key {element_text(element)}")
        elements.append(element)
        found += _told(schema.items, item, duplicates, path + element_text(element))
    return found


def _pod(chance: random.Random) -> dict[str, Any]:
    def items(*parts: Any) -> list[Any]:
        count = chance.choice((1, 3, 20, 300))
        return json.loads(f"[{','.join(json.dumps(chance.choice(parts)) for _ in range(count))}]")

    def named(**others: Any) -> list[Any]:
        return [{"name": f"a{at}", **item} for at, item in enumerate(items({}, others))]

    containers = [
        {"name": f"a{at}", "ports": [{"containerPort": port} for port in range(chance.choice((0, 1, 70)))], **item}
        for at, item in enumerate(items({"args": ["a"]}, {"image": "i", "resources": {"limits": {"cpu": 1}}}))
    ]
    containers[0]["env"] = named(value="b")
    metadata = {"labels": {"a": "b"}, "finalizers": [f"a{at}" for at in range(chance.choice((1, 20, 500)))]}
    return {"metadata": metadata, "spec": {"containers": containers, "volumes": named(emptyDir={})}}


def _bend(chance: random.Random, value: Any) -> None:
    """Puts something anywhere that mostly is wrong there."""
    within: Any = value
    while True:
        key = chance.choice(list(within) if isinstance(within, dict) else range(len(within)))
        if not isinstance(within[key], dict | list) or not within[key] or chance.random() < 0.15:
            break
        within = within[key]
    other = within[key] if chance.random() < 0.3 else chance.choice(_OTHERS)
    other = json.loads(json.dumps(other))
    if isinstance(within, dict) and chance.random() < 0.3:
        within["unknown"] = other
    elif isinstance(within, list) and chance.random() < 0.5:
        within.insert(chance.randrange(len(within)), other)
    else:
        within[key] = other


def test_all_that_is_wrong_is_told_in_order() -> None:
    chance = random.Random(7)
    for _ in range(60):
        pod = _pod(chance)
        for _ in range(chance.choice((0, 1, 3, 30))):
            _bend(chance, pod)
        for duplicates in (False, True):
            told = problems(_POD, pod, duplicates)
            wanted = _told(_POD, pod, duplicates)[:1000]
            assert len(told) == len(wanted)
            assert all(one == other or one.startswith(other) for one, other in zip(told, wanted, strict=True))


def test_items_are_told_that_are_there_again() -> None:
    once = [f"a{at}" for at in range(10_000)]
    assert problems(_POD, {"metadata": {"finalizers": once}}) == []
    again = problems(_POD, {"metadata": {"finalizers": [*once, "a9", "a3", "a9"]}})
    assert again == [f'.metadata.finalizers: duplicate entries for key [="{name}"]' for name in ("a9", "a3", "a9")]
    assert len(problems(_POD, {"metadata": {"finalizers": ["a"] * 10_000}})) == 1000


_TEXT = Schema("string")
_NUMBER = Schema("float64")
_STRUCT = Schema("struct", fields=lambda: [Field("name", lambda: _TEXT), Field("image", lambda: _TEXT)])
_BY_NAME = Schema("list", items=lambda: _STRUCT, list_type="map", list_keys=("name",))


def test_nothing_is_told_behind_an_item_that_may_not_be_there() -> None:
    found = problems(_BY_NAME, [{"name": "a"}, {"name": "a"}, {"image": "i"}, {"name": "a"}, 1])
    assert len(found) == 2
    assert found[0] == ': duplicate entries for key [name="a"]'
    assert found[1].startswith(": element 2: associative list with keys has an element that omits all key fields")


@pytest.mark.parametrize(
    ("items", "doubled"),
    [
        ([1, 1.0], 1), ([-1, -1.0], 1), ([0.0, -0.0], 1), ([1.5, 1.5], 1), ([True, 1], 0), ([True, True], 1),
        ([10**15, 1e15], 0), ([2**70, 2**70], 1), (["1", 1], 0), ([1e300, 1e300], 1),
    ],
)  # fmt: skip
def test_numbers_are_the_same_that_are_written_alike(items: list[Any], doubled: int) -> None:
    numbers = Schema("list", items=lambda: _NUMBER, list_type="set")
    assert sum("duplicate entries" in told for told in problems(numbers, items)) == doubled
    by_name = [{"name": item} for item in items]
    assert sum("duplicate entries" in told for told in problems(_BY_NAME, by_name)) == doubled


def _deep(name: str) -> dict[str, Any]:
    value: dict[str, Any] = {name: {}}
    for _ in range(1_000_000):
        value = {name: value}
    return value


def _taken_apart(value: dict[str, Any]) -> None:
    """What is very deep is not left to the garbage collector."""
    while value:
        _, value = value.popitem()


def test_types_that_hold_themselves_end_somewhere() -> None:
    """Compiled code that went down without a limit would end the process."""
    chain = Schema("struct", fields=lambda: [Field("a", lambda: chain, pointer=True)])
    free = Schema("struct", fields=lambda: [Field("a", lambda: Schema("json"), pointer=True)])
    deep, one, two = _deep("a"), _deep("f:a"), _deep("f:a")
    asked = (
        lambda schema: problems(schema, deep),
        lambda schema: added(schema)(deep),
        lambda schema: applied(schema)(deep),
        lambda schema: created(schema)(deep),
        lambda schema: compare(schema, {}, deep),
        lambda schema: compare(schema, deep, {"a": {"a": {}}}),
        lambda schema: merge(schema, {"a": {"a": {}}}, deep),
        lambda schema: prune(schema, deep, one, two),
        lambda schema: without(schema, deep, one),
        lambda schema: with_named(schema, one),
        lambda schema: collapsed(schema, one),
        lambda schema: union(one, two),
        lambda schema: union_of([one, two]),
        lambda schema: subtract(one, two),
        lambda schema: intersect(one, two),
        lambda schema: of_paths(("f:a",) * 1_000_000),
    )
    ended: list[Any] = []

    def ask() -> None:
        for work in asked:
            for schema in (chain, free):
                with contextlib.suppress(RecursionError):
                    work(schema)
                ended.append(work)

    worker = threading.Thread(target=ask)
    worker.start()
    worker.join()
    assert len(ended) == 2 * len(asked)
    for value in (deep, one, two):
        _taken_apart(value)
