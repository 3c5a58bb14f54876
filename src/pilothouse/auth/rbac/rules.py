"""One role's rules, arranged for questions (Kubernetes documentation, "Using RBAC Authorization").

A rule is about resources or about paths; "*" stands for all. In a question "*" is a word like any other: only a star
in a rule answers to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """What one role allows. `named`: resources for which the name of an object matters.

    A role may have ten thousand rules, and is arranged on the event loop: equal sets of words are made once, and the
    rules as they were written only when somebody asks for them.
    """

    __slots__ = ("_exact_paths", "_path_starts", "_resources", "_role", "_rules", "named")

    def __init__(self, role: Mapping[str, Any]) -> None:
        self._role = role
        self._rules: tuple[PolicyRule, ...] | None = None
        self._resources: dict[str, list[Test]] = {}
        self._exact_paths: dict[str, list[frozenset[str] | None]] = {}
        self._path_starts: list[tuple[str, frozenset[str] | None]] = []
        named: set[str] = set()
        known: dict[tuple[str, ...], frozenset[str] | None] = {}
        for rule in role.get("rules") or ():
            verbs = _all_or(rule.get("verbs"), known)
            resources = rule.get("resources")
            if resources:
                names = rule.get("resourceNames")
                test = (verbs, _all_or(rule.get("apiGroups"), known), frozenset(names) if names else None)
                for resource in resources:
                    self._resources.setdefault(resource, []).append(test)
                if names:
                    named.update(resources)
            for path in rule.get("nonResourceURLs") or ():
                self._exact_paths.setdefault(path, []).append(verbs)
                if path.endswith(ALL):
                    self._path_starts.append((path.rstrip(ALL), verbs))
        self.named = frozenset(named)

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        if self._rules is None:
            self._rules = rules_of(self._role)
        return self._rules

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


def _all_or(words: Sequence[str] | None, known: dict[tuple[str, ...], frozenset[str] | None]) -> frozenset[str] | None:
    key = tuple(words or ())
    if key not in known:
        known[key] = None if ALL in key else frozenset(key)
    return known[key]
