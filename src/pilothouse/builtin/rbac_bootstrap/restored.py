"""What of a bootstrap role or binding an existing object lacks (Kubernetes documentation, "Using RBAC Authorization",
"Auto-reconciliation").

Missing rules, subjects, selectors, labels and annotations come back; whatever was added stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from pilothouse.auth.rbac.escalation import uncovered
from pilothouse.auth.rbac.rules import Grants, PolicyRule, rules_of
from pilothouse.builtin.rbac_bootstrap.table import AUTO_UPDATE, Object


def left_alone(found: Object) -> bool:
    """Whether its owner does not want it restored."""
    return ((found["metadata"].get("annotations") or {}).get(AUTO_UPDATE)) == "false"


def binds_another(found: Object, wanted: Object) -> bool:
    """A binding to another role can't be changed: it is made again."""
    return "roleRef" in wanted and found.get("roleRef") != wanted["roleRef"]


def restored(found: Object, wanted: Object) -> Object | None:
    """`found` with all that it lacked; None where it lacked nothing."""
    made: Object = {**found, "metadata": dict(found["metadata"])}
    for member in ("labels", "annotations"):
        have = found["metadata"].get(member) or {}
        made["metadata"][member] = {**wanted["metadata"].get(member, {}), **have}
    if "rules" in wanted:
        lacking = uncovered([Grants(found)], rules_of(wanted))
        made["rules"] = [*(found.get("rules") or ()), *map(_written, lacking)]
    if "aggregationRule" in wanted:
        have = (found.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
        selectors = _with(have, wanted["aggregationRule"]["clusterRoleSelectors"])
        made["aggregationRule"] = {"clusterRoleSelectors": selectors}
    if "subjects" in wanted:
        made["subjects"] = _with(found.get("subjects") or [], wanted["subjects"])
    changed = any(made.get(name) != found.get(name) and (made.get(name) or found.get(name)) for name in made)
    return made if changed else None


def _with(have: list[Object], wanted: Iterable[Object]) -> list[Object]:
    return [*have, *(one for one in wanted if one not in have)]


def _written(rule: PolicyRule) -> Object:
    members = {
        "verbs": rule.verbs,
        "apiGroups": rule.groups,
        "resources": rule.resources,
        "resourceNames": rule.names,
        "nonResourceURLs": rule.paths,
    }
    return {name: list(texts) for name, texts in members.items() if texts}
