"""What an authorization decision is about, and the decision (Kubernetes documentation, "Authorization Overview")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pilothouse.registry.request import Caller


class Decision(Enum):
    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


@dataclass(frozen=True, slots=True)
class Attributes:
    """One request as authorizers see it. For a path outside the API only `caller`, `verb` and `path` mean something."""

    caller: Caller
    verb: str
    is_resource: bool
    path: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


class Authorizer(Protocol):
    """`reason` explains the decision to the client."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]: ...


class AlwaysAllow:
    """Everything is allowed (`--authorization-mode=AlwaysAllow`)."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return Decision.ALLOW, ""
