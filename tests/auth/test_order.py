"""Several authorizers, and what a client is told that none of them allows."""

from __future__ import annotations

from asked import ALLOW, NO_OPINION, caller, path, resource

from pilothouse.auth.attributes import Attributes, Decision, PathRule, ResourceRule, Rules
from pilothouse.auth.order import AllRules, InOrder
from pilothouse.auth.refusal import refusal
from pilothouse.registry.request import Caller

BOB = caller("bob")


class Says:
    """An authorizer with one answer."""

    def __init__(self, decision: Decision, reason: str = "", rules: Rules | None = None) -> None:
        self._answer = decision, reason
        self._rules = rules or Rules()

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return self._answer

    def rules(self, caller: Caller, namespace: str) -> Rules:
        return self._rules


def test_the_first_that_decides_is_heard() -> None:
    asked = resource(BOB, "get", "pods", namespace="ns")
    silent, allows, denies = Says(NO_OPINION, "no idea"), Says(ALLOW, "fine"), Says(Decision.DENY, "never")
    assert InOrder([("a", silent), ("b", allows)]).authorize(asked) == (ALLOW, "fine")
    assert InOrder([("a", denies), ("b", allows)]).authorize(asked) == (Decision.DENY, "never")
    assert InOrder([("a", silent), ("b", Says(NO_OPINION))]).authorize(asked) == (NO_OPINION, "a: no idea")


def test_administrators_are_allowed_before_anybody_is_asked() -> None:
    root = caller("root", "system:masters")
    assert InOrder([("a", Says(Decision.DENY))]).authorize(path(root, "get", "/")) == (ALLOW, "")


def test_rules_of_all_are_put_together() -> None:
    first = Rules((ResourceRule(("get",)),), (), True, ("can't tell",))
    second = Rules((ResourceRule(("list",)),), (PathRule(("get",), ("/",)),))
    found = AllRules([Says(NO_OPINION, rules=first), Says(NO_OPINION, rules=second)]).rules(BOB, "ns")
    assert [rule.verbs for rule in found.resources] == [("get",), ("list",)]
    assert found.incomplete
    assert found.errors == ("can't tell",)


def test_a_refusal_says_who_what_and_where() -> None:
    error = refusal(resource(BOB, "update", "deployments/scale.apps", "web", namespace="ns"), "rbac: why")
    assert error.message == (
        'deployments.apps "web" is forbidden: User "bob" cannot update resource "deployments/scale" '
        'in API group "apps" in the namespace "ns": rbac: why'
    )
    assert error.details == {"name": "web", "group": "apps", "kind": "deployments"}
    cluster = refusal(resource(BOB, "list", "nodes"), "")
    assert cluster.message == (
        'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope'
    )


def test_a_refusal_of_a_path_is_no_page() -> None:
    error = refusal(path(caller("<b>&"), "get", '/a"b'), "")
    assert error.message == 'forbidden: User "&lt;b&gt;&amp;" cannot get path "/a\\"b"'
    assert error.details == {}
