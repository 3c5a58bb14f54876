"""Who is believed, and what further filters see of credentials."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import orjson
import pytest

from filters.asking import ask, get, noting, renderer
from pilothouse.auth.authenticators import ANONYMOUS, Credentials, Refused, TokenFile, Union
from pilothouse.filters.authentication import authentication
from pilothouse.filters.chain import compose
from pilothouse.filters.errors import errors
from pilothouse.filters.warnings import warnings
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Handler, Origin, Request

ROWS = (("good", "alice", "u1", "developers,testers"),)
ALICE = Caller("alice", "u1", ("developers", "testers", "system:authenticated"))
BY_CERTIFICATE = Caller("carol", "", ("system:authenticated",))
PROTOCOL = "base64url.bearer.authorization.k8s.io."


class Certificates:
    """Stands for an authority: the DER b"good" is carol's, any other is refused."""

    def authenticate(self, credentials: Credentials) -> Caller | None:
        if credentials.certificate is None:
            return None
        if credentials.certificate != b"good":
            raise Refused("x509: certificate signed by unknown authority")
        return BY_CERTIFICATE


class Strict:
    """Refuses tokens that nobody knew, as the last one."""

    def authenticate(self, credentials: Credentials) -> Caller | None:
        if credentials.token is not None:
            raise Refused("invalid bearer token")
        return None


def server(found: list[Request], *, anonymous: bool = True, last: Sequence[Strict] = (Strict(),)) -> Handler:
    union = Union([Certificates(), TokenFile(ROWS), *last], anonymous=anonymous)
    return compose([errors(renderer()), warnings(), authentication(union)], noting(found))


def believed(request: Request) -> Caller:
    found: list[Request] = []
    answer = ask(server(found), request)
    assert answer.status == 200, answer.body
    return found[0].attached(Caller)


@pytest.mark.parametrize("header", ["Bearer good", "bearer good", "BEARER good", " Bearer good ", "Bearer good more"])
def test_a_token_says_who_it_is(header: str) -> None:
    assert believed(get(authorization=header)) == ALICE


@pytest.mark.parametrize("header", ["", "Basic Z29vZA==", "Bearer", "Bearer ", "good", "Bearergood"])
def test_whoever_shows_nothing_of_use_is_anonymous(header: str) -> None:
    assert believed(get(authorization=header)) == ANONYMOUS
    assert believed(get()) == ANONYMOUS


def test_anonymous_may_be_unwelcome() -> None:
    assert ask(server([], anonymous=False)).status == 401


def test_a_bad_token_is_refused_and_nothing_else_is_said() -> None:
    found: list[Request] = []
    answer = ask(server(found), get(authorization="Bearer bad"))
    assert orjson.loads(answer.body) == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
    }  # fmt: skip
    assert found == []


def test_an_extra_space_before_the_token_is_told() -> None:
    found: list[Request] = []
    answer = ask(server(found), get(authorization="Bearer  good"))
    assert found[0].attached(Caller) == ANONYMOUS
    assert "contains extra space before the bearer token" in answer.headers["Warning"]


def with_certificate(der: bytes, **headers: str) -> Request:
    request = get(**headers)
    request.origin = Origin(certificate=der)
    return request


def test_a_certificate_says_who_it_is() -> None:
    assert believed(with_certificate(b"good")) == BY_CERTIFICATE
    assert believed(with_certificate(b"good", authorization="Bearer bad")) == BY_CERTIFICATE  # it comes first


def test_a_bad_certificate_is_refused_unless_a_token_is_good() -> None:
    assert ask(server([]), with_certificate(b"bad")).status == 401
    assert believed(with_certificate(b"bad", authorization="Bearer good")) == ALICE


def test_nothing_further_in_sees_the_token() -> None:
    found: list[Request] = []
    ask(server(found), get(authorization="Bearer good", accept="a/b"))
    assert found[0].headers == [(b"host", b"localhost"), (b"accept", b"a/b")]


def browser(protocols: str) -> Request:
    return get(upgrade="websocket", connection="Upgrade", sec_websocket_protocol=protocols)


def protocol(token: str) -> str:
    return PROTOCOL + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def test_browsers_show_their_token_among_the_protocols() -> None:
    found: list[Request] = []
    assert ask(server(found, last=()), browser(f"{protocol('good')}, v5.channel.k8s.io")).status == 200
    assert found[0].attached(Caller) == ALICE
    assert found[0].header(b"sec-websocket-protocol") == "v5.channel.k8s.io"  # the token is gone


@pytest.mark.parametrize(
    "protocols",
    [protocol("bad") + ", a", protocol("good"), f"{protocol('good')}, {protocol('good')}", PROTOCOL + "!, a"],
)
def test_bad_ones_are_refused(protocols: str) -> None:
    assert ask(server([]), browser(protocols)).status == 401
