"""A whole server with Node and RBAC: rights are asked for, and follow what is stored."""

from __future__ import annotations

from pathlib import Path

from asked import rule
from running import RBAC, run, server

APPLY = "application/apply-patch+yaml"


def test_a_new_server_lets_everybody_look_around_and_nobody_further(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            assert (await api.send("", "GET /version"))[0] == 200
            status, body = await api.send("", "GET /api")
            assert (status, body["message"]) == (403, 'forbidden: User "system:anonymous" cannot get path "/api"')
            assert (await api.send("bob", "GET /api"))[0] == 200
            assert (await api.send("bob", "GET /api/v1/namespaces/default/pods"))[0] == 403
            assert (await api.send("admin", "GET /api/v1/namespaces/default/pods"))[0] == 200

    run(test())


def test_rights_follow_roles_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give("bob", "default", rule("list", "configmaps", names="mine"))
            everything = "GET /api/v1/namespaces/default/configmaps"
            assert (await api.send("bob", everything))[0] == 403
            assert (await api.send("bob", f"{everything}?fieldSelector=metadata.name%3Dmine"))[0] == 200
            narrower = "metadata.namespace%3Ddefault,metadata.name%3Dmine"
            assert (await api.send("bob", f"{everything}?fieldSelector={narrower}"))[0] == 200
            await api.send("admin", f"DELETE {RBAC}/namespaces/default/rolebindings/bob")
            assert (await api.send("bob", f"{everything}?fieldSelector=metadata.name%3Dmine"))[0] == 403

    run(test())


def test_making_an_object_by_put_or_apply_needs_create(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give("bob", "default", rule("update patch", "leases configmaps", "coordination.k8s.io core"))
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}
            put = "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/l"
            status, body = await api.send("bob", put, lease)
            assert status == 403
            assert 'leases.coordination.k8s.io "l" is forbidden: User "bob" cannot create' in body["message"]
            settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}
            apply = "PATCH /api/v1/namespaces/default/configmaps/c?fieldManager=m"
            assert (await api.send("bob", apply, settings, APPLY))[0] == 403
            assert (await api.send("admin", put, lease))[0] == 201
            assert (await api.send("admin", apply, settings, APPLY))[0] == 201
            revision = (await api.send("admin", put.replace("PUT", "GET")))[1]["metadata"]["resourceVersion"]
            newer = {**lease, "metadata": {"name": "l", "resourceVersion": revision}}
            assert (await api.send("bob", put, newer))[0] == 200
            assert (await api.send("bob", apply, settings, APPLY))[0] == 200

    run(test())


