"""Role-based access control: who has which role where, and what it allows."""

from __future__ import annotations

import pytest
from asked import ALLOW, NO_OPINION, binding, caller, path, policy, resource, role, rule

from pilothouse.auth.rbac.authorizer import RBAC
from pilothouse.auth.rbac.policy import Policy

ALICE = caller("alice", "developers")
BOB = caller("bob")


def one_role(*rules: dict[str, list[str]], home: str = "ns") -> RBAC:
    """Bob has one Role of these rules."""
    return RBAC(policy(roles={(home, "r"): role(*rules)}, bindings={(home, "b"): binding("Role", "r", "User bob")}))


def everywhere(*rules: dict[str, list[str]]) -> RBAC:
    """Bob has one ClusterRole of these rules."""
    return RBAC(
        policy(cluster_roles={"r": role(*rules)}, cluster_bindings={"b": binding("ClusterRole", "r", "User bob")})
    )


def test_a_role_counts_in_its_namespace_and_nowhere_else() -> None:
    rbac = one_role(rule("get list", "configmaps"))
    assert rbac.authorize(resource(BOB, "list", "configmaps", namespace="ns"))[0] is ALLOW
    assert rbac.authorize(resource(BOB, "list", "configmaps", namespace="other"))[0] is NO_OPINION
    assert rbac.authorize(resource(BOB, "list", "configmaps"))[0] is NO_OPINION
    assert rbac.authorize(resource(BOB, "watch", "configmaps", namespace="ns"))[0] is NO_OPINION
    assert rbac.authorize(resource(ALICE, "list", "configmaps", namespace="ns"))[0] is NO_OPINION


def test_a_cluster_role_binding_counts_everywhere() -> None:
    rbac = everywhere(rule("get", "secrets nodes"), rule("get", paths="/metrics"))
    assert rbac.authorize(resource(BOB, "get", "secrets", "a", namespace="any"))[0] is ALLOW
    assert rbac.authorize(resource(BOB, "get", "nodes", "n"))[0] is ALLOW
    assert rbac.authorize(path(BOB, "get", "/metrics"))[0] is ALLOW


def test_a_role_binding_lends_a_cluster_role_without_its_paths() -> None:
    rbac = RBAC(
        policy(
            cluster_roles={"r": role(rule("get", "pods"), rule("get", paths="*"))},
            bindings={("ns", "b"): binding("ClusterRole", "r", "User bob")},
        )
    )
    assert rbac.authorize(resource(BOB, "get", "pods", namespace="ns"))[0] is ALLOW
    assert rbac.authorize(resource(BOB, "get", "pods"))[0] is NO_OPINION
    assert rbac.authorize(path(BOB, "get", "/metrics"))[0] is NO_OPINION


@pytest.mark.parametrize(
    ("given", "verb", "what", "expected"),
    [
        (rule("get", "*", "apps"), "get", "deployments/scale.apps", True),
        (rule("get", "*", "apps"), "get", "pods", False),
        (rule("list", "jobs", "*"), "list", "jobs.batch", True),
        (rule("*", "services"), "deletecollection", "services", True),
        (rule("*", "services"), "get", "services/proxy", False),
        (rule("patch", "*/scale", "*"), "patch", "deployments/scale.apps", True),
        (rule("patch", "*/scale", "*"), "patch", "deployments/status.apps", False),
        (rule("get", "pods/log"), "get", "pods", False),
        (rule("get", "pods/log"), "get", "pods/log", True),
        (rule("get", "pods"), "*", "pods", False),
        (rule("*", "pods"), "*", "pods", True),
        (rule("get", "pods", "apps"), "get", "pods.*", False),
    ],
)
def test_stars_and_subresources(given: dict[str, list[str]], verb: str, what: str, expected: bool) -> None:
    decision, _ = one_role(given).authorize(resource(BOB, verb, what, namespace="ns"))
    assert (decision is ALLOW) is expected


def test_names_limit_requests_that_carry_one() -> None:
    rbac = one_role(rule("get list create", "configmaps", names="mine other"), rule("get", "pods"))
    assert rbac.authorize(resource(BOB, "get", "configmaps", "mine", namespace="ns"))[0] is ALLOW
    assert rbac.authorize(resource(BOB, "get", "configmaps", "third", namespace="ns"))[0] is NO_OPINION
    assert rbac.authorize(resource(BOB, "create", "configmaps", namespace="ns"))[0] is NO_OPINION
    assert rbac.authorize(resource(BOB, "get", "pods", "any", namespace="ns"))[0] is ALLOW


def test_names_count_for_subresources_and_stars_too() -> None:
    part = one_role(rule("get", "*/log", names="a"))
    assert part.authorize(resource(BOB, "get", "pods/log", "b", namespace="ns"))[0] is NO_OPINION
    assert part.authorize(resource(BOB, "get", "pods/log", "a", namespace="ns"))[0] is ALLOW
    star = one_role(rule("get", "*", names="a"))
    assert star.authorize(resource(BOB, "get", "pods", "b", namespace="ns"))[0] is NO_OPINION
    assert star.authorize(resource(BOB, "get", "pods", "a", namespace="ns"))[0] is ALLOW


