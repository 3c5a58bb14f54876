"""Tokens of service accounts: whom they stand for, and when no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from clocks import Clock

from pilothouse.auth.authenticators import ANONYMOUS, Credentials, Refused, TokenFile, Union
from pilothouse.auth.serviceaccounts import Grant, ServiceAccountTokens, claims
from pilothouse.auth.tokens import Signer, new_key
from pilothouse.machinery.times import format_time
from pilothouse.registry.request import Caller

ISSUER = "https://kubernetes.default.svc"
KEY = new_key()
Object = dict[str, Any]


class Cluster:
    """What is stored, by resource, namespace and name."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.asked = 0
        self.put("serviceaccounts", "ns", "robot", "u1")

    def put(self, resource: str, namespace: str, name: str, uid: str, **metadata: str) -> None:
        self.objects[resource, namespace, name] = {"metadata": {"name": name, "uid": uid, **metadata}}

    async def lookup(self, resource: str, namespace: str, name: str) -> Object | None:
        self.asked += 1
        return self.objects.get((resource, namespace, name))


class Place:
    def __init__(self) -> None:
        self.clock = Clock()
        self.cluster = Cluster()
        self.signer = Signer(lambda: (KEY,))
        self.tokens = ServiceAccountTokens(self.signer, (ISSUER,), self.cluster.lookup, self.clock)

    def token(self, *, audiences: Sequence[str] = (ISSUER,), seconds: int = 3600, uid: str = "u1", **bound: str) -> str:
        """`bound`: pod, secret or node, as name=uid text "name/uid"."""
        references = {kind: dict(zip(("name", "uid"), text.split("/"), strict=True)) for kind, text in bound.items()}
        grant = Grant("ns", "robot", uid, list(audiences), seconds, references)
        return self.signer.sign(claims(grant, ISSUER, "j1", self.clock()))

    def ask(self, token: str, audiences: Sequence[str] = (ISSUER,)) -> tuple[Caller, tuple[str, ...]] | None:
        return asyncio.run(self.tokens.authenticate(token, audiences))

    def refusal(self, token: str, audiences: Sequence[str] = (ISSUER,)) -> str:
        with pytest.raises(Refused) as refused:
            self.ask(token, audiences)
        return str(refused.value)


@pytest.fixture
def place() -> Place:
    return Place()


def test_a_token_stands_for_its_account(place: Place) -> None:
    found = place.ask(place.token())
    assert found is not None
    caller, audiences = found
    assert caller.name == "system:serviceaccount:ns:robot"
    assert caller.uid == "u1"
    assert caller.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert caller.extra == (("authentication.kubernetes.io/credential-id", ("JTI=j1",)),)
    assert audiences == (ISSUER,)


def test_what_a_token_is_bound_to_is_told(place: Place) -> None:
    place.cluster.put("pods", "ns", "web", "u2")
    found = place.ask(place.token(pod="web/u2", node="n1/u3"))
    assert found is not None
    extra = dict(found[0].extra)
    assert extra["authentication.kubernetes.io/pod-name"] == ("web",)
    assert extra["authentication.kubernetes.io/node-uid"] == ("u3",)  # the node of a pod need not be there


@pytest.mark.parametrize(
    ("resource", "namespace", "kind"), [("pods", "ns", "pod"), ("secrets", "ns", "secret"), ("nodes", "", "node")]
)
def test_a_token_dies_with_what_it_is_bound_to(place: Place, resource: str, namespace: str, kind: str) -> None:
    why = "service account token has been invalidated"
    token = place.token(**{kind: "it/u2"})
    assert place.refusal(token) == why
    place.cluster.put(resource, namespace, "it", "other")
    assert place.refusal(token) == why
    place.cluster.put(resource, namespace, "it", "u2")
    assert place.ask(token)


def test_a_token_dies_with_its_account(place: Place) -> None:
    token = place.token()
    place.cluster.objects.clear()
    assert place.refusal(token) == 'serviceaccounts "robot" not found'
    place.cluster.put("serviceaccounts", "ns", "robot", "u9")
    assert place.refusal(token) == "service account UID (u9) does not match claim (u1)"


