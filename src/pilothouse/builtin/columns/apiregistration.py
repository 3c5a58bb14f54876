"""The apiregistration.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Object, Template, age, condition, items, name, part, row


def _service(obj: Object) -> str:
    found = part(obj, "spec").get("service")
    return "Local" if found is None else f"{found.get('namespace') or ''}/{found.get('name') or ''}"


def _available(obj: Object) -> str:
    found = condition(items(part(obj, "status"), "conditions"), "Available")
    if found is None:
        return "Unknown"
    status: str = found.get("status") or ""
    return status if status == "True" else f"{status} ({found.get('reason') or ''})"


ROWS: Final[dict[str, Template]] = {"apiservices": row(name, _service, _available, age)}
