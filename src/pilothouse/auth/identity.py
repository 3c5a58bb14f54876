"""Who asks and what they may, as one piece: what reviews and token requests ask, put together once at start."""

from __future__ import annotations

from pilothouse.auth.attributes import AlwaysAllow, Authorizer, RuleResolver
from pilothouse.auth.authenticators import Union
from pilothouse.auth.tokens import Signer, new_key
from pilothouse.kit.record import record


@record
class TokenRules:
    """How service account tokens are made. `longest` seconds of life (0: no limit of our own).

    `extend`: tokens of pods for this server live for a year, and are warned of after the time that was asked for.
    """

    issuer: str = "https://kubernetes.default.svc"
    audiences: tuple[str, ...] = ("https://kubernetes.default.svc",)
    longest: int = 0
    extend: bool = True


def _made_up() -> tuple[bytes, ...]:
    return (new_key(),)


@record
class Identity:
    """`rules` says what a caller may do, for SelfSubjectRulesReview."""

    authorizer: Authorizer
    rules: RuleResolver
    authenticators: Union
    signer: Signer
    tokens: TokenRules


def nobody() -> Identity:
    """Everything is allowed, nobody is known: for servers without any setting about identity, and tests."""
    allow = AlwaysAllow()
    return Identity(allow, allow, Union([]), Signer(_made_up), TokenRules())
