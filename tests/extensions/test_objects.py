"""What happens to a custom object on its way in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from builtin.inside import Inside, run, server
from extensions.crds import define, definition, obj, path, spec_schema, version

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
MERGE = "application/merge-patch+json"


async def _ducks(api: Inside, schema: Any, **more: Any) -> None:
    await define(api, definition("ducks", "Duck", version(schema=schema, **more)))


def test_unknown_fields_are_pruned_and_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(age=NUMBER))
            body = obj("Duck", "d", {"age": 1, "b": 2}, a=1)
            reply = await api.send("POST", path("ducks"), body)
            assert (reply["spec"], "a" in reply.body) == ({"age": 1}, False)
            assert 'unknown field \\"spec.b\\"' in reply.headers["warning"]  # the last one
            strict = await api.send("POST", path("ducks") + "?fieldValidation=Strict", body)
            assert strict["message"].endswith('strict decoding error: unknown field "a", unknown field "spec.b"')

    run(story())


def test_what_is_too_deep_for_some_form_is_not_stored(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
            for levels, status in ((100, 201), (260, 400), (600, 400)):
                deep: Any = 1
                for _ in range(levels):
                    deep = {"a": deep}
                reply = await api.send(
                    "POST", path("ducks"), json.dumps(obj("Duck", f"d{levels}", {"x": deep})).encode()
                )
                assert reply.status == status
                assert status == 201 or reply["message"] == "the object is nested more than 254 levels deep"

    run(story())


def test_status_and_scale_are_doors_of_their_own(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
            schema = {"properties": {"spec": {"type": "object", "properties": {"size": NUMBER}}}}
            schema["properties"]["status"] = {"type": "object", "properties": {"size": NUMBER}}
            await _ducks(api, schema, subresources={"status": {}, "scale": scale})
            made = await api.make(path("ducks"), obj("Duck", "d", {"size": 1}, status={"size": 9}))
            assert "status" not in made
            merge = {"spec": {"size": 7}, "status": {"size": 2}}
            kind = "application/merge-patch+json"
            patched = await api.send("PATCH", path("ducks", "d/status"), merge, kind=kind)
            assert (patched["spec"], patched["status"]) == ({"size": 1}, {"size": 2})
            scaled = await api.send("PATCH", path("ducks", "d/scale"), {"spec": {"replicas": 4}}, kind=kind)
            assert (scaled["kind"], scaled["status"]) == ("Scale", {"replicas": 2})
            found = await api.get(path("ducks", "d"))
            assert (found["spec"], found["metadata"]["generation"]) == ({"size": 4}, 2)
            refused = await api.send("PATCH", path("ducks", "d/scale"), {"spec": {"replicas": -1}}, kind=kind)
            assert refused["details"]["causes"][0]["field"] == ".spec.size"

    run(story())


def test_a_patch_makes_no_other_kind(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(age=NUMBER))
            made = await api.make(path("ducks"), obj("Duck", "d", {"age": 1}))
            version = made["apiVersion"]

            async def told(patch: Any) -> str:
                reply = await api.send("PATCH", path("ducks", "d"), patch, kind=MERGE)
                assert reply.status == 422
                return str(reply["message"])

            group = version.partition("/")[0]
            assert await told({"kind": "Goose"}) == (
                f'Goose.{group} "d" is invalid: kind: Invalid value: "Goose": must be Duck'
            )
            assert await told({"apiVersion": "x/v1"}) == (
                f'Duck.x "d" is invalid: apiVersion: Invalid value: "x/v1": must be {version}'
            )
            assert "Object 'Kind' is missing in '{" in await told({"kind": None})

    run(story())


def test_a_broken_spec_does_not_hinder_its_status(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            schema = spec_schema(age=NUMBER)
            schema["properties"]["status"] = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
            await _ducks(api, schema, subresources={"status": {}})
            await api.make(path("ducks"), obj("Duck", "d", {"age": 1}))
            body = {"status": {"n": -1}}
            refused = await api.send("PATCH", path("ducks", "d/status"), body, kind="application/merge-patch+json")
            cause = refused["details"]["causes"][0]
            assert (cause["field"], "n in body should be" in cause["message"]) == ("status.n", True)

    run(story())


def test_equal_updates_write_nothing_whatever_the_order_of_members(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(a=TEXT, b=TEXT))
            made = await api.make(path("ducks"), obj("Duck", "d", {"a": "1", "b": "2"}))
            again = {**made, "spec": {"b": "2", "a": "1"}}
            reply = await api.send("PUT", path("ducks", "d"), again)
            assert reply["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]

    run(story())


def test_lists_are_owned_as_their_schema_says(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            item = {"type": "object", "properties": {"name": TEXT, "n": NUMBER}, "required": ["name"]}
            keyed = {
                "type": "array",
                "items": item,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            }
            await _ducks(api, spec_schema(eggs=keyed))
            for manager, name in (("one", "a"), ("two", "b")):
                where = path("ducks", "d") + f"?fieldManager={manager}"
                body = obj("Duck", "d", {"eggs": [{"name": name, "n": 1}]})
                await api.send("PATCH", where, body, kind="application/apply-patch+yaml")
            found = await api.get(path("ducks", "d"))
            assert [egg["name"] for egg in found["spec"]["eggs"]] == ["a", "b"]
            body = obj("Duck", "d", {"eggs": [{"name": "a", "n": 2}]})
            kind = "application/apply-patch+yaml"
            clash = await api.send("PATCH", path("ducks", "d") + "?fieldManager=two", body, kind=kind)
            assert clash.status == 409

    run(story())


def test_strategic_patches_are_for_known_types(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(a=TEXT))
            await api.make(path("ducks"), obj("Duck", "d"))
            kind = "application/strategic-merge-patch+json"
            reply = await api.send("PATCH", path("ducks", "d"), {"spec": {}}, kind=kind)
            assert reply.status == 415
            assert "application/merge-patch+json" in reply["message"]

    run(story())


def test_tightened_schemas_leave_old_values_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(code=TEXT, note=TEXT))
            await api.make(path("ducks"), obj("Duck", "d", {"code": "long"}))
            await api.send(
                "PATCH",
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ducks.farm.example.com",
                {"spec": {"versions": [version(schema=spec_schema(code={**TEXT, "maxLength": 2}, note=TEXT))]}},
                kind="application/merge-patch+json",
            )
            kind = "application/merge-patch+json"
            for _ in range(200):
                probe = await api.send("POST", path("ducks") + "?dryRun=All", obj("Duck", "e", {"code": "long"}))
                if probe.status == 422:
                    break
            assert (await api.send("PATCH", path("ducks", "d"), {"spec": {"note": "n"}}, kind=kind)).status == 200
            assert (await api.send("PATCH", path("ducks", "d"), {"spec": {"code": "more"}}, kind=kind)).status == 422

    run(story())


def test_selectable_fields_select(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(hue=TEXT), selectableFields=[{"jsonPath": ".spec.hue"}])
            for name, hue in (("a", "red"), ("b", "blue")):
                await api.make(path("ducks"), obj("Duck", name, {"hue": hue}))
            found = await api.get(path("ducks") + "?fieldSelector=spec.hue%3Dred")
            assert [one["metadata"]["name"] for one in found["items"]] == ["a"]
            refused = await api.send("GET", path("ducks") + "?fieldSelector=spec.size%3D1")
            assert refused["message"] == "field label not supported: spec.size"

    run(story())


def test_options_of_a_delete_need_no_kind(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(a=TEXT))
            await api.make(path("ducks"), obj("Duck", "d"))
            assert (await api.send("DELETE", path("ducks", "d"), {"propagationPolicy": "Background"})).status == 200
            assert (await api.send("POST", path("ducks"), {"metadata": {"name": "e"}})).status == 400

    run(story())


def test_a_refused_patch_shows_what_it_made(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, spec_schema(a=TEXT, b={**TEXT, "default": "x"}))
            await api.make(path("ducks"), obj("Duck", "d", {"a": "1"}))
            where = path("ducks", "d") + "?fieldValidation=Strict"
            patch = {"spec": {"b": None, "colour": "red"}}
            refused = await api.send("PATCH", where, patch, kind="application/merge-patch+json")
            assert '\\"spec\\":{\\"a\\":\\"1\\",\\"colour\\":\\"red\\"}' in refused["message"]

    run(story())


def test_a_whole_number_written_as_a_float_is_another_value(tmp_path: Path) -> None:
    """It is stored as an integer, so the object looks the same, but its generation says that it was changed."""

    async def story() -> None:
        async with server(tmp_path) as api:
            schema = spec_schema(age=NUMBER, **{"x-open": {"x-kubernetes-preserve-unknown-fields": True}})
            schema["properties"]["status"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
            await _ducks(api, schema, subresources={"status": {}})
            await api.make(path("ducks"), obj("Duck", "d", {"age": 3}))
            for generation, spec in ((2, {"age": 3.0}), (2, {"age": 3}), (3, {"x-open": [3.0]}), (3, {})):
                patched = await api.send("PATCH", path("ducks", "d"), {"spec": spec}, kind=MERGE)
                assert (patched["metadata"]["generation"], patched["spec"]["age"]) == (generation, 3)
            for generation, age in ((3, 3), (4, 3.0), (5, 3.0)):
                found = (await api.get(path("ducks", "d"))) | {"spec": {"age": age, "x-open": [3]}}
                put = await api.send("PUT", path("ducks", "d"), found)
                assert put["metadata"]["generation"] == generation
            status = await api.send("PATCH", path("ducks", "d"), {"status": {"n": 3.0}}, kind=MERGE)
            assert status["metadata"]["generation"] == 5

    run(story())


def test_true_in_the_place_of_one_is_a_change(tmp_path: Path) -> None:
    """Python holds them for equal."""

    async def story() -> None:
        async with server(tmp_path) as api:
            await _ducks(api, {"x-kubernetes-preserve-unknown-fields": True}, subresources={"status": {}})
            await api.make(path("ducks"), obj("Duck", "d", {"a": 1, "list": [0], "deep": {"b": True}}))
            for spec in ({"a": True}, {"list": [False]}, {"deep": {"b": 1}}):
                before = (await api.get(path("ducks", "d")))["metadata"]
                where = path("ducks", "d") + "?fieldManager=other"
                patched = await api.send("PATCH", where, {"spec": spec}, kind=MERGE)
                assert patched["metadata"]["generation"] == before["generation"] + 1
                shown = patched["spec"]
                assert all(repr(value) in repr(shown) for value in spec.values())
            owned = {one["manager"]: one["fieldsV1"]["f:spec"] for one in patched["metadata"]["managedFields"]}
            assert owned["other"] == {"f:a": {}, "f:deep": {"f:b": {}}, "f:list": {}}
            applied = {"apiVersion": patched["apiVersion"], "kind": "Duck", "metadata": {"name": "d"}, "spec": {"a": 1}}
            where = path("ducks", "d") + "?fieldManager=third"
            refused = await api.send("PATCH", where, applied, kind="application/apply-patch+yaml")
            assert [cause["field"] for cause in refused["details"]["causes"]] == [".spec.a"]

    run(story())
