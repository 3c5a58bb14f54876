"""The default roles and bindings as objects, out of data/bootstrap-rbac.json."""

from __future__ import annotations

import importlib.resources
from typing import Any, Final

import orjson

Object = dict[str, Any]
AUTO_UPDATE: Final = "rbac.authorization.kubernetes.io/autoupdate"
_LABELS: Final = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS: Final = {AUTO_UPDATE: "true"}


def bootstrap_objects() -> dict[str, list[Object]]:
    """Objects of each resource, without kind and apiVersion; roles come before bindings. Made anew."""
    data = importlib.resources.files("pilothouse.builtin") / "data" / "bootstrap-rbac.json"
    found: dict[str, list[Object]] = orjson.loads(data.read_bytes())
    return {plural: [_whole(row) for row in rows] for plural, rows in found.items()}


def _whole(row: Object) -> Object:
    """A row of the table with the metadata that all have."""
    metadata = {"name": row.pop("name")}
    if "namespace" in row:
        metadata["namespace"] = row.pop("namespace")
    labels = {**_LABELS, **row.pop("labels", {})}
    return {"metadata": {**metadata, "labels": labels, "annotations": dict(_ANNOTATIONS)}, **row}
