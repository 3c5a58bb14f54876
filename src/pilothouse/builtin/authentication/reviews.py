"""Who am I, and whose token is this (API reference, "SelfSubjectReview", "TokenReview")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pilothouse.auth.authenticators import INVALID, Refused
from pilothouse.builtin.shared.userfields import user_fields
from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.times import format_time
from pilothouse.registry.request import Caller, Write
from pilothouse.registry.resource import Object

if TYPE_CHECKING:
    from pilothouse.builtin.virtuals import VirtualContext


def user_info(caller: Caller) -> Object:
    """A caller as the API shows it."""
    return user_fields(caller.name, caller.uid, caller.groups, caller.extra)


class SelfReviews:
    """Tells the caller who he is. What he sent does not matter."""

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        return 201, {
            "kind": obj["kind"],
            "apiVersion": obj["apiVersion"],
            "metadata": {"creationTimestamp": format_time(write.now)},
            "status": {"userInfo": user_info(write.caller)},
        }


class TokenReviews:
    """Tells whose token it is, for which of the audiences that were asked about."""

    def __init__(self, context: VirtualContext) -> None:
        self._own = context.own
        self._aside = context.aside.run
        self._authenticators = context.identity.authenticators

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """Raises BadRequest without a token."""
        obj = await self._aside(write.load.size, self._own, obj, write)
        spec = obj.get("spec") or {}
        if not spec.get("token"):
            raise bad_request("token is required for TokenReview in authentication")
        words = spec["token"].split()  # what comes after a space is no part of the token, as in a header
        try:
            if not words:
                raise Refused(INVALID)
            caller, audiences = await self._authenticators.review(words[0], spec.get("audiences") or ())
        except Refused as refusal:
            return 201, {**obj, "status": {"user": {}, "error": str(refusal)}}
        status: Object = {"authenticated": True, "user": user_info(caller)}
        if audiences:
            status["audiences"] = list(audiences)
        return 201, {**obj, "status": status}


def self_reviews(context: VirtualContext) -> SelfReviews:
    return SelfReviews()


def token_reviews(context: VirtualContext) -> TokenReviews:
    return TokenReviews(context)
