"""What authorizers are asked, and what a client is told that may not. What they decide is told in tests/auth."""

from __future__ import annotations

import pytest

from filters.asking import ALICE, MASTER, PODS, ask, behind, fine, get, noting
from pilothouse.auth.attributes import AlwaysAllow, Attributes, Decision
from pilothouse.filters.authorization import authorization
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Request


class Notes:
    """An authorizer that keeps the questions; it forbids some verbs."""

    def __init__(self, *forbidden: str, decision: Decision = Decision.NO_OPINION, reason: str = "") -> None:
        self.asked: list[Attributes] = []
        self._forbidden = forbidden
        self._answer = (decision, reason)

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        self.asked.append(attributes)
        return self._answer if attributes.verb in self._forbidden else (Decision.ALLOW, "")


def refused(notes: Notes, request: Request, caller: Caller = ALICE) -> str:
    found: list[Request] = []
    answer = ask(behind(authorization(notes), caller=caller, handler=noting(found)), request)
    assert (answer.status, found) == (403, []), answer.body
    return answer.message


CANNOT = 'User "alice" cannot'
NAMESPACED = 'resource "{}" in API group "{}" in the namespace "{}"'
REFUSALS = [
    (get(PODS), f"pods is forbidden: {CANNOT} list {NAMESPACED.format('pods', '', 'default')}"),
    (
        get("/api/v1/nodes/n"),
        f'nodes "n" is forbidden: {CANNOT} get resource "nodes" in API group "" at the cluster scope',
    ),
    (
        get("/apis/apps/v1/namespaces/x/deployments/d/scale", method="PUT"),
        f'deployments.apps "d" is forbidden: {CANNOT} update {NAMESPACED.format("deployments/scale", "apps", "x")}',
    ),
    (get("/metrics"), f'forbidden: {CANNOT} get path "/metrics"'),
]


@pytest.mark.parametrize(("request_", "message"), REFUSALS)
def test_a_refusal_says_who_cannot_do_what_to_which(request_: Request, message: str) -> None:
    notes = Notes("get", "list", "update")
    assert refused(notes, request_) == message


def test_the_authorizers_reason_is_told() -> None:
    notes = Notes("get", decision=Decision.DENY, reason="not today")
    assert refused(notes, get("/metrics")) == 'forbidden: User "alice" cannot get path "/metrics": not today'


def test_no_browser_takes_a_refusal_for_a_page() -> None:
    assert "&lt;script&gt;" in refused(Notes("get"), get("/<script>"))
    answer = ask(behind(authorization(Notes("get")), caller=ALICE), get("/metrics"))
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_who_may_passes() -> None:
    notes = Notes("delete")
    assert ask(behind(authorization(notes)), get(PODS)).body == b"fine"
    (asked,) = notes.asked
    assert (asked.caller, asked.verb, asked.namespace, asked.resource) == (ALICE, "list", "default", "pods")


def test_administrators_are_not_asked_about() -> None:
    notes = Notes("list")
    assert ask(behind(authorization(notes), caller=MASTER), get(PODS)).status == 200
    assert notes.asked == []


def test_selectors_are_part_of_the_question() -> None:
    notes = Notes()
    ask(behind(authorization(notes)), get(PODS, "fieldSelector=spec.nodeName%3Dn1&labelSelector=a%3Db"))
    ask(behind(authorization(notes)), get(f"{PODS}/a", "fieldSelector=spec.nodeName%3Dn1"))
    first, second = notes.asked
    assert first.field_selector is not None and first.field_selector.exact("spec.nodeName") == "n1"
    assert first.label_selector is not None
    assert second.field_selector is None  # a GET selects nothing


def test_a_broken_selector_is_left_to_the_endpoint() -> None:
    notes = Notes()
    assert ask(behind(authorization(notes)), get(PODS, "fieldSelector=%21%21&labelSelector=%21%21%21")).status == 200
    assert notes.asked[0].label_selector is None


@pytest.mark.parametrize("part", ["exec", "attach", "portforward"])
def test_entering_a_pod_needs_the_right_to_create_whatever_the_method(part: str) -> None:
    notes = Notes("create")
    refused(notes, get(f"{PODS}/a/{part}"))
    assert [asked.verb for asked in notes.asked] == ["get", "create"]
    assert ask(behind(authorization(Notes())), get(f"{PODS}/a/{part}")).status == 200


def test_where_all_is_allowed_it_is_not_even_there() -> None:
    assert authorization(AlwaysAllow())(fine) is fine
