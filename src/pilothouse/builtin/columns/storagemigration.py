"""The storagemigration.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import Object, Template, is_true, items, name, part, row

_STATES: Final = ("Succeeded", "Failed", "Running")


def _resource(obj: Object) -> str:
    found = part(part(obj, "spec"), "resource")
    resource: str = found.get("resource") or ""
    group = found.get("group")
    return f"{resource}.{group}" if group else resource


def _status(obj: Object) -> str:
    found = items(part(obj, "status"), "conditions")
    return next((state for state in _STATES if is_true(found, state)), "Unknown")


ROWS: Final[dict[str, Template]] = {"storageversionmigrations": row(name, _resource, _status)}
