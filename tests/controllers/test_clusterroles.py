"""Aggregated ClusterRoles have the rules of the roles that their selectors take."""

from __future__ import annotations

from pathlib import Path

from pilothouse.controllers import names

from .servers import Object, run, server

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def rule(resource: str) -> Object:
    return {"apiGroups": ["example.com"], "resources": [resource], "verbs": ["get"]}


def test_rules_come_and_go_with_the_roles_that_are_selected(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path, names.CLUSTER_ROLE) as admin:
            selectors = [{"matchLabels": {"to": "both"}}, {"matchExpressions": [{"key": "also", "operator": "Exists"}]}]
            await admin.make(ROLES, "both", aggregationRule={"clusterRoleSelectors": selectors}, rules=[])
            await admin.make(ROLES, "two", labels={"to": "both"}, rules=[rule("two"), rule("shared")])
            await admin.make(ROLES, "one", labels={"to": "both"}, rules=[rule("one"), rule("shared")])
            await admin.make(ROLES, "more", labels={"also": "x"}, rules=[rule("more")])
            await admin.make(ROLES, "other", labels={"to": "another"}, rules=[rule("other")])
            wanted = [rule("one"), rule("shared"), rule("two"), rule("more")]
            role = await admin.there(f"{ROLES}/both", lambda found: found.get("rules") == wanted)
            managers = {entry["manager"]: entry["operation"] for entry in role["metadata"]["managedFields"]}
            assert managers["clusterrole-aggregation-controller"] == "Apply"
            await admin.remove(f"{ROLES}/one")
            wanted = [rule("two"), rule("shared"), rule("more")]
            await admin.there(f"{ROLES}/both", lambda found: found.get("rules") == wanted)

    run(story())


def test_the_roles_of_users_are_made_of_the_parts_that_a_server_starts_with(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            for name in ("admin", "edit", "view"):
                await admin.there(f"{ROLES}/{name}", lambda found: len(found.get("rules") or ()) > 1)

    run(story())
