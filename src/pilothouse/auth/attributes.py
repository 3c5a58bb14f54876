"""What an authorization decision is about, and the decision (Kubernetes documentation, "Authorization Overview")."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from pilothouse.kit.record import record
from pilothouse.machinery.selectors import FieldSelector, LabelSelector
from pilothouse.registry.request import Caller


class Decision(Enum):
    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


class Attributes(NamedTuple):
    """One request as authorizers see it. For a path outside the API only `caller`, `verb` and `path` mean something.

    The selectors are those of a list, watch or deletecollection; None where there is none or it can't be read.
    """

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
    field_selector: FieldSelector | None = None
    label_selector: LabelSelector | None = None


@record
class ResourceRule:
    """What may be done to which resources; "*" stands for all."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@record
class PathRule:
    """What may be done to which paths outside the API."""

    verbs: tuple[str, ...]
    paths: tuple[str, ...] = ()


@record
class Rules:
    """All that a caller may do in a namespace. `incomplete`: there may be more, as some authorizer can't tell.

    `errors`: what went wrong meanwhile.
    """

    resources: tuple[ResourceRule, ...] = ()
    paths: tuple[PathRule, ...] = ()
    incomplete: bool = False
    errors: tuple[str, ...] = ()


class RuleResolver(Protocol):
    """Authorizers that can say what a caller may do."""

    def rules(self, caller: Caller, namespace: str) -> Rules: ...


class Authorizer(Protocol):
    """`reason` explains the decision to the client."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]: ...


class AlwaysAllow:
    """Everything is allowed (`--authorization-mode=AlwaysAllow`)."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return Decision.ALLOW, ""

    def rules(self, caller: Caller, namespace: str) -> Rules:
        return Rules((ResourceRule(("*",), ("*",), ("*",)),), (PathRule(("*",), ("*",)),))
