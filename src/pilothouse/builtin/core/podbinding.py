"""Binding a pod to a node, without the store: what is refused, what conflicts, and what becomes of the pod."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.rules import Field
from pilothouse.machinery.times import format_time

_TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")

Object = Mapping[str, Any]


def refusal(binding: Object) -> str:
    """Why a Binding makes no sense, as the original says it (with a bare 500); empty where it does."""
    field = Field()
    target = binding.get("target") or {}
    if target.get("kind", "") not in ("", "Node"):
        field.not_supported("target.kind", target["kind"], ("Node", "<empty>"))
    if not target.get("name"):
        field.required("target.name")
    texts = [f"{cause.field}: {cause.message}" for cause in field.causes()]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


def conflict(pod: Object) -> str:
    """Why a pod cannot be bound now (409); empty where it can."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    name = metadata.get("name", "")
    if metadata.get("deletionTimestamp") is not None:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _merged(own: Object | None, added: Object) -> dict[str, Any]:
    return {**(own or {}), **added}


def bind(pod: dict[str, Any], binding: Object, node_labels: Object, now: datetime) -> None:
    """In place: the node's name, the Binding's labels and annotations, the node's zone and region, and a condition.

    `node_labels`: of the node, empty where there is no such node. `now`: UTC.
    """
    metadata, given = pod["metadata"], binding.get("metadata") or {}
    pod["spec"]["nodeName"] = binding["target"]["name"]
    if given.get("annotations"):
        metadata["annotations"] = _merged(metadata.get("annotations"), given["annotations"])
    labels = {key: node_labels[key] for key in _TOPOLOGY if node_labels.get(key)}
    labels.update(given.get("labels") or {})
    if labels:
        metadata["labels"] = _merged(metadata.get("labels"), labels)
    status = pod.setdefault("status", {})
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": format_time(now),
    }
    others = [one for one in status.get("conditions") or () if one.get("type") != "PodScheduled"]
    before = [one for one in status.get("conditions") or () if one.get("type") == "PodScheduled"]
    if before and before[0].get("status") == "True":
        condition["lastTransitionTime"] = before[0].get("lastTransitionTime")
    status["conditions"] = [*others, condition]
