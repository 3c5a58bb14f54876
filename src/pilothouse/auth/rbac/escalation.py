"""Nobody may give what he does not have: which rules of a role its maker lacks (Kubernetes documentation, "Using RBAC
Authorization", "Privilege escalation prevention and bootstrapping").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pilothouse.auth.rbac.policy import ROLE_GROUP, Authority, told
from pilothouse.auth.rbac.rules import ALL, Grants, PolicyRule
from pilothouse.machinery.goquote import quote
from pilothouse.registry.request import Caller

EVERYTHING: Final = (PolicyRule((ALL,), (ALL,), (ALL,)), PolicyRule((ALL,), paths=(ALL,)))


def uncovered(held: Sequence[Grants], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """What of the wanted rules none of the held ones covers: one rule for each path, or resource and name."""
    return joined(rule for rule in broken_down(wanted) if not any(_covers(grants, rule) for grants in held))


def broken_down(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Rules of one verb and one path, or one group, resource and (if any) name each."""
    found: list[PolicyRule] = []
    for rule in rules:
        for group in rule.groups:
            for resource in rule.resources:
                for verb in rule.verbs:
                    one = PolicyRule((verb,), (group,), (resource,))
                    found += [replace(one, names=(name,)) for name in rule.names] or [one]
        found += [PolicyRule((verb,), paths=(path,)) for path in rule.paths for verb in rule.verbs]
    return found


def joined(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Rules of one resource and name with their verbs put together, in the order in which they came."""
    verbs: dict[PolicyRule, tuple[str, ...]] = {}
    for rule in rules:
        key = rule if rule.paths else replace(rule, verbs=())
        verbs[key] = verbs.get(key, ()) + rule.verbs
    return [replace(key, verbs=told_verbs) for key, told_verbs in verbs.items()]


def _covers(grants: Grants, rule: PolicyRule) -> bool:
    """Whether the holder of `grants` has a broken down rule."""
    if rule.paths:
        return grants.allow_path(rule.verbs[0], rule.paths[0])
    resource, _, subresource = rule.resources[0].partition("/")
    return grants.allow(rule.verbs[0], rule.groups[0], resource, subresource, rule.names[0] if rule.names else None)


def grants_of(authority: Authority) -> list[Grants]:
    return [held.grants for held in authority.held if held.grants is not None]


def objection(caller: Caller, authority: Authority, wanted: Iterable[PolicyRule], resource: str) -> str:
    """Why the caller may not give these rules, "" if he may. `resource`: the plural that he writes to."""
    lacking = uncovered(grants_of(authority), wanted)
    if not lacking:
        return ""
    rows = "\n".join(sorted(shown(rule) for rule in lacking))
    why = (
        f"user {quote(caller.name)} (groups={_quoted(caller.groups)}) is attempting to grant RBAC permissions "
        f"not currently held:\n{rows}"
    )
    problems = [
        f"{resource}.{ROLE_GROUP} {quote(held.binding.role[1])} not found"
        for held in authority.held
        if held.grants is None
    ]
    return f"{why}; resolution errors: [{told(problems)}]" if problems else why


def shown(rule: PolicyRule) -> str:
    """A rule in the original's words."""
    parts = (
        ("APIGroups", rule.groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.paths),
        ("ResourceNames", rule.names),
        ("Verbs", rule.verbs),
    )
    return "{" + ", ".join(f"{name}:{_quoted(texts)}" for name, texts in parts if texts) + "}"


def _quoted(texts: Sequence[str]) -> str:
    return "[" + " ".join(quote(text) for text in texts) + "]"
