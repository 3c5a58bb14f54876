"""Who may act as whom, and what he is told who may not."""

from __future__ import annotations

import pytest
from asked import ALLOW, NO_OPINION, caller, path, resource

from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.auth.impersonation import Impersonation, Wanted
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Caller

IMP = caller("system:serviceaccount:ns:imp", "system:authenticated")
LIST_PODS = resource(IMP, "list", "pods", namespace="ns")
NODE_CLAIM = {"authentication.kubernetes.io/node-name": "n1"}


class Allows:
    """An authorizer of some questions: "VERB RESOURCE[/SUBRESOURCE] NAME"; it notes what it was asked."""

    def __init__(self, *questions: str) -> None:
        self.questions = set(questions)
        self.asked: list[str] = []

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        what = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
        question = f"{attributes.verb} {what or attributes.path} {attributes.name}".strip()
        self.asked.append(question)
        return (ALLOW, "") if question in self.questions else (NO_OPINION, "")


class AllowsAll:
    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return ALLOW, ""


def refused(decisions: Impersonation, wanted: Wanted, asked: Attributes = LIST_PODS) -> APIError:
    with pytest.raises(APIError) as found:
        decisions.become(wanted, asked)
    return found.value


def groups(wanted: Wanted) -> tuple[str, ...]:
    """Of the user whom an administrator becomes."""
    return Impersonation(AllowsAll()).become(wanted, LIST_PODS).groups


def test_groups_follow_from_the_name() -> None:
    assert groups(Wanted("jane")) == ("system:authenticated",)
    assert groups(Wanted("jane", groups=("admins",))) == ("admins", "system:authenticated")
    assert groups(Wanted("system:serviceaccount:ns:robot")) == (
        "system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated",
    )  # fmt: skip
    assert groups(Wanted("system:serviceaccount:ns:Not_Valid")) == ("system:authenticated",)
    assert groups(Wanted("system:node:n1")) == ("system:nodes", "system:authenticated")
    assert groups(Wanted("system:node:n1", "u1")) == ("system:authenticated",)
    assert groups(Wanted("system:anonymous")) == ("system:unauthenticated",)
    assert groups(Wanted("jane", groups=("system:unauthenticated",))) == ("system:unauthenticated",)


def test_a_user_name_is_needed() -> None:
    error = refused(Impersonation(AllowsAll()), Wanted("", "77", ("a",), (("scopes", ("view",)),)))
    assert error.code == 400
    assert error.message == (
        'requested &user.DefaultInfo{Name:"", UID:"77", Groups:[]string{"a"}, '
        'Extra:map[string][]string{"scopes":[]string{"view"}}} without impersonating a user name'
    )


def test_the_first_mode_that_fits_tells_the_refusal() -> None:
    decisions = Impersonation(Allows())
    assert 'cannot impersonate-on:user-info:list resource "pods"' in refused(decisions, Wanted("jane")).message
    account = Wanted("system:serviceaccount:ns:robot")
    assert "impersonate-on:serviceaccount:list" in refused(decisions, account).message
    assert "impersonate-on:arbitrary-node:list" in refused(decisions, Wanted("system:node:n1")).message
    with_groups = Wanted("system:node:n1", groups=("system:nodes",))
    assert 'users "system:node:n1" is forbidden' in refused(decisions, with_groups).message
    assert refused(decisions, Wanted("jane"), path(IMP, "get", "/healthz")).message == (
        f'forbidden: User "{IMP.name}" cannot impersonate-on:user-info:get path "/healthz"'
    )


def test_user_info_asks_for_each_part() -> None:
    allows = Allows(
        "impersonate-on:user-info:list pods", "impersonate:user-info users jane", "impersonate:user-info uids 7",
        "impersonate:user-info groups a", "impersonate:user-info userextras/example.com/k v",
    )  # fmt: skip
    wanted = Wanted("jane", "7", ("a",), (("example.com/k", ("v",)),))
    assert Impersonation(allows).become(wanted, LIST_PODS) == Caller(
        "jane", "7", ("a", "system:authenticated"), (("example.com/k", ("v",)),)
    )
    assert len(allows.asked) == 5


def test_from_four_groups_on_all_are_asked_about_at_once() -> None:
    allows = Allows(
        "impersonate-on:user-info:list pods", "impersonate:user-info users jane", "impersonate:user-info groups *"
    )
    Impersonation(allows).become(Wanted("jane", groups=("a", "b", "c", "d")), LIST_PODS)
    assert allows.asked[-1] == "impersonate:user-info groups *"
    assert 'groups.authentication.k8s.io "a"' in refused(Impersonation(allows), Wanted("jane", groups=("a",))).message


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (Wanted("jane", groups=("system:masters",)), "impersonating the system:masters group is not allowed"),
        (Wanted("jane", groups=("",)), "impersonating the empty string group is not allowed"),
        (
            Wanted("jane", extra=(("scopes", ("view",)),)),
            'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": '
            'must be a domain-prefixed path (such as "acme.io/foo")',
        ),
    ],
)
def test_some_parts_only_the_old_verb_gives(wanted: Wanted, why: str) -> None:
    allows = Allows(
        "impersonate-on:user-info:list pods", "impersonate:user-info users jane", "impersonate:user-info groups "
    )
    assert refused(Impersonation(allows), wanted).message.endswith(f": {why}")
    assert Impersonation(AllowsAll()).become(wanted, LIST_PODS).name == "jane"


def test_the_old_verb_asks_about_each_part_of_its_own_group() -> None:
    allows = Allows("impersonate users jane", "impersonate groups a")
    decisions = Impersonation(allows)
    assert decisions.become(Wanted("jane", groups=("a",)), LIST_PODS).name == "jane"
    other = refused(decisions, Wanted("jane", groups=("b",)))
    assert other.message == (
        f'groups "b" is forbidden: User "{IMP.name}" cannot impersonate resource "groups" in API group "" '
        "at the cluster scope"
    )
    extra = refused(decisions, Wanted("jane", extra=(("scopes", ("view",)),)))
    assert 'userextras.authentication.k8s.io "view" is forbidden' in extra.message
    assert 'resource "userextras/scopes"' in extra.message


def test_the_mode_that_last_succeeded_comes_first() -> None:
    decisions = Impersonation(AllowsAll())
    node = Wanted("system:node:n1")
    assert "system:nodes" in decisions.become(node, LIST_PODS).groups
    decisions.become(Wanted("jane", groups=("system:masters",)), LIST_PODS)
    assert decisions.become(node, LIST_PODS).groups == ("system:authenticated",)


def test_an_account_acts_as_the_node_of_its_pod_and_as_no_other() -> None:
    agent = caller("system:serviceaccount:ns:agent", **NODE_CLAIM)
    asked = resource(agent, "get", "nodes", "n1")
    allows = Allows("impersonate-on:associated-node:get nodes n1", "impersonate:associated-node nodes *")
    decisions = Impersonation(allows)
    assert decisions.become(Wanted("system:node:n1"), asked).groups == ("system:nodes", "system:authenticated")
    assert "impersonate-on:arbitrary-node:get" in refused(decisions, Wanted("system:node:n2"), asked).message
    unbound = asked._replace(caller=caller("system:serviceaccount:ns:agent"))
    assert "impersonate-on:arbitrary-node:get" in refused(decisions, Wanted("system:node:n1"), unbound).message
