"""Questions to authorizers in few words, and a policy to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.auth.rbac.policy import Policy
from pilothouse.machinery.selectors import read_field_selector
from pilothouse.registry.request import Caller

ALLOW, NO_OPINION = Decision.ALLOW, Decision.NO_OPINION


def caller(name: str, *groups: str, **extra: str) -> Caller:
    return Caller(name, "", groups, tuple((key, (value,)) for key, value in extra.items()))


def resource(who: Caller, verb: str, what: str, name: str = "", *, namespace: str = "", fields: str = "") -> Attributes:
    """`what`: RESOURCE[/SUBRESOURCE][.GROUP]."""
    plural, _, group = what.partition(".")
    plural, _, part = plural.partition("/")
    selector = read_field_selector(fields) if fields else None
    return Attributes(who, verb, True, "", group, "v1", namespace, plural, part, name, selector)


def path(who: Caller, verb: str, where: str) -> Attributes:
    return Attributes(who, verb, False, where)


def rule(verbs: str, resources: str = "", groups: str = "", names: str = "", paths: str = "") -> dict[str, list[str]]:
    """Lists are words with spaces between; the group "core" is the one without a name."""
    made = {
        "verbs": verbs.split(),
        "apiGroups": ["" if group == "core" else group for group in (groups or ("core" if resources else "")).split()],
        "resources": resources.split(),
        "resourceNames": names.split(),
        "nonResourceURLs": paths.split(),
    }
    return {name: texts for name, texts in made.items() if texts}


def role(*rules: Mapping[str, Any]) -> dict[str, Any]:
    return {"rules": list(rules)}


def binding(kind: str, name: str, *subjects: str) -> dict[str, Any]:
    """Subjects as "User alice", "Group g", "ServiceAccount ns/name"."""
    found = []
    for subject in subjects:
        sort, _, who = subject.partition(" ")
        namespace, _, who = who.rpartition("/")
        found.append({"kind": sort, "name": who, **({"namespace": namespace} if namespace else {})})
    return {"roleRef": {"kind": kind, "name": name}, "subjects": found}


def policy(
    *,
    cluster_roles: Mapping[str, Any] | None = None,
    cluster_bindings: Mapping[str, Any] | None = None,
    roles: Mapping[tuple[str, str], Any] | None = None,
    bindings: Mapping[tuple[str, str], Any] | None = None,
) -> Policy:
    made = Policy()
    for name, obj in (cluster_roles or {}).items():
        made.set_role("", name, obj)
    for name, obj in (cluster_bindings or {}).items():
        made.set_binding("", name, obj)
    for (namespace, name), obj in (roles or {}).items():
        made.set_role(namespace, name, obj)
    for (namespace, name), obj in (bindings or {}).items():
        made.set_binding(namespace, name, obj)
    return made
