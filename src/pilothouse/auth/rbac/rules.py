"""One role's rules, arranged for questions (Kubernetes documentation, "Using RBAC Authorization").

A rule is about resources or about paths; "*" stands for all. In a question "*" is a word like any other: only a star
in a rule answers to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.kit.record import record

ALL: Final = "*"
_MOST_ROWS: Final = 256  # resources whose rules one role remembers
# Verbs, groups and names that a rule is for; None: for all.
Test = tuple[frozenset[str] | None, frozenset[str] | None, frozenset[str] | None]


@record
class PolicyRule:
    """A rule as it was written."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def rules_of(role: Mapping[str, Any]) -> tuple[PolicyRule, ...]:
    """The rules of a Role or ClusterRole."""
    return tuple(
        PolicyRule(
            tuple(rule.get("verbs") or ()),
            tuple(rule.get("apiGroups") or ()),
            tuple(rule.get("resources") or ()),
            tuple(rule.get("resourceNames") or ()),
            tuple(rule.get("nonResourceURLs") or ()),
        )
        for rule in role.get("rules") or ()
    )


class Grants:
    """What one role allows.

    A role may have ten thousand rules and change on the event loop, so nothing is arranged before somebody asks: the
    rules about a resource are found when that resource is asked for, and remembered.
    """

    __slots__ = ("_named", "_paths", "_role", "_rows", "_rules")

    def __init__(self, role: Mapping[str, Any]) -> None:
        self._role = role
        self._rules: tuple[PolicyRule, ...] | None = None
        self._named: frozenset[str] | None = None
        self._rows: dict[str, list[Test]] = {}
        self._paths: list[tuple[str, frozenset[str] | None]] | None = None

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        if self._rules is None:
            self._rules = rules_of(self._role)
        return self._rules

    @property
    def named(self) -> frozenset[str]:
        """Resources for which the name of an object matters."""
        if self._named is None:
            with_names = (rule for rule in self._written() if rule.get("resourceNames"))
            self._named = frozenset(resource for rule in with_names for resource in rule.get("resources") or ())
        return self._named

    def _written(self) -> Sequence[Mapping[str, Any]]:
        return self._role.get("rules") or ()

    def _about(self, resource: str) -> list[Test]:
        """The rules for a resource as they write it."""
        found = self._rows.get(resource)
        if found is None:
            if len(self._rows) >= _MOST_ROWS:  # resources are asked for by URLs: there may be any number of names
                self._rows.clear()
            found = self._rows[resource] = [
                (_all_or(rule.get("verbs")), _all_or(rule.get("apiGroups")), frozenset(rule["resourceNames"]))
                if rule.get("resourceNames")
                else (_all_or(rule.get("verbs")), _all_or(rule.get("apiGroups")), None)
                for rule in self._written()
                if resource in (rule.get("resources") or ())
            ]
        return found

    def allow(self, verb: str, group: str, resource: str, subresource: str, name: str | None) -> bool:
        """Whether the verb may be done to a resource, or to one of its subresources. `name` None: to any object."""
        if subresource:
            keys: tuple[str, ...] = (f"{resource}/{subresource}", ALL, f"*/{subresource}")
        else:
            keys = (resource, ALL)
        for key in keys:
            for verbs, groups, names in self._about(key):
                if (
                    (verbs is None or verb in verbs)
                    and (groups is None or group in groups)
                    and (names is None or name in names)
                ):
                    return True
        return False

    def allow_path(self, verb: str, path: str) -> bool:
        """Whether the verb (a method in lower case) may be done to a path outside the API."""
        if self._paths is None:
            self._paths = [
                (path, _all_or(rule.get("verbs")))
                for rule in self._written()
                for path in rule.get("nonResourceURLs") or ()
            ]
        return any(
            (path == known or (known.endswith(ALL) and path.startswith(known.rstrip(ALL))))
            and (verbs is None or verb in verbs)
            for known, verbs in self._paths
        )


def _all_or(words: Sequence[str] | None) -> frozenset[str] | None:
    return None if words and ALL in words else frozenset(words or ())