@pytest.mark.parametrize(
    ("paths", "verb", "where", "expected"),
    [
        ("/livez/*", "get", "/livez/ping", True),
        ("/livez/*", "get", "/livez", False),
        ("/nothing*", "get", "/nothing-more/and/more", True),
        ("/exact", "get", "/exact/", False),
        ("/exact", "post", "/exact", False),
        ("*", "get", "/anything", True),
    ],
)
def test_paths(paths: str, verb: str, where: str, expected: bool) -> None:
    decision, _ = everywhere(rule("get", paths=paths)).authorize(path(BOB, verb, where))
    assert (decision is ALLOW) is expected


def test_the_reason_names_binding_role_and_the_first_subject_that_fits() -> None:
    rbac = RBAC(
        policy(
            cluster_roles={"c": role(rule("get", "nodes"))},
            cluster_bindings={"cb": binding("ClusterRole", "c", "Group developers", "User alice")},
            roles={("ns", "r"): role(rule("list", "pods"))},
            bindings={
                ("ns", "b"): binding("Role", "r", "User alice"),
                ("ns", "accounts"): binding("Role", "r", "ServiceAccount ns/robot", "ServiceAccount local"),
            },
        )
    )
    assert rbac.authorize(resource(ALICE, "list", "pods", namespace="ns")) == (
        ALLOW,
        'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "alice"',
    )
    assert rbac.authorize(resource(ALICE, "get", "nodes")) == (
        ALLOW,
        'RBAC: allowed by ClusterRoleBinding "cb" of ClusterRole "c" to Group "developers"',
    )
    robot = caller("system:serviceaccount:ns:robot")
    assert rbac.authorize(resource(robot, "list", "pods", namespace="ns"))[1].endswith('to ServiceAccount "robot/ns"')
    local = caller("system:serviceaccount:ns:local")
    assert rbac.authorize(resource(local, "list", "pods", namespace="ns"))[1].endswith('to ServiceAccount "local"')
    stranger = caller("system:serviceaccount:default:robot")
    assert rbac.authorize(resource(stranger, "list", "pods", namespace="ns"))[0] is NO_OPINION


def test_a_missing_role_is_told_of_unless_another_one_allows() -> None:
    known = policy(
        cluster_bindings={"c": binding("ClusterRole", "gone", "User bob")},
        bindings={("ns", "b"): binding("Role", "missing", "User bob")},
    )
    rbac = RBAC(known)
    assert rbac.authorize(path(BOB, "get", "/metrics")) == (
        NO_OPINION,
        'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
    both = (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, '
        'role.rbac.authorization.k8s.io "missing" not found]'
    )
    assert rbac.authorize(resource(BOB, "list", "pods", namespace="ns")) == (NO_OPINION, both)
    known.set_role("ns", "missing", role(rule("list", "pods")))
    assert rbac.authorize(resource(BOB, "list", "pods", namespace="ns"))[0] is ALLOW


def test_answers_change_as_soon_as_roles_and_bindings_do() -> None:
    known = Policy()
    rbac = RBAC(known)
    asked = resource(BOB, "get", "pods", namespace="ns")

    def allowed() -> bool:
        return rbac.authorize(asked)[0] is ALLOW

    known.set_role("ns", "r", role(rule("get", "pods")))
    assert not allowed()
    known.set_binding("ns", "b", binding("Role", "r", "User bob", "Group g"))
    assert allowed()
    known.set_role("ns", "r", role(rule("get", "secrets")))
    assert not allowed()
    known.set_role("ns", "r", role(rule("get", "pods")))
    known.set_binding("ns", "b", binding("Role", "r", "Group g"))
    assert not allowed()
    known.set_binding("ns", "b", binding("Role", "r", "User bob"))
    assert allowed()
    known.set_binding("ns", "b", None)
    assert not allowed()


def test_rules_are_listed_as_written_those_of_the_cluster_first() -> None:
    rbac = RBAC(
        policy(
            cluster_roles={"c": role(rule("get", "nodes"), rule("get", paths="/version"))},
            cluster_bindings={"cb": binding("ClusterRole", "c", "User bob")},
            bindings={
                ("ns", "b"): binding("ClusterRole", "c", "User bob"),
                ("ns", "d"): binding("Role", "missing", "User bob"),
            },
        )
    )
    found = rbac.rules(BOB, "ns")
    assert [one.resources for one in found.resources] == [("nodes",), ("nodes",)]
    assert [one.paths for one in found.paths] == [("/version",)]
    assert found.errors == ('role.rbac.authorization.k8s.io "missing" not found',)
    assert not found.incomplete
