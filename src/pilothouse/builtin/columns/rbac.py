"""The rbac.authorization.k8s.io group."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import Object, Template, age, created, items, name, part, row


def _binding(obj: Object) -> list[Any]:
    role = part(obj, "roleRef")
    users, groups, accounts = [], [], []
    for subject in items(obj, "subjects"):
        kind, found = subject.get("kind"), subject.get("name") or ""
        if kind == "User":
            users.append(found)
        elif kind == "Group":
            groups.append(found)
        elif kind == "ServiceAccount":
            accounts.append(f"{subject.get('namespace') or ''}/{found}")
    return [
        name(obj),
        f"{role.get('kind') or ''}/{role.get('name') or ''}",
        age(obj),
        ", ".join(users),
        ", ".join(groups),
        ", ".join(accounts),
    ]


ROWS: Final[dict[str, Template]] = {
    "clusterrolebindings": _binding,
    "clusterroles": row(name, created),
    "rolebindings": _binding,
    "roles": row(name, created),
}