def test_entering_a_pod_by_get_needs_create(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give("bob", "default", rule("get", "pods/exec pods/attach"))
            for part in ("exec", "attach"):
                status, body = await api.send("bob", f"GET /api/v1/namespaces/default/pods/web/{part}")
                assert (status, body["message"]) == (403, 'pods "web" is forbidden: ')

    run(test())


def test_nobody_makes_roles_of_what_he_lacks(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give(
                "bob",
                "default",
                rule("create update patch", "roles rolebindings", "rbac.authorization.k8s.io"),
                rule("get", "pods"),
                rule("escalate", "roles", "rbac.authorization.k8s.io", names="strong"),
                rule("bind", "roles", "rbac.authorization.k8s.io", names="later"),
            )
            roles, bindings = f"{RBAC}/namespaces/default/roles", f"{RBAC}/namespaces/default/rolebindings"
            weak = {"metadata": {"name": "weak"}, "rules": [rule("get", "pods")]}
            assert (await api.send("bob", f"POST {roles}", weak))[0] == 201
            strong = {"metadata": {"name": "strong"}, "rules": [rule("*", "*", "*")]}
            status, body = await api.send("bob", f"POST {roles}", strong)
            assert status == 403
            assert body["message"].endswith('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}')
            assert (await api.send("bob", f"PUT {roles}/strong", strong))[0] == 201

            def binding(role: str) -> dict[str, object]:
                return {"metadata": {"name": f"to-{role}"}, "roleRef": {"kind": "Role", "name": role}}

            assert (await api.send("bob", f"POST {bindings}", binding("weak")))[0] == 201
            assert (await api.send("bob", f"POST {bindings}", binding("strong")))[0] == 403
            assert (await api.send("bob", f"POST {bindings}", binding("later")))[0] == 201
            status, body = await api.send("bob", f"POST {bindings}", binding("missing"))
            assert status == 404
            assert body["message"] == 'rolebindings.rbac.authorization.k8s.io "missing" not found'

    run(test())


def test_a_role_that_is_too_strong_may_still_be_collected(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give("bob", "default", rule("patch", "roles", "rbac.authorization.k8s.io"))
            roles, merge = f"{RBAC}/namespaces/default/roles", "application/merge-patch+json"
            await api.send("admin", f"POST {roles}", {"metadata": {"name": "r"}, "rules": [rule("get", "pods")]})
            held = {"metadata": {"finalizers": ["example.com/hold"]}}
            assert (await api.send("bob", f"PATCH {roles}/r", held, merge))[0] == 200
            noted = {"metadata": {"annotations": {"note": "kept"}}}
            assert (await api.send("bob", f"PATCH {roles}/r", noted, merge))[0] == 403

    run(test())


def test_only_who_may_do_everything_aggregates(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            role = {
                "metadata": {"name": "maker"},
                "rules": [rule("create", "clusterroles", "rbac.authorization.k8s.io")],
            }
            binding = {
                "metadata": {"name": "maker"},
                "roleRef": {"kind": "ClusterRole", "name": "maker"},
                "subjects": [{"kind": "User", "name": "bob"}],
            }
            await api.send("admin", f"POST {RBAC}/clusterroles", role)
            await api.send("admin", f"POST {RBAC}/clusterrolebindings", binding)
            selectors = [{"matchLabels": {"a": "b"}}]
            body = {"metadata": {"name": "all"}, "aggregationRule": {"clusterRoleSelectors": selectors}}
            status, answer = await api.send("bob", f"POST {RBAC}/clusterroles", body)
            assert status == 403
            assert answer["message"].endswith("must have cluster-admin privileges to use the aggregationRule")
            assert (await api.send("admin", f"POST {RBAC}/clusterroles", body))[0] == 201

    run(test())


def test_who_is_impersonated_is_the_one_authorized(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            await api.give("bob", "default", rule("list", "pods"))
            pods = "GET /api/v1/namespaces/default/pods"
            assert (await api.send("admin", pods, headers={"Impersonate-User": "bob"}))[0] == 200
            status, body = await api.send("admin", pods, headers={"Impersonate-User": "jane"})
            assert status == 403
            assert 'User "jane" cannot list' in body["message"]
            status, body = await api.send("bob", pods, headers={"Impersonate-User": "jane"})
            assert 'User "bob" cannot impersonate-on:user-info:list' in body["message"]
            who = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
            review = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews"
            jane = {"Impersonate-User": "jane", "Impersonate-Extra-Example.com%2Fproject": "blue"}
            _, body = await api.send("admin", review, who, headers=jane)
            assert body["status"]["userInfo"]["extra"] == {"example.com/project": ["blue"]}

    run(test())


def test_a_node_reads_the_secrets_of_its_pods(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            node = {"Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
            secret = "GET /api/v1/namespaces/default/secrets/used"
            spec = {
                "nodeName": "n1",
                "containers": [{"name": "c", "image": "i"}],
                "volumes": [{"name": "s", "secret": {"secretName": "used"}}],
            }
            pods = "/api/v1/namespaces/default/pods"
            await api.send("admin", "POST /api/v1/namespaces/default/secrets", {"metadata": {"name": "used"}})
            await api.send("admin", f"POST {pods}", {"metadata": {"name": "before"}, "spec": spec})
            _, body = await api.send("admin", secret, headers=node)
            assert body["message"].endswith("node: no relationship found between node 'n1' and this object")
            await api.settled(lambda: api.send("admin", secret, headers=node), 200)
            await api.send("admin", f"DELETE {pods}/before?gracePeriodSeconds=0")
            assert (await api.send("admin", secret, headers=node))[0] == 403
            await api.send("admin", f"POST {pods}", {"metadata": {"name": "after"}, "spec": spec})
            assert (await api.send("admin", secret, headers=node))[0] == 200

    run(test())
