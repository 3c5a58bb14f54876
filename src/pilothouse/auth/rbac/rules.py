"""One role's rules, arranged for questions (Kubernetes documentation, "Using RBAC Authorization").

A rule is about resources or about paths; "*" stands for all. In a question "*" is a word like any other: only a star
in a rule answers to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pilothouse.kit.record import record

ALL: Final = "*"
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
    """What one role allows. `named`: resources for which the name of an object matters."""

    __slots__ = ("_exact_paths", "_path_starts", "_resources", "named", "rules")

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self.named = frozenset(resource for rule in rules if rule.names for resource in rule.resources)
        self._resources = _by_resource(rules)
        self._exact_paths: dict[str, list[frozenset[str] | None]] = {}
        self._path_starts: list[tuple[str, frozenset[str] | None]] = []
        for rule in rules:
            verbs = _all_or(rule.verbs)
            for path in rule.paths:
                self._exact_paths.setdefault(path, []).append(verbs)
                if path.endswith(ALL):
                    self._path_starts.append((path.rstrip(ALL), verbs))

    def allow(self, verb: str, group: str, resource: str, subresource: str, name: str | None) -> bool:
        """Whether the verb may be done to a resource, or to one of its subresources. `name` None: to any object."""
        rows = self._resources
        if subresource:
            keys: tuple[str, ...] = (f"{resource}/{subresource}", ALL, f"*/{subresource}")
        else:
            keys = (resource, ALL)
        for key in keys:
            for verbs, groups, names in rows.get(key, ()):
                if (
                    (verbs is None or verb in verbs)
                    and (groups is None or group in groups)
                    and (names is None or name in names)
                ):
                    return True
        return False

    def allow_path(self, verb: str, path: str) -> bool:
        """Whether the verb (a method in lower case) may be done to a path outside the API."""
        for verbs in self._exact_paths.get(path, ()):
            if verbs is None or verb in verbs:
                return True
        return any(path.startswith(start) and (verbs is None or verb in verbs) for start, verbs in self._path_starts)


def _by_resource(rules: Iterable[PolicyRule]) -> dict[str, list[Test]]:
    found: dict[str, list[Test]] = {}
    for rule in rules:
        test = (_all_or(rule.verbs), _all_or(rule.groups), frozenset(rule.names) if rule.names else None)
        for resource in rule.resources:
            found.setdefault(resource, []).append(test)
    return found


def _all_or(words: tuple[str, ...]) -> frozenset[str] | None:
    return None if ALL in words else frozenset(words)
