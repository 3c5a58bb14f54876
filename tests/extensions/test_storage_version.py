"""When another version of a definition becomes the one that is stored, objects move with their next write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builtin.inside import Inside, run, server
from extensions.crds import DEFINITIONS, GROUP, define, definition, obj, path, version

WHOLE = {"x-kubernetes-preserve-unknown-fields": True}


async def moved_to_v2(api: Inside) -> None:
    """A definition whose one object was stored as v1, now stored as v2."""
    await define(api, definition("ducks", "Duck", version("v1", WHOLE), version("v2", WHOLE, storage=False)))
    await api.make(path("ducks"), obj("Duck", "d", {"age": 3}))
    found = await api.get(f"{DEFINITIONS}/ducks.{GROUP}")
    found["spec"]["versions"][0]["storage"] = False
    found["spec"]["versions"][1]["storage"] = True
    reply = await api.send("PUT", f"{DEFINITIONS}/ducks.{GROUP}", found)
    assert reply.status == 200, reply.body
    assert reply.body["status"]["storedVersions"] == ["v1", "v2"]


async def put(api: Inside, asked: str) -> Any:
    where = path("ducks", "d", asked)
    return await api.send("PUT", where, await api.get(where))


async def patched(api: Inside, asked: str) -> Any:
    return await api.send("PATCH", path("ducks", "d", asked), {}, kind="application/merge-patch+json")


@pytest.mark.parametrize("write", [put, patched])
@pytest.mark.parametrize("asked", ["v1", "v2"])
def test_a_write_that_changes_nothing_moves_an_object_once(tmp_path: Path, asked: str, write: Any) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await moved_to_v2(api)
            before = await api.get(path("ducks", "d", asked))
            first = await write(api, asked)
            assert first.status == 200, first.body
            assert first["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
            assert first["metadata"]["generation"] == before["metadata"]["generation"]
            assert (first["apiVersion"], first["spec"]) == (f"{GROUP}/{asked}", {"age": 3})
            again = await write(api, asked)
            assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
            for each in ("v1", "v2"):
                shown = await api.get(path("ducks", "d", each))
                assert (shown["apiVersion"], shown["spec"]) == (f"{GROUP}/{each}", {"age": 3})

    run(story())
