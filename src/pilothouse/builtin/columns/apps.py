"""The apps group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    containers,
    images,
    items,
    labels,
    name,
    number,
    part,
    ratio,
    resource_name,
    row,
    selector,
)

_GENERATION: Final = "deprecated.daemonset.template.generation"
_POD: Final = "spec.template.spec"


def _controller(obj: Object) -> str:
    for owner in items(part(obj, "metadata"), "ownerReferences"):
        if owner.get("controller"):
            group = (owner.get("apiVersion") or "").rpartition("/")[0]
            return resource_name(owner.get("kind") or "", group, owner.get("name") or "")
    return NONE


def _uncounted(obj: Object) -> Object:
    """The original counts changes of the template beside the metadata in its own form, of which tables are made."""
    metadata = part(obj, "metadata")
    left = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != _GENERATION}
    shown = {key: left if key == "annotations" else value for key, value in metadata.items()}
    if not left:
        shown.pop("annotations", None)
    return {"metadata": shown}


SHOWN: Final = {"daemonsets": _uncounted}
ROWS: Final[dict[str, Template]] = {
    "controllerrevisions": row(name, _controller, number("revision"), age),
    "daemonsets": row(
        name,
        number("status.desiredNumberScheduled"),
        number("status.currentNumberScheduled"),
        number("status.numberReady"),
        number("status.updatedNumberScheduled"),
        number("status.numberAvailable"),
        labels(f"{_POD}.nodeSelector"),
        age,
        containers(_POD),
        images(_POD),
        selector("spec.selector"),
    ),
    "deployments": row(
        name,
        ratio("status.readyReplicas", "spec.replicas"),
        number("status.updatedReplicas"),
        number("status.availableReplicas"),
        age,
        containers(_POD),
        images(_POD),
        selector("spec.selector", ""),
    ),
    "replicasets": row(
        name,
        number("spec.replicas"),
        number("status.replicas"),
        number("status.readyReplicas"),
        age,
        containers(_POD),
        images(_POD),
        selector("spec.selector"),
    ),
    "statefulsets": row(name, ratio("status.readyReplicas", "spec.replicas"), age, containers(_POD), images(_POD)),
}
