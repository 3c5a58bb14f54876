"""A definition makes its objects served, and its end ends them."""

from __future__ import annotations

from pathlib import Path

from builtin.inside import Inside, run, server
from extensions.crds import (
    DEFINITIONS,
    GROUP,
    condition,
    define,
    definition,
    gone,
    obj,
    path,
    spec_schema,
    until,
    version,
)


def test_objects_are_served_once_names_are_accepted(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            assert (await api.send("GET", path("ducks"))).status == 404
            made = await define(api, definition("ducks", "Duck", version(schema=spec_schema(age={"type": "integer"}))))
            assert made["status"]["acceptedNames"]["listKind"] == "DuckList"
            await api.make(path("ducks"), obj("Duck", "d", {"age": 3}))
            listed = await api.get(path("ducks"))
            assert (listed["kind"], len(listed["items"])) == ("DuckList", 1)
            assert (await api.get(path("ducks", "d")))["spec"] == {"age": 3}

    run(story())


def test_discovery_and_documents_follow_the_definition(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("ducks", "Duck", version(subresources={"status": {}}), shortNames=["dk"]))
            listed = await until(
                api, f"/apis/{GROUP}/v1", lambda found: isinstance(found, dict) and "resources" in found
            )
            assert [one["name"] for one in listed["resources"]] == ["ducks", "ducks/status"]
            assert listed["resources"][0]["shortNames"] == ["dk"]
            document = await api.get(f"/openapi/v3/apis/{GROUP}/v1")
            assert "com.example.farm.v1.Duck" in document["components"]["schemas"]
            await api.send("DELETE", f"{DEFINITIONS}/ducks.{GROUP}")
            await until(api, f"/apis/{GROUP}/v1", lambda found: not isinstance(found, dict))
            assert (await api.send("GET", f"/openapi/v3/apis/{GROUP}/v1")).status == 404

    run(story())


def test_the_end_of_a_definition_is_the_end_of_its_objects(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("ducks", "Duck"))
            await api.make(path("ducks"), obj("Duck", "d"))
            deleted = (await api.send("DELETE", f"{DEFINITIONS}/ducks.{GROUP}")).body
            assert condition(deleted, "Terminating") == "True"
            await until(api, f"{DEFINITIONS}/ducks.{GROUP}", gone)
            await define(api, definition("ducks", "Duck"))
            assert (await api.get(path("ducks")))["items"] == []

    run(story())


def test_a_held_object_holds_its_definition(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("ducks", "Duck"))
            held = obj("Duck", "d")
            held["metadata"]["finalizers"] = ["example.com/held"]
            await api.make(path("ducks"), held)
            await api.send("DELETE", f"{DEFINITIONS}/ducks.{GROUP}")
            await until(api, path("ducks", "d"), lambda found: "deletionTimestamp" in found["metadata"])
            refused = await api.send("POST", path("ducks"), obj("Duck", "late"))
            assert refused.status == 403
            free = {"metadata": {"finalizers": None}}
            await api.send("PATCH", path("ducks", "d"), free, kind="application/merge-patch+json")
            await until(api, f"{DEFINITIONS}/ducks.{GROUP}", gone)

    run(story())


def test_a_name_that_is_taken_waits_until_it_is_free(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("ducks", "Duck"))
            where = f"{DEFINITIONS}/birds.{GROUP}"
            await api.make(DEFINITIONS, definition("birds", "Duck", listKind="BirdList"))
            await until(api, where, lambda found: condition(found, "NamesAccepted") == "False")
            assert (await api.send("GET", path("birds"))).status == 404
            await api.send("DELETE", f"{DEFINITIONS}/ducks.{GROUP}")
            await until(api, where, lambda found: condition(found, "Established") == "True")
            assert (await api.get(path("birds")))["kind"] == "BirdList"

    run(story())


def test_unserved_versions_subresources_and_scopes_do_not_exist(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            off = {**version("v2"), "served": False, "storage": False}
            await define(api, definition("ducks", "Duck", version(), off))
            assert (await api.send("GET", path("ducks", version="v2"))).body == "404 page not found\n"
            assert (await api.send("GET", path("ducks", "d/status"))).body["reason"] == "NotFound"
            assert (await api.send("DELETE", path("ducks", namespace=""))).body == "404 page not found\n"
            await api.make(path("ducks"), obj("Duck", "d"))
            assert (await api.send("DELETE", path("ducks"), {"kind": "DeleteOptions"})).status == 200

    run(story())


async def _patch(api: Inside, where: str, patch: object) -> int:
    return (await api.send("PATCH", where, patch, kind="application/json-patch+json")).status  # type: ignore[arg-type]


def test_objects_from_before_a_change_are_read_under_the_new_schema(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            schema = spec_schema(age={"type": "integer"}, old={"type": "string"})
            await define(api, definition("ducks", "Duck", version(schema=schema)))
            await api.make(path("ducks"), obj("Duck", "d", {"age": 3, "old": "x"}))
            properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
            changes = [
                {"op": "remove", "path": f"{properties}/old"},
                {"op": "add", "path": f"{properties}/home", "value": {"type": "string", "default": "pond"}},
            ]
            assert await _patch(api, f"{DEFINITIONS}/ducks.{GROUP}", changes) == 200
            wanted = {"age": 3, "home": "pond"}
            await until(api, path("ducks", "d"), lambda found: found["spec"] == wanted)
            assert (await api.get(path("ducks")))["items"][0]["spec"] == wanted
            assert (await api.get(path("ducks", "d")))["metadata"]["generation"] == 1

    run(story())


def test_each_version_has_its_schema_and_the_storage_version_decides_what_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            one = version("v1", spec_schema(old={"type": "string"}, size={"type": "integer", "default": 1}))
            two = version("v2", spec_schema(new={"type": "string"}, size={"type": "integer", "minimum": 5}))
            await define(api, definition("ducks", "Duck", one, {**two, "storage": False}))
            await api.make(path("ducks"), obj("Duck", "d", {"old": "x"}))
            seen = await api.get(path("ducks", "d", "v2"))
            assert (seen["apiVersion"], seen["spec"]) == (f"{GROUP}/v2", {"size": 1})
            made = await api.make(path("ducks", version="v2"), obj("Duck", "e", {"new": "y", "size": 6}, "v2"))
            assert made["spec"] == {"size": 6}
            refused = await api.send("POST", path("ducks", version="v2"), obj("Duck", "f", {"size": 4}, "v2"))
            assert refused.body["details"]["causes"][0]["field"] == "spec.size"

    run(story())
