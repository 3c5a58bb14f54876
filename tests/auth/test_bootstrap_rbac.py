"""The default roles and bindings come back at every start, and what was added to them stays."""

from __future__ import annotations

from pathlib import Path

from asked import rule
from running import RBAC, run, server

MERGE = "application/merge-patch+json"
AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
DISCOVERY = f"{RBAC}/clusterroles/system:discovery"
BASIC = f"{RBAC}/clusterroles/system:basic-user"
BOUND = f"{RBAC}/clusterrolebindings/system:discovery"


def test_what_was_taken_away_comes_back_and_what_was_added_stays(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path, storage="sqlite") as api:
            _, role = await api.send("admin", f"GET {DISCOVERY}")
            lost, kept = role["rules"][0]["nonResourceURLs"][0], role["rules"][0]["nonResourceURLs"][1:]
            own = rule("get", "pods")
            rules = [own, {"nonResourceURLs": kept, "verbs": ["get"]}]
            changed = {"rules": rules, "metadata": {"labels": None, "annotations": {"mine": "x"}}}
            assert (await api.send("admin", f"PATCH {DISCOVERY}", changed, MERGE))[0] == 200
            subjects = [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}]
            assert (await api.send("admin", f"PATCH {BOUND}", {"subjects": subjects}, MERGE))[0] == 200
            await api.send("admin", f"DELETE {RBAC}/clusterroles/view")
            assert (await api.send("bob", "GET /api"))[0] == 403
        async with server(tmp_path, storage="sqlite") as api:
            _, role = await api.send("admin", f"GET {DISCOVERY}")
            assert role["rules"] == [*rules, {"nonResourceURLs": [lost], "verbs": ["get"]}]
            assert role["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
            assert role["metadata"]["annotations"] == {AUTO_UPDATE: "true", "mine": "x"}
            _, binding = await api.send("admin", f"GET {BOUND}")
            assert [subject["name"] for subject in binding["subjects"]] == ["jane", "system:authenticated"]
            assert (await api.send("admin", f"GET {RBAC}/clusterroles/view"))[0] == 200
            assert (await api.send("bob", "GET /api"))[0] == 200
            _, before = await api.send("admin", f"GET {BASIC}")
        async with server(tmp_path, storage="sqlite") as api:
            _, after = await api.send("admin", f"GET {BASIC}")
            assert after == before, "what is whole is not written again"

    run(test())


def test_a_binding_to_another_role_is_made_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path, storage="sqlite") as api:
            await api.send("admin", f"DELETE {BOUND}")
            role = {"kind": "ClusterRole", "name": "cluster-admin"}
            body = {"metadata": {"name": "system:discovery"}, "roleRef": role, "subjects": []}
            assert (await api.send("admin", f"POST {RBAC}/clusterrolebindings", body))[0] == 201
        async with server(tmp_path, storage="sqlite") as api:
            _, binding = await api.send("admin", f"GET {BOUND}")
            assert binding["roleRef"]["name"] == "system:discovery"
            assert [subject["name"] for subject in binding["subjects"]] == ["system:authenticated"]

    run(test())


def test_what_its_owner_wants_left_alone_is_left_alone(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path, storage="sqlite") as api:
            changed = {"rules": [], "metadata": {"annotations": {AUTO_UPDATE: "false"}}}
            assert (await api.send("admin", f"PATCH {BASIC}", changed, MERGE))[0] == 200
        async with server(tmp_path, storage="sqlite") as api:
            _, role = await api.send("admin", f"GET {BASIC}")
            assert not role["rules"]

    run(test())
