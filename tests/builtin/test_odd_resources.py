"""Resources that keep nothing, and subresources of a kind of their own, through a whole server."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from inside import Inside, run, server
from joserfc import jws
from joserfc.jwk import KeySet

from pilothouse.builtin.core.componentstatuses import computed
from pilothouse.builtin.virtuals import NothingKept
from pilothouse.storage.api import ListRequest

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
POD = {"containers": [{"name": "c", "image": "i"}], "serviceAccountName": "robot"}


async def account(inside: Inside, spec: dict[str, Any] | None = None, name: str = "robot") -> dict[str, Any]:
    await inside.send("POST", ACCOUNTS, {"metadata": {"name": name}})
    return await inside.make(f"{ACCOUNTS}/{name}/token", {"spec": spec or {}})


def claims(token: str) -> dict[str, Any]:
    text = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


def test_a_token_opens_the_server_until_its_account_is_gone(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            token = (await account(inside))["status"]["token"]
            me = await inside.make(WHO_AM_I, {}, token=token)
            assert me["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
            fresh = (await account(inside))["status"]["token"]
            await inside.send("DELETE", f"{ACCOUNTS}/robot")
            assert (await inside.send("GET", "/version", token=fresh)).status == 401

    run(test())


def test_others_can_verify_the_token(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            token = (await account(inside))["status"]["token"]
            configuration = await inside.send("GET", "/.well-known/openid-configuration")
            assert configuration["issuer"] == claims(token)["iss"]
            assert configuration.headers["cache-control"] == "public, max-age=3600"
            assert (await inside.send("GET", "/openid/v1/jwks")).status == 406
            keys = await inside.send("GET", "/openid/v1/jwks", accept="application/jwk-set+json")
            assert keys.headers["content-type"] == "application/jwk-set+json"
            assert jws.deserialize_compact(token, KeySet.import_key_set(keys.body))

    run(test())


def test_the_token_of_a_pod_tells_its_node_and_lives_longer_for_kubelets(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            node = await inside.make("/api/v1/nodes", {"metadata": {"name": "n1"}})
            await inside.send("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
            pod = await inside.make(
                "/api/v1/namespaces/default/pods", {"metadata": {"name": "web"}, "spec": {**POD, "nodeName": "n1"}}
            )
            bound = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
            made = await account(inside, {"expirationSeconds": 3607, "boundObjectRef": bound})
            said = claims(made["status"]["token"])
            private = said["kubernetes.io"]
            assert private["pod"] == {"name": "web", "uid": pod["metadata"]["uid"]}
            assert private["node"] == {"name": "n1", "uid": node["metadata"]["uid"]}
            assert said["exp"] - said["iat"] == 365 * 24 * 3600
            assert private["warnafter"] - said["iat"] == 3607
            other = await account(inside, {"expirationSeconds": 3607, "boundObjectRef": bound, "audiences": ["vault"]})
            said = claims(other["status"]["token"])
            assert said["exp"] - said["iat"] == 3607
            assert "warnafter" not in said["kubernetes.io"]

    run(test())


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        ({"expirationSeconds": 599}, 422, "may not specify a duration less than 10 minutes"),
        ({"boundObjectRef": {"kind": "Pod", "name": "none"}}, 404, 'pods "none" not found'),
        ({"boundObjectRef": {"kind": "Pod", "name": ""}}, 400, "Name parameter required."),
        ({"boundObjectRef": {"kind": "ConfigMap", "name": "a"}}, 400, "object of type /, Kind=ConfigMap"),
        ({"boundObjectRef": {"kind": "Pod", "apiVersion": "apps/v1"}}, 400, "object of type apps/v1, Kind=Pod"),
    ],
)  # fmt: skip
def test_a_token_is_refused_with_the_reason(tmp_path: Path, spec: dict[str, Any], status: int, message: str) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await inside.send("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
            reply = await inside.send("POST", f"{ACCOUNTS}/robot/token", {"spec": spec})
            assert (reply.status, message in reply["message"]) == (status, True), reply.body

    run(test())


def test_longer_lives_than_allowed_are_cut(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path, service_account_max_token_expiration=3600) as inside:
            made = await account(inside, {"expirationSeconds": 7200})
            said = claims(made["status"]["token"])
            assert said["exp"] - said["iat"] == 3600 == made["spec"]["expirationSeconds"]

    run(test())


def test_reviews_answer_and_keep_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            reply = await inside.make(TOKEN_REVIEWS, {"spec": {"token": "alice-token more"}})
            assert reply["status"]["user"]["username"] == "alice"
            unknown = await inside.make(TOKEN_REVIEWS, {"spec": {"token": " "}})
            assert unknown["status"] == {"user": {}, "error": "invalid bearer token"}
            asked = {
                "user": "bob",
                "resourceAttributes": {"verb": "list", "resource": "pods", "labelSelector": {"rawSelector": "(("}},
            }
            review = await inside.make(ACCESS, {"spec": asked})
            assert review["status"]["evaluationError"].startswith("spec.resourceAttributes.labelSelector ignored")
            assert (await inside.send("GET", ACCESS)).status == 405
            assert (await inside.send("GET", f"{ACCESS}/a")).status == 404

    run(test())


def test_a_pod_is_bound_by_both_paths(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await inside.send("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
            for name, path in (("a", "pods/a/binding"), ("b", "bindings")):
                await inside.make("/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": POD})
                await inside.make(
                    f"/api/v1/namespaces/default/{path}", {"metadata": {"name": name}, "target": {"name": "n1"}}
                )
                pod = await inside.get(f"/api/v1/namespaces/default/pods/{name}")
                assert pod["spec"]["nodeName"] == "n1"

    run(test())


def test_a_bound_pod_is_scheduled_and_nominated_no_more(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await inside.send("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
            pods = "/api/v1/namespaces/default/pods"
            pod = await inside.make(pods, {"metadata": {"name": "a"}, "spec": POD})
            conditions = [{"type": kind, "status": "False"} for kind in ("PodScheduled", "Ready")]
            pod["status"].update(nominatedNodeName="n1", conditions=conditions)
            await inside.send("PUT", f"{pods}/a/status", pod)
            await inside.make(f"{pods}/a/binding", {"metadata": {"name": "a"}, "target": {"name": "n1"}})
            status = (await inside.get(f"{pods}/a"))["status"]
            assert "nominatedNodeName" not in status
            assert [(one["type"], one["status"]) for one in status["conditions"]] == [
                ("PodScheduled", "True"),
                ("Ready", "False"),
            ]

    run(test())


def test_component_statuses_tell_what_probes_say() -> None:
    async def well() -> str:
        return "ok"

    async def ill() -> str:
        raise OSError("connection refused")

    async def test() -> None:
        storage = computed(NothingKept("/c/"), {"etcd-0": well, "scheduler": ill})
        page = await storage.list(ListRequest("/c/"))
        conditions = [json.loads(item.value)["conditions"][0] for item in page.items]
        assert [(one["status"], one["message"]) for one in conditions] == [
            ("True", "ok"),
            ("False", "connection refused"),
        ]

    asyncio.run(test())


def test_component_statuses_are_listed_and_deprecated(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            reply = await inside.send("GET", "/api/v1/componentstatuses")
            assert "deprecated" in reply.headers["warning"]
            assert reply["metadata"] == {}
            assert [item["metadata"]["name"] for item in reply["items"]] == [
                "etcd-0",
                "controller-manager",
                "scheduler",
            ]
            assert (await inside.send("GET", "/api/v1/componentstatuses/none"))[
                "message"
            ] == 'componentstatus "none" not found'

    run(test())


def test_pods_are_found_by_the_old_name_of_their_node(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            pods = "/api/v1/namespaces/default/pods"
            await account(inside)
            await inside.make(pods, {"metadata": {"name": "here"}, "spec": {**POD, "nodeName": "n1"}})
            await inside.make(pods, {"metadata": {"name": "nowhere"}, "spec": POD})
            answer = await inside.send("GET", f"{pods}?fieldSelector=spec.host%3Dn1")
            assert [one["metadata"]["name"] for one in answer.body["items"]] == ["here"]

    run(test())


def test_a_budget_that_remembers_too_many_pods_is_broken(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            space = "/api/v1/namespaces/default"
            await account(inside)
            made = await inside.make(f"{space}/pods", {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": POD})
            running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            await inside.send("PUT", f"{space}/pods/p/status", {**made, "status": running})
            budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
            spec = {"selector": {"matchLabels": {"a": "b"}}}
            budget = await inside.make(budgets, {"metadata": {"name": "b"}, "spec": spec})
            pods = {f"p{number}": "2026-01-01T00:00:00Z" for number in range(2001)}
            status = {"observedGeneration": 1, "disruptionsAllowed": 1, "disruptedPods": pods}
            status |= {"currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
            assert (await inside.send("PUT", f"{budgets}/b/status", {**budget, "status": status})).status == 200
            answer = await inside.send("POST", f"{space}/pods/p/eviction", {"metadata": {"name": "p"}})
            assert answer.status == 403
            assert answer.body["message"].startswith('poddisruptionbudget.policy "b" is forbidden: DisruptedPods map')
            assert answer.body["details"]["causes"][0]["reason"] == "DisruptionBudgetTooManyDisruptedPods"

    run(test())
