"""Applied configurations are walked through only where something does not fit, and what is told is the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.columns import CONTAINERS
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed import problems
from pilothouse.machinery.typed.apart import Fault, fault
from pilothouse.machinery.typed.fits import Misfits, fits
from pilothouse.machinery.typed.shape import KEYED, SET, shape_of
from pilothouse.machinery.typed.validate import _Walk

_POD = builtin_types().get(CORE, "Pod")
_OTHERS: tuple[Any, ...] = (1, 1.0, 1.5, "x", "a1", True, None, {}, [], {"x": 1}, {"name": "a1"}, {"name": 1}, [None])


class _All(set[int]):
    def __contains__(self, _: object) -> bool:
        return True


class _Everywhere(Misfits):
    """Lets the walk go everywhere."""

    def __init__(self, duplicates: bool) -> None:
        super().__init__(duplicates)
        self.ids = _All()

    def fault(self, schema: Schema, items: list[Any]) -> Fault | None:
        return fault(shape_of(schema), items, len(items) + 1) if shape_of(schema).kind in (SET, KEYED) else None

    def places(self, schema: Schema, values: Any) -> Iterable[int]:
        return range(len(values)) if schema.kind in CONTAINERS else super().places(schema, values)


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


def test_what_is_passed_over_has_nothing_to_tell() -> None:
    chance = random.Random(7)
    for _ in range(60):
        pod = _pod(chance)
        for _ in range(chance.choice((0, 1, 3, 30))):
            _bend(chance, pod)
        for duplicates in (False, True):
            told = _Walk(_Everywhere(duplicates)).run(_POD, pod)
            assert problems(_POD, pod, duplicates) == told
            assert not (told and fits(_POD)(pod) and not duplicates)


def test_items_are_told_that_are_there_again() -> None:
    finalizers = shape_of(
        builtin_types().get(CORE, "Pod").properties["metadata"].schema.properties["finalizers"].schema
    )
    once = [f"a{at}" for at in range(10_000)]
    assert fault(finalizers, once, 1000) is None
    found = fault(finalizers, [*once, "a9", "a3", "a9"], 1000)
    assert found is not None
    assert (found.end, found.why, found.repeated) == (10_003, "", [10_000, 10_001, 10_002])
    found = fault(finalizers, [*once, "a9", "a3", "a9"], 2)
    assert found is not None
    assert (found.end, found.repeated) == (10_002, [10_000, 10_001])


def test_nothing_is_told_behind_an_item_that_may_not_be_there() -> None:
    text = Schema("string")
    struct = Schema("struct", fields=lambda: [Field("name", lambda: text), Field("image", lambda: text)])
    by_name = shape_of(Schema("list", items=lambda: struct, list_type="map", list_keys=("name",)))
    found = fault(by_name, [{"name": "a"}, {"name": "a"}, {"image": "i"}, {"name": "a"}, 1], 1000)
    assert found is not None
    assert (found.end, found.repeated) == (2, [1])
    assert found.why.startswith("associative list with keys has an element that omits all key fields")
