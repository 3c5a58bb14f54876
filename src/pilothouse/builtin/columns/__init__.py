"""What `kubectl get` shows of the built-in kinds: one module a group, loaded when the first of its kinds is printed.

The column definitions are facts (`data/printcolumns.json`); the modules say what stands in the cells.
"""

from __future__ import annotations

import importlib
import importlib.resources
from functools import cache
from typing import Any, Final

import orjson

from pilothouse.endpoints.table import Columns, no_conditions

_MODULES: Final = {
    "": "core",
    "admissionregistration.k8s.io": "admissionregistration",
    "apiextensions.k8s.io": "apiextensions",
    "apiregistration.k8s.io": "apiregistration",
    "apps": "apps",
    "autoscaling": "autoscaling",
    "batch": "batch",
    "certificates.k8s.io": "certificates",
    "coordination.k8s.io": "coordination",
    "discovery.k8s.io": "discovery",
    "events.k8s.io": "events",
    "flowcontrol.apiserver.k8s.io": "flowcontrol",
    "internal.apiserver.k8s.io": "internal",
    "lifecycle.k8s.io": "lifecycle",
    "networking.k8s.io": "networking",
    "node.k8s.io": "node",
    "policy": "policy",
    "rbac.authorization.k8s.io": "rbac",
    "resource.k8s.io": "resource",
    "scheduling.k8s.io": "scheduling",
    "storage.k8s.io": "storage",
    "storagemigration.k8s.io": "storagemigration",
}
# A kind without columns of its own shows those of this one: name and time of creation.
_PLAIN: Final = ("", "limitranges")


@cache
def columns_for(group: str, resource: str) -> Columns | None:
    """The columns of a built-in resource, the same in all its versions; None for one that is not in the table.

    `resource` is the plural name; `("autoscaling", "scales")` is what a scale subresource shows.
    """
    module = _MODULES.get(group)
    definitions = _definitions(f"{group}/{resource}")
    if module is None or definitions is None:
        return None
    found = importlib.import_module(f"pilothouse.builtin.columns.{module}")
    conditions = getattr(found, "CONDITIONS", {}).get(resource, no_conditions)
    shown = getattr(found, "SHOWN", {}).get(resource)
    rank = getattr(found, "RANKS", {}).get(resource)
    return Columns(definitions, found.ROWS[resource], conditions, shown, rank)


def plain_columns() -> Columns:
    """Name and Created At, for a kind that has no columns of its own."""
    columns = columns_for(*_PLAIN)
    assert columns is not None
    return columns


def known() -> list[tuple[str, str]]:
    """(group, resource) of all that have columns, sorted."""
    return sorted((group, resource) for group, _, resource in (key.partition("/") for key in _table()["columns"]))


@cache
def _table() -> dict[str, Any]:
    data = importlib.resources.files("pilothouse.builtin") / "data" / "printcolumns.json"
    table: dict[str, Any] = orjson.loads(data.read_bytes())
    return table


def _definitions(key: str) -> tuple[dict[str, Any], ...] | None:
    table = _table()
    found = table["columns"].get(key)
    if found is None:
        return None
    texts = table["texts"]
    return tuple(
        {"name": name, "type": kind, "format": form, "description": texts[text], "priority": priority}
        for name, kind, form, text, priority in found
    )
