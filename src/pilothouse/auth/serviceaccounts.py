"""Tokens of service accounts: their claims, and who they say the caller is (Kubernetes documentation, "Managing Service
Accounts", "Configure Service Accounts for Pods").

Decisions are made of a token and of what look-ups, given from outside, say of the objects that it names.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from pilothouse.auth.authenticators import AUTHENTICATED, Refused
from pilothouse.auth.credentialmetrics import CredentialMetrics
from pilothouse.auth.tokens import BadToken, Signer, claims_of
from pilothouse.kit.record import record
from pilothouse.machinery.times import parse_time
from pilothouse.registry.request import Caller

Object = dict[str, Any]
Lookup = Callable[[str, str, str], Awaitable[Object | None]]
"""(resource of the core group, namespace, name) -> the object, None where there is none."""

K = TypeVar("K")
T = TypeVar("T")
USER_PREFIX: Final = "system:serviceaccount:"
GROUP: Final = "system:serviceaccounts"
KUBERNETES: Final = "kubernetes.io"
REMEMBERED: Final = 10.0  # seconds that a good token stays good without another look
_LONGEST_MEMORY: Final = 4096  # tokens
_LEEWAY: Final = timedelta(seconds=60)  # an object on its way out is gone after
_DOMAIN: Final = "authentication.kubernetes.io/"
_INVALIDATED: Final = "service account token has been invalidated"
# What a token may be bound to: member of the claims -> resource of the core group and whether it is in a namespace.
_BOUND: Final = {"pod": ("pods", True), "secret": ("secrets", True), "node": ("nodes", False)}


def user_name(namespace: str, name: str) -> str:
    return f"{USER_PREFIX}{namespace}:{name}"


def groups_of(namespace: str) -> tuple[str, ...]:
    return GROUP, f"{GROUP}:{namespace}"


@record
class Grant:
    """What a new token shall say. `bound`: members pod, secret, node of the claims, each with a name and a uid.

    `seconds` of life; `warn_after` 0: say nothing about it.
    """

    namespace: str
    name: str
    uid: str
    audiences: Sequence[str]
    seconds: int
    bound: Mapping[str, Mapping[str, str]]
    warn_after: int = 0


def claims(grant: Grant, issuer: str, identifier: str, now: datetime) -> dict[str, Any]:
    issued = int(now.timestamp())
    private: dict[str, Any] = {
        "namespace": grant.namespace,
        "serviceaccount": {"name": grant.name, "uid": grant.uid},
        **{member: dict(reference) for member, reference in grant.bound.items()},
    }
    if grant.warn_after:
        private["warnafter"] = issued + grant.warn_after
    return {
        "aud": list(grant.audiences),
        "exp": issued + grant.seconds,
        "iat": issued,
        "iss": issuer,
        "jti": identifier,
        KUBERNETES: private,
        "nbf": issued,
        "sub": user_name(grant.namespace, grant.name),
    }


class ServiceAccountTokens:
    """Authenticates tokens that `signer` made. `issuers`: those believed, the first one signs.

    A good token is remembered for ten seconds, and works on for so long when its account is gone.
    """

    def __init__(
        self,
        signer: Signer,
        issuers: Sequence[str],
        lookup: Lookup,
        now: Callable[[], datetime],
        metrics: CredentialMetrics | None = None,
    ) -> None:
        self._signer = signer
        self._issuers = frozenset(issuers)
        self._lookup = lookup
        self._now = now
        self._metrics = metrics or CredentialMetrics()
        self._verified: OrderedDict[bytes, dict[str, Any]] = OrderedDict()
        self._good: OrderedDict[tuple[str, tuple[str, ...]], tuple[float, Caller, tuple[str, ...]]] = OrderedDict()

    async def authenticate(self, token: str, audiences: Sequence[str]) -> tuple[Caller, tuple[str, ...]] | None:
        """Who it is and for which of the audiences; None for a token of another issuer. Raises Refused."""
        now = self._now()
        seconds = now.timestamp()
        key = token, tuple(audiences)
        good = self._good.get(key)
        if good is not None and good[0] > seconds:
            self._metrics.cache.hit()
            return good[1], good[2]
        cache = self._metrics.cache
        began = cache.begin()
        try:
            looked = await self._looked_at(token, audiences, now)
        except BaseException as error:
            cache.end(began, False if isinstance(error, Refused) else None)
            raise
        cache.end(began, None if looked is None else True)
        if looked is not None:
            caller, matching, until = looked
            _remember(self._good, key, (min(seconds + REMEMBERED, until), caller, matching))
            return caller, matching
        return None

    async def _looked_at(
        self, token: str, audiences: Sequence[str], now: datetime
    ) -> tuple[Caller, tuple[str, ...], float] | None:
        """And until when it is good, in seconds since 1970."""
        seconds = now.timestamp()
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        found = self._verified.get(digest)
        if found is None:
            found = await self._verify(token)
            if found is None:
                return None
            _remember(self._verified, digest, found)
        matching = _check_audiences(found, audiences)
        _check_time(found, seconds)
        caller = await self._caller(found, now)
        self._count(found, seconds)
        return caller, matching, _number(found.get("exp"))

    def _count(self, found: dict[str, Any], seconds: float) -> None:
        """Tokens of pods should be replaced before they end: those that say by when are told apart by it."""
        warn_after = _number(found[KUBERNETES].get("warnafter"))
        if warn_after:
            (self._metrics.stale_token if seconds > warn_after else self._metrics.valid_token)()

    async def _verify(self, token: str) -> dict[str, Any] | None:
        try:
            if claims_of(token).get("iss") not in self._issuers:
                return None
        except BadToken:
            return None
        await self._signer.ready()
        try:
            return self._signer.verify(token)
        except BadToken as error:
            raise Refused(str(error)) from error

    async def _caller(self, found: dict[str, Any], now: datetime) -> Caller:
        """The user, if all that the token names is still there. Raises Refused."""
        private = found.get(KUBERNETES)
        account = private.get("serviceaccount") if isinstance(private, dict) else None
        if not isinstance(private, dict) or not isinstance(account, dict):
            raise Refused("service account token claims could not be validated due to unexpected validation error")
        namespace, name, uid = (
            str(text) for text in (private.get("namespace", ""), account.get("name", ""), account.get("uid", ""))
        )
        if found.get("sub") != user_name(namespace, name):
            raise Refused(f'subject does not match: "{found.get("sub")}"')
        await self._check_account(namespace, name, uid, now)
        extra: dict[str, tuple[str, ...]] = {}
        if found.get("jti"):
            extra[_DOMAIN + "credential-id"] = (f"JTI={found['jti']}",)
        for member, (resource, namespaced) in _BOUND.items():
            reference = private.get(member)
            if isinstance(reference, dict):
                if member != "node" or "pod" not in private:  # a pod's node is only told of
                    await self._check_bound(resource, namespace if namespaced else "", reference, now)
                if member != "secret":
                    extra[f"{_DOMAIN}{member}-name"] = (str(reference.get("name", "")),)
                    if reference.get("uid"):
                        extra[f"{_DOMAIN}{member}-uid"] = (str(reference["uid"]),)
        return Caller(
            user_name(namespace, name), uid, (*groups_of(namespace), AUTHENTICATED), tuple(sorted(extra.items()))
        )

    async def _check_account(self, namespace: str, name: str, uid: str, now: datetime) -> None:
        account = await self._lookup("serviceaccounts", namespace, name)
        if account is None:
            raise Refused(f'serviceaccounts "{name}" not found')
        if _gone(account, now):
            raise Refused(_INVALIDATED)
        if account["metadata"].get("uid") != uid:
            raise Refused(f"service account UID ({account['metadata'].get('uid')}) does not match claim ({uid})")

    async def _check_bound(self, resource: str, namespace: str, reference: Mapping[str, Any], now: datetime) -> None:
        obj = await self._lookup(resource, namespace, str(reference.get("name", "")))
        if obj is None or _gone(obj, now) or obj["metadata"].get("uid") != reference.get("uid"):
            raise Refused(_INVALIDATED)


def _check_audiences(found: dict[str, Any], wanted: Sequence[str]) -> tuple[str, ...]:
    listed = found.get("aud")
    own = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
    matching = tuple(one for one in wanted if one in own)
    if not matching:
        raise Refused(f"token audiences {_quoted(own)} is invalid for the target audiences {_quoted(wanted)}")
    return matching


def _quoted(texts: Sequence[str]) -> str:
    return "[" + " ".join(f'"{text}"' for text in texts) + "]"


def _check_time(found: dict[str, Any], seconds: float) -> None:
    if seconds >= _number(found.get("exp")):
        raise Refused("service account token has expired")
    if seconds < _number(found.get("nbf")):
        raise Refused("service account token is not valid yet")


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _gone(obj: Object, now: datetime) -> bool:
    """Whether an object has been on its way out for longer than a pod needs to end."""
    marked = obj["metadata"].get("deletionTimestamp")
    return marked is not None and parse_time(marked) < now - _LEEWAY


def _remember(memory: OrderedDict[K, T], key: K, value: T) -> None:
    memory[key] = value
    if len(memory) > _LONGEST_MEMORY:
        memory.popitem(last=False)
