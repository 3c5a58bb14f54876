"""Requests made as somebody else. Who may become whom is told in tests/auth."""

from __future__ import annotations

import pytest

from filters.asking import ALICE, PODS, ask, behind, get, noting
from pilothouse.auth.attributes import AlwaysAllow, Attributes, Authorizer, Decision
from pilothouse.auth.impersonation import Original
from pilothouse.filters.impersonation import impersonation, wanted_user
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Request


class Never:
    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return Decision.NO_OPINION, ""


def passed(request: Request, authorizer: Authorizer | None = None) -> Request:
    found: list[Request] = []
    answer = ask(behind(impersonation(authorizer or AlwaysAllow()), handler=noting(found)), request)
    assert answer.status == 200, answer.body
    return found[0]


def test_everything_further_in_sees_the_wanted_user() -> None:
    request = passed(get(PODS, impersonate_user="jane"))
    assert request.attached(Caller) == Caller("jane", "", ("system:authenticated",))
    assert request.attached(Original).caller == ALICE


def test_the_headers_are_taken_off() -> None:
    request = passed(get(PODS, impersonate_user="jane", impersonate_group="g", accept="a/b"))
    assert request.headers == [(b"host", b"localhost"), (b"accept", b"a/b")]


def test_without_headers_nobody_is_asked() -> None:
    request = passed(get(PODS), Never())
    assert request.attached(Caller) == ALICE
    assert request.maybe(Original) is None


def test_empty_headers_ask_for_nothing() -> None:
    assert passed(get(PODS, impersonate_user=""), Never()).attached(Caller) == ALICE


def test_who_may_not_is_refused_and_goes_no_further() -> None:
    found: list[Request] = []
    handler = behind(impersonation(Never()), handler=noting(found))
    answer = ask(handler, get(PODS, impersonate_user="jane"))
    assert (answer.status, found) == (403, [])
    assert 'User "alice" cannot impersonate' in answer.message


@pytest.mark.parametrize("header", ["impersonate_group", "impersonate_uid", "impersonate_extra_scopes"])
def test_all_the_rest_needs_a_user(header: str) -> None:
    handler = behind(impersonation(AlwaysAllow()))
    answer = ask(handler, get(PODS, **{header: "x"}))
    assert answer.status in (400, 500)


def test_what_headers_say() -> None:
    wanted = wanted_user(
        [
            (b"impersonate-user", b"jane"),
            (b"impersonate-user", b"second"),
            (b"impersonate-group", b"a"),
            (b"impersonate-group", b"b"),
            (b"impersonate-uid", b"u"),
            (b"impersonate-extra-scopes", b"view"),
            (b"impersonate-extra-scopes", b"edit"),
            (b"impersonate-extra-acme.com%2fproject", b"p"),
        ]
    )
    assert wanted is not None
    assert (wanted.name, wanted.uid, wanted.groups) == ("jane", "u", ("a", "b"))
    assert wanted.extra == (("acme.com/project", ("p",)), ("scopes", ("view", "edit")))
