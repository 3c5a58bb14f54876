"""Pods: what is filled in, what is refused, what may change afterwards, and the parts that write a part of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from operator import contains
from typing import Any, Final

from pilothouse.builtin.core.podchange import ephemeral_update, no_static_pod, no_windows, pod_resize, pod_update
from pilothouse.builtin.core.podstatus import pod_status
from pilothouse.builtin.shared.addresses import address_warnings
from pilothouse.builtin.shared.containers import are_without_blanks, image_blanks
from pilothouse.builtin.shared.podannotations import annotation_changes, armor_agrees, pod_annotations, seccomp_agrees
from pilothouse.builtin.shared.poddefaults import pod_defaults
from pilothouse.builtin.shared.podgates import drop_closed
from pilothouse.builtin.shared.podresources import keep_pod_resources, pod_resource_defaults
from pilothouse.builtin.shared.podspec import pod_spec
from pilothouse.builtin.shared.podwarnings import armor_warning, pod_warnings
from pilothouse.builtin.shared.prepared import add_label_keys, armor_profiles, keep_metadata
from pilothouse.builtin.shared.qos import qos_class
from pilothouse.machinery.rules import Field, at, if_changed, on_create, on_update, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_GATED: Final = "Scheduling is blocked due to non-empty scheduling gates"


def _annotations_of(pod: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (pod.get("metadata") or {}).get("annotations") or {}
    return found


def _annotations(metadata: Mapping[str, Any], field: Field) -> None:
    """What annotations mean for a pod, told from its metadata."""
    found = metadata.get("annotations")
    if found:
        before = len(field.found)
        old = _annotations_of(field.root_old) if field.updating else None
        pod_annotations(found, field.root.get("spec") or {}, field, old)
        field.prefix(before, "annotations")


def _annotation_changes(metadata: Mapping[str, Any], field: Field) -> None:
    """On update; told from the metadata."""
    before = len(field.found)
    annotation_changes(metadata.get("annotations") or {}, _annotations_of(field.root_old), field)
    field.prefix(before, "annotations")


def _are_without_token(sources: Sequence[Mapping[str, Any]]) -> bool:
    return "serviceAccountToken" not in chain.from_iterable(sources)


def _spec(spec: Mapping[str, Any], field: Field) -> None:
    """What a pod's spec must be, beyond a template's: told from the spec."""
    pod_spec(spec, field, field.root["metadata"].get("name", ""))
    volumes = spec.get("volumes") or ()
    if not spec.get("serviceAccountName") and any(map(contains, volumes, repeat("projected"))):
        for index, volume in field.numbered(volumes):
            sources = (volume.get("projected") or {}).get("sources") or ()
            for place, source in field.doubtful(sources, _are_without_token):
                if source.get("serviceAccountToken") is not None:
                    path = f"volumes[{index}].projected.sources[{place}].serviceAccountToken"
                    field.forbidden(path, "must not be specified when serviceAccountName is not set")
    for kind in ("containers", "initContainers"):
        for index, container in field.doubtful(spec.get(kind) or (), are_without_blanks):
            before = len(field.found)
            image_blanks(container, field)
            if len(field.found) > before:
                field.prefix(before, f"{kind}[{index}]")


def _on_create(spec: Mapping[str, Any], field: Field) -> None:
    if spec.get("ephemeralContainers"):
        field.forbidden("ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        field.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared")
    annotations = _annotations_of(field.root)
    seccomp_agrees(annotations, spec, field)
    armor_agrees(annotations, spec, field)


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """A new pod is pending; an update leaves the status alone."""
    drop_closed(new, old)
    if old is not None:
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
        if new["spec"] is not old["spec"]:
            keep_pod_resources(new["spec"], old["spec"])
        return
    spec = new.get("spec") or {}
    pod_resource_defaults(spec)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    status: Object = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": format_time(context.now),
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    new["status"] = status
    add_label_keys(new)
    for container in armor_profiles(new):
        context.warn(armor_warning("", container))


def _prepare_status(new: Object, old: Object | None, context: Context) -> None:
    """Only the status changes; owners stay, and a class of service that is left out too."""
    if old is None:
        return
    new["spec"] = old.get("spec", {})
    keep_metadata(new, old, ("ownerReferences",))
    status = new.setdefault("status", {})
    if not status.get("qosClass") and (old.get("status") or {}).get("qosClass"):
        status["qosClass"] = old["status"]["qosClass"]


def _whole_old(new: Object, old: Object) -> Object:
    """The old pod's spec and status in the new one, its metadata too; returns the spec that was sent."""
    sent: Object = new.get("spec") or {}
    keep_metadata(new, old)
    new["status"] = old.get("status", {})
    return sent


def _prepare_ephemeral(new: Object, old: Object | None, context: Context) -> None:
    """Only the debugging containers change."""
    if old is None:
        return
    sent = _whole_old(new, old)
    spec = dict(old["spec"])
    spec.pop("ephemeralContainers", None)
    if sent.get("ephemeralContainers"):
        spec["ephemeralContainers"] = sent["ephemeralContainers"]
    new["spec"] = spec


def _prepare_resize(new: Object, old: Object | None, context: Context) -> None:
    """Only resources and resize policies change."""
    if old is None:
        return
    sent = _whole_old(new, old)
    spec = dict(old["spec"])
    for kind in ("containers", "initContainers"):
        if kind in spec:
            after = {one.get("name"): one for one in sent.get(kind) or ()}
            spec[kind] = [_taken(one, after.get(one.get("name"))) for one in spec[kind] or ()]
    spec.pop("resources", None)
    if sent.get("resources") is not None:
        spec["resources"] = sent["resources"]
        pod_resource_defaults(spec)
    new["spec"] = spec


def _taken(container: Object, sent: Object | None) -> Object:
    if sent is None:
        return container
    made = {**container}
    for name in ("resources", "resizePolicy"):
        made.pop(name, None)
        if sent.get(name) is not None:
            made[name] = sent[name]
    return made


# Most updates of pods are about labels and annotations: a spec that was stored is not judged again.
_validate: Final = rules(
    at("metadata", _annotations),
    at("spec", if_changed(_spec), on_create(_on_create)),
    on_update(at("metadata", _annotation_changes)),
    at("spec", on_update(if_changed(pod_update))),
)
_status: Final = rules(at("metadata", _annotation_changes, _annotations), at("status", pod_status))


def _warn_status(new: Object, old: Object | None) -> Sequence[str]:
    status = new.get("status") or {}
    return [
        text
        for name in ("podIPs", "hostIPs")
        for index, one in enumerate(status.get(name) or ())
        for text in address_warnings(f"status.{name}[{index}].ip", one.get("ip"))
    ]


_UNSTATIC: Final = no_static_pod("static pods do not support ephemeral containers")
_UNSIZED: Final = no_static_pod("static pods cannot be resized")
_parts: Final = {
    "status": Part(_prepare_status, _status, _warn_status),
    "ephemeralcontainers": Part(_prepare_ephemeral, rules(at("spec", _UNSTATIC, _spec, ephemeral_update))),
    "resize": Part(_prepare_resize, rules(at("spec", _UNSIZED, no_windows, _spec, pod_resize))),
}

behaviour = Behaviour(defaults=pod_defaults, prepare=_prepare, validate=_validate, warn=pod_warnings, parts=_parts)
