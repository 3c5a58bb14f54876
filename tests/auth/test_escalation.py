"""Nobody gives what he does not have."""

from __future__ import annotations

import pytest
from asked import binding, caller, policy, role, rule

from pilothouse.auth.rbac.escalation import EVERYTHING, objection, uncovered
from pilothouse.auth.rbac.rules import Grants, rules_of

ALICE = caller("alice", "developers")


def lacking(held: list[dict[str, list[str]]], wanted: list[dict[str, list[str]]]) -> str:
    """What alice is told who holds some rules and gives others."""
    known = policy(roles={("ns", "r"): {"rules": held}}, bindings={("ns", "b"): binding("Role", "r", "User alice")})
    return objection(ALICE, known.authority(ALICE, "ns"), rules_of({"rules": wanted}), "roles")


def test_what_is_held_in_several_rules_may_be_given_in_one() -> None:
    assert not lacking([rule("get", "pods"), rule("list", "pods services")], [rule("get list", "pods")])


def test_missing_rules_are_listed_one_resource_and_name_each_and_sorted() -> None:
    told = lacking(
        [rule("get list", "pods services")],
        [rule("list get", "secrets pods", "core apps"), rule("*", "*", "batch", names="b a")],
    )
    assert told.splitlines() == [
        'user "alice" (groups=["developers"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["list" "get"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["list" "get"]}',
        '{APIGroups:["apps"], Resources:["secrets"], Verbs:["list" "get"]}',
        '{APIGroups:["batch"], Resources:["*"], ResourceNames:["a"], Verbs:["*"]}',
        '{APIGroups:["batch"], Resources:["*"], ResourceNames:["b"], Verbs:["*"]}',
    ]


def test_paths_are_listed_one_verb_each() -> None:
    told = lacking([], [rule("get post", paths="/healthz /metrics/*")])
    assert told.splitlines()[1:] == [
        '{NonResourceURLs:["/healthz"], Verbs:["get"]}',
        '{NonResourceURLs:["/healthz"], Verbs:["post"]}',
        '{NonResourceURLs:["/metrics/*"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics/*"], Verbs:["post"]}',
    ]


def test_roles_that_could_not_be_found_are_told_of() -> None:
    known = policy(bindings={("ns", "b"): binding("Role", "missing", "User alice")})
    told = objection(ALICE, known.authority(ALICE, "ns"), rules_of(role(rule("get", "pods"))), "roles")
    assert told.endswith('; resolution errors: [roles.rbac.authorization.k8s.io "missing" not found]')


@pytest.mark.parametrize(
    ("held", "wanted", "covered"),
    [
        (rule("*", "*", "*"), rule("fly", "a/b", "c", names="d"), True),
        (rule("get", "pods"), rule("get", "pods", names="a"), True),
        (rule("get", "pods", names="a"), rule("get", "pods"), False),
        (rule("get", "pods", names="a b"), rule("get", "pods", names="b"), True),
        (rule("get", "*/scale", "*"), rule("get", "deployments/scale", "apps"), True),
        (rule("get", "pods"), rule("get", "*"), False),
        (rule("get", "pods", "apps"), rule("get", "pods", "*"), False),
        (rule("get", paths="/a/*"), rule("get", paths="/a/b"), True),
        (rule("get", paths="/a"), rule("get", paths="/a/*"), False),
    ],
)
def test_what_covers_what(held: dict[str, list[str]], wanted: dict[str, list[str]], covered: bool) -> None:
    found = uncovered([Grants(role(held))], rules_of(role(wanted)))
    assert (not found) is covered


def test_only_who_holds_everything_covers_everything() -> None:
    assert not uncovered([Grants(role(rule("*", "*", "*"), rule("*", paths="*")))], EVERYTHING)
    assert uncovered([Grants(role(rule("*", "*", "*")))], EVERYTHING)