def test_an_account_on_its_way_out_is_good_for_a_minute(place: Place) -> None:
    place.cluster.put("serviceaccounts", "ns", "robot", "u1", deletionTimestamp=format_time(place.clock()))
    token = place.token()
    assert place.ask(token)
    place.clock.forward(61)
    assert place.refusal(token) == "service account token has been invalidated"


def test_a_used_token_outlives_its_account_by_ten_seconds(place: Place) -> None:
    token = place.token()
    assert place.ask(token)
    place.cluster.objects.clear()
    place.clock.forward(9.9)
    assert place.ask(token)
    place.clock.forward(0.2)
    assert place.refusal(token) == 'serviceaccounts "robot" not found'


def test_a_good_token_is_not_looked_up_again_and_again(place: Place) -> None:
    token = place.token()
    for _ in range(5):
        place.ask(token)
    assert place.cluster.asked == 1


def test_a_token_has_its_time(place: Place) -> None:
    token = place.token(seconds=600)
    assert place.ask(token)
    place.clock.forward(600)
    assert place.refusal(token) == "service account token has expired"
    place.clock.forward(3600)
    early = place.token()
    place.clock.forward(-1)
    assert place.refusal(early) == "service account token is not valid yet"


def test_a_token_for_another_audience_is_for_that_audience_only(place: Place) -> None:
    token = place.token(audiences=("vault", "store"))
    why = f'token audiences ["vault" "store"] is invalid for the target audiences ["{ISSUER}"]'
    assert place.refusal(token) == why
    found = place.ask(token, ("other", "store", "vault"))
    assert found is not None
    assert found[1] == ("store", "vault")


def test_tokens_of_other_issuers_are_for_others(place: Place) -> None:
    assert place.ask("nobody") is None
    assert place.ask(place.signer.sign({"iss": "https://example.com"})) is None


def test_a_forged_token_is_refused(place: Place) -> None:
    stranger = Signer(lambda: (new_key(),))
    assert "signature" in place.refusal(stranger.sign(claims_for(place)))


def claims_for(place: Place) -> dict[str, Any]:
    return claims(Grant("ns", "robot", "u1", [ISSUER], 600, {}), ISSUER, "j", place.clock())


@pytest.mark.parametrize(
    "change", [{"kubernetes.io": None}, {"kubernetes.io": {}}, {"sub": "root"}, {"aud": None}, {"exp": "x"}]
)
def test_claims_of_another_shape_are_refused(place: Place, change: dict[str, Any]) -> None:
    assert place.refusal(place.signer.sign({**claims_for(place), **change}))


# All authenticators together


def union(place: Place) -> Union:
    static = TokenFile([["alice-token", "alice", "alice-uid", "developers"]])
    return Union([static], waiting=[place.tokens], audiences=(ISSUER,))


def test_who_brings_nothing_is_anonymous_who_brings_nonsense_is_refused(place: Place) -> None:
    assert asyncio.run(union(place).authenticate(Credentials(None, None))) == ANONYMOUS
    with pytest.raises(Refused, match="invalid bearer token"):
        asyncio.run(union(place).authenticate(Credentials("nobody", None)))
    with pytest.raises(Refused):
        asyncio.run(Union([], anonymous=False).authenticate(Credentials(None, None)))


def test_each_kind_of_token_finds_its_authenticator(place: Place) -> None:
    assert asyncio.run(union(place).authenticate(Credentials("alice-token", None))).name == "alice"
    account = asyncio.run(union(place).authenticate(Credentials(place.token(), None)))
    assert account.name == "system:serviceaccount:ns:robot"


def test_a_review_is_for_the_audiences_asked_about(place: Place) -> None:
    both = union(place)
    assert asyncio.run(both.review("alice-token", ()))[1] == (ISSUER,)
    assert asyncio.run(both.review("alice-token", ("vault", ISSUER)))[1] == (ISSUER,)
    with pytest.raises(Refused) as refused:
        asyncio.run(both.review("alice-token", ("vault",)))
    assert str(refused.value) == "invalid bearer token"
    with pytest.raises(Refused) as refused:
        asyncio.run(both.review(place.token(audiences=("vault",)), ("other",)))
    assert (
        str(refused.value)
        == '[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["other"]]'
    )
