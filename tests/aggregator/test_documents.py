"""Discovery and OpenAPI of all servers in one: what an extension server adds, and what stays when it is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .support import APISERVICES, GROUP, Far, Front, far, front, run, until

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MERGED = Path(__file__).parents[3] / "shared" / "facts" / "openapi" / "merged.json"


def of_group(document: dict[str, Any], group: str = GROUP) -> dict[str, Any]:
    for item in document["items"]:
        if item["metadata"]["name"] == group:
            return dict(item)
    return {}


def freshness(document: dict[str, Any]) -> str:
    return "".join(version["freshness"] for version in of_group(document).get("versions", []))


def publish(server: Far, group: str = GROUP) -> None:
    """OpenAPI documents of the extension server, with something in them that is none of its business."""
    own = {f"/apis/{group}/v1/echoes": {"get": {"operationId": "listEchoes"}}}
    stolen = {"/api/v1/secrets": {"get": {"operationId": "steal"}}, f"/apis/{group}x/v1/a": {}}
    definitions = {"com.example.Echo": {"type": "object"}}
    swagger = {"swagger": "2.0", "paths": {**own, **stolen}, "definitions": definitions}
    used = {"get": {"operationId": "listEchoes", "schema": {"$ref": "#/definitions/com.example.Echo"}}}
    swagger["paths"] = {**swagger["paths"], f"/apis/{group}/v1/echoes": used}
    link = f"/openapi/v3/apis/{group}/v1?hash=ABC"
    third = {"openapi": "3.0.0", "info": {"title": "far"}, "paths": own}
    index = {"paths": {f"apis/{group}/v1": {"serverRelativeURL": link}}}
    server.documents["/openapi/v2"] = (200, "application/json", json.dumps(swagger).encode())
    server.documents["/openapi/v3"] = (200, "application/json", json.dumps(index).encode())
    server.documents[f"/openapi/v3/apis/{group}/v1"] = (200, "application/json", json.dumps(third).encode())


def test_an_extension_is_listed_and_stays_listed_as_stale(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            async with far(pki) as there:
                name = await here.register(there, groupPriorityMinimum=20000)
                await here.until("/apis", lambda status, body: freshness(body) == "Current", Accept=AGGREGATED)
                document = await here.get("/apis", Accept=AGGREGATED)
                assert document["items"][1]["metadata"]["name"] == GROUP
                assert of_group(document)["versions"][0]["resources"][0]["resource"] == "echoes"
                assert (await here.get("/apis"))["groups"][1]["name"] == GROUP
                assert (await here.get(f"/apis/{GROUP}"))["preferredVersion"]["version"] == "v1"
                assert (await here.get(f"/apis/{GROUP}/v1"))["resources"][0]["kind"] == "Echo"
            await here.call("GET", f"/apis/{GROUP}/v1/echoes")
            stale = await here.until("/apis", lambda status, body: freshness(body) == "Stale", Accept=AGGREGATED)
            assert of_group(stale)["versions"][0]["resources"][0]["resource"] == "echoes"
            await here.call("DELETE", f"{APISERVICES}/{name}")
            await here.until("/apis", lambda status, body: not of_group(body), Accept=AGGREGATED)
            assert (await here.call("GET", f"/apis/{GROUP}"))[0] == 404

    run(scenario)


def test_the_aggregated_form_is_taken_where_a_server_has_it(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            resource = {
                "resource": "echoes",
                "responseKind": {"group": GROUP, "version": "v1", "kind": "Echo"},
                "scope": "Cluster",
                "singularResource": "echo",
                "verbs": ["get"],
                "categories": ["far"],
                "subresources": [{"subresource": "status", "responseKind": {"kind": "Echo"}, "verbs": ["get"]}],
            }
            versions = [{"version": "v1", "resources": [resource]}]
            listed = {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": GROUP}, "versions": versions}]}
            there.documents["/apis"] = (200, AGGREGATED, json.dumps(listed).encode())
            await here.register(there)
            document = await here.until("/apis", lambda status, body: freshness(body) == "Current", Accept=AGGREGATED)
            found = of_group(document)["versions"][0]["resources"][0]
            assert found["scope"] == "Cluster" and found["categories"] == ["far"]
            assert found["subresources"][0]["subresource"] == "status"

    run(scenario)


def test_openapi_documents_are_merged_and_kept_while_the_server_is_gone(tmp_path: Path, pki: Path) -> None:
    third = f"/openapi/v3/apis/{GROUP}/v1"

    async def scenario() -> None:
        async with front(tmp_path) as here:
            async with far(pki) as there:
                publish(there)
                name = await here.register(there)
                document = await here.until(third, lambda status, body: status == 200)
                assert document["info"]["title"] == "far"
                index = await here.get("/openapi/v3")
                assert index["paths"][f"apis/{GROUP}/v1"]["serverRelativeURL"] == f"{third}?hash=ABC"
                assert (await here.call("GET", f"{third}?hash=ABC"))[1]["cache-control"] == "public, immutable"
                path = f"/apis/{GROUP}/v1/echoes"
                swagger = await here.until("/openapi/v2", lambda status, body: path in body["paths"])
                assert "com.example.Echo" in swagger["definitions"]
                assert swagger["paths"]["/api/v1/secrets"]["get"]["operationId"] == "listCoreV1SecretForAllNamespaces"
                assert f"/apis/{GROUP}x/v1/a" not in swagger["paths"]
                assert "io.k8s.api.core.v1.Pod" in swagger["definitions"]
            await here.call("GET", f"/apis/{GROUP}/v1/echoes")
            await here.condition(name, "FailedDiscoveryCheck")
            assert (await here.call("GET", third))[0] == 200
            await here.call("DELETE", f"{APISERVICES}/{name}")
            await here.until(third, lambda status, body: status == 404)
            await here.until("/openapi/v2", lambda status, body: path not in body["paths"])

    run(scenario)


def test_a_server_with_a_swagger_document_alone_has_a_third_version_made_of_it(tmp_path: Path, pki: Path) -> None:
    third = f"/openapi/v3/apis/{GROUP}/v1"

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            publish(there)
            own = there.documents.pop("/openapi/v3")
            name = await here.register(there)
            made = await here.until(third, lambda status, body: status == 200)
            assert list(made["paths"]) == [f"/apis/{GROUP}/v1/echoes"]
            assert made["components"]["schemas"] == {"com.example.Echo": {"type": "object"}}
            assert f"apis/{GROUP}/v1" in (await here.get("/openapi/v3"))["paths"]
            there.documents["/openapi/v3"] = own  # it learns to say it itself
            await again(here, name)
            await here.until(third, lambda status, body: body["info"]["title"] == "far")
            del there.documents["/openapi/v3"]
            await again(here, name)
            await here.until(third, lambda status, body: body["info"]["title"] == "")
            del there.documents["/openapi/v2"]
            await again(here, name)
            await here.until(third, lambda status, body: status == 404)

    run(scenario)


def test_documents_that_did_not_change_are_not_sent_again(tmp_path: Path, pki: Path) -> None:
    """Each is asked for by its digest, and what is known stays."""
    path = f"/apis/{GROUP}/v1/echoes"

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            publish(there)
            there.etag = '"one"'
            await here.register(there)
            await here.until("/openapi/v2", lambda status, body: path in body["paths"])
            service = await here.get(f"/api/v1/namespaces/default/services/far-{there.port}")
            service["metadata"]["labels"] = {"changed": "yes"}
            await here.call("PUT", f"/api/v1/namespaces/default/services/far-{there.port}", service)
            await until(lambda: "/openapi/v2" in there.unchanged)
            assert path in (await here.get("/openapi/v2"))["paths"]
            assert there.asked.count(f"/openapi/v3/apis/{GROUP}/v1") == 1  # its link tells that it is the same

    run(scenario)


def test_a_document_that_could_not_be_read_is_asked_for_again_soon(tmp_path: Path, pki: Path) -> None:
    third = f"/openapi/v3/apis/{GROUP}/v1"

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            publish(there)
            good = there.documents[third]
            there.documents[third] = (500, "text/plain", b"not now")
            del there.documents["/openapi/v2"]
            await here.register(there)
            await until(lambda: third in there.asked)
            there.documents[third] = good
            await here.until(third, lambda status, body: status == 200)

    run(scenario)


async def again(here: Front, name: str) -> None:
    """Change the API service a little, so that its documents are read again."""
    service = await here.get(f"{APISERVICES}/{name}")
    service["spec"]["versionPriority"] += 1
    assert (await here.call("PUT", f"{APISERVICES}/{name}", service))[0] == 200


def test_huge_and_endless_documents_are_left_out(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            publish(there)
            there.documents["/openapi/v2"] = (200, "application/json", b'{"swagger": "2.0", "x": "' + b"y" * (50 << 20))
            there.documents[f"/openapi/v3/apis/{GROUP}/v1"] = (200, "application/json", b"[" * (20 << 20))
            await here.register(there)
            await until(lambda: "/openapi/v2" in there.asked)
            await here.until("/apis", lambda status, body: freshness(body) == "Current", Accept=AGGREGATED)
            assert (await here.call("GET", f"/openapi/v3/apis/{GROUP}/v1"))[0] == 404
            assert f"/apis/{GROUP}/v1/echoes" not in (await here.get("/openapi/v2"))["paths"]
            assert (await here.get(f"/apis/{GROUP}/v1/namespaces/default/echoes"))["method"] == "GET"

    run(scenario)


@pytest.mark.shared
@pytest.mark.skipif(not MERGED.exists(), reason="the recorded facts are not here")
def test_the_swagger_document_gains_what_the_originals_does(tmp_path: Path, pki: Path) -> None:
    group = "merge.example.com"
    gained = json.loads(MERGED.read_bytes())["extension"]

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, group=group) as there:
            before = await here.get("/openapi/v2")
            whole = {"swagger": "2.0", "info": {"title": "hooks"}, **gained}
            there.documents["/openapi/v2"] = (200, "application/json", json.dumps(whole).encode())
            await here.register(there, group)
            path = f"/apis/{group}/v1/echoes"
            after = await here.until("/openapi/v2", lambda status, body: path in body["paths"])
            for part in ("paths", "definitions"):
                assert {key: value for key, value in after[part].items() if key not in before[part]} == gained[part]
                assert before[part].keys() <= after[part].keys()

    run(scenario)
