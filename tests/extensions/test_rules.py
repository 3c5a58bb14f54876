"""Rules of definitions (`x-kubernetes-validations`), through the whole server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from builtin.inside import run, server
from extensions.crds import DEFINITIONS, define, definition, obj, path, spec_schema, version

PAIRS = {"rule": "self.all(x, self.all(y, x + y >= 0))", "message": "sums"}
POSITIVE = {"rule": "self > 0", "message": "positive"}


def numbers(*rules: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "array", "items": {"type": "integer"}, "maxItems": 400, "x-kubernetes-validations": list(rules),
    }  # fmt: skip


def test_objects_that_break_a_rule_are_refused_and_others_are_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            schema = spec_schema(age={"type": "integer", "x-kubernetes-validations": [POSITIVE]})
            await define(api, definition("ducks", "Duck", version(schema=schema)))
            refused = await api.send("POST", path("ducks"), obj("Duck", "d", {"age": 0}))
            assert refused.status == 422
            assert refused.body["message"] == (
                'Duck.farm.example.com "d" is invalid: spec.age: Invalid value: 0: positive'
            )
            await api.make(path("ducks"), obj("Duck", "d", {"age": 1}))
            changed = await api.send(
                "PATCH", path("ducks", "d"), {"spec": {"age": -1}}, kind="application/merge-patch+json"
            )
            assert changed.status == 422

    run(story())


def test_a_definition_whose_rules_do_not_compile_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            schema = spec_schema(age={"type": "integer", "x-kubernetes-validations": [{"rule": "self.years > 1"}]})
            refused = await api.send("POST", DEFINITIONS, definition("ducks", "Duck", version(schema=schema)))
            assert refused.status == 422
            cause = refused.body["details"]["causes"][0]
            place = "spec.validation.openAPIV3Schema.properties[spec].properties[age]"
            assert cause["field"] == f"{place}.x-kubernetes-validations[0].rule"
            assert "ERROR: <input>:1:5: type 'int' does not support field selection" in cause["message"]

    run(story())


def test_heavy_rules_let_others_have_their_turn(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("ducks", "Duck", version(schema=spec_schema(list=numbers(*[PAIRS] * 16)))))
            turns = 0
            done = asyncio.Event()

            async def others() -> None:
                nonlocal turns
                while not done.is_set():
                    turns += 1
                    await asyncio.sleep(0)

            beside = asyncio.create_task(others())
            answer = await api.send("POST", path("ducks"), obj("Duck", "d", {"list": [0] * 340}))
            done.set()
            await beside
            assert answer.status == 422
            assert "running out of cost budget" in answer.body["message"]
            assert turns > 20  # a loop that is held has none

    run(story())
