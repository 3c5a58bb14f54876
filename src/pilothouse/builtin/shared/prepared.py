"""What the original writes into a pod or into metadata before it looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_TERMS: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

Object = dict[str, Any]


def keep_metadata(new: Object, old: Object, names: Iterable[str] = METADATA) -> None:
    """Put back what a subresource does not write."""
    after, before = new["metadata"], old["metadata"]
    for name in names:
        if name in before:
            after[name] = before[name]
        else:
            after.pop(name, None)


def fresh_status(status: Object) -> Callable[[Object, Object | None, Any], None]:
    """A prepare that gives new objects this status, with the counts that the original always shows."""

    def prepare(new: Object, old: Object | None, context: Any) -> None:
        if old is None:
            new["status"] = dict(status)

    return prepare


def _extended(selector: Object, keys: Iterable[str], operator: str, labels: Mapping[str, str]) -> None:
    for key in keys:
        if key in labels:
            added = {"key": key, "operator": operator, "values": [labels[key]]}
            selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), added]


def add_label_keys(pod: Object) -> None:
    """Keys whose values are to be the pod's own become expressions of the selectors (new pods only)."""
    spec = pod.get("spec") or {}
    labels = (pod.get("metadata") or {}).get("labels")
    if not labels:
        return
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        own = affinity.get(kind) or {}
        terms = [*(own.get(_TERMS) or ()), *(one.get("podAffinityTerm") or {} for one in own.get(_PREFERRED) or ())]
        for term in terms:
            if term.get("labelSelector") is not None:
                _extended(term["labelSelector"], term.get("matchLabelKeys") or (), "In", labels)
                _extended(term["labelSelector"], term.get("mismatchLabelKeys") or (), "NotIn", labels)
    for one in spec.get("topologySpreadConstraints") or ():
        if one.get("labelSelector") is not None:
            _extended(one["labelSelector"], one.get("matchLabelKeys") or (), "In", labels)


def _armor(text: str) -> Object | None:
    if text == "runtime/default":
        return {"type": "RuntimeDefault"}
    if text == "unconfined":
        return {"type": "Unconfined"}
    if text.startswith("localhost/"):
        return {"type": "Localhost", "localhostProfile": text.removeprefix("localhost/")}
    return None


def armor_profiles(pod: Object) -> list[str]:
    """AppArmor annotations of old become fields, where no field says otherwise; the containers that this is about."""
    found: list[str] = []
    annotations = (pod.get("metadata") or {}).get("annotations")
    if not annotations or not any(key.startswith(_ARMOR) for key in annotations):
        return found
    spec = pod.get("spec") or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return found
    whole = (spec.get("securityContext") or {}).get("appArmorProfile")
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            text = annotations.get(_ARMOR + container.get("name", ""))
            own = (container.get("securityContext") or {}).get("appArmorProfile")
            profile = _armor(text) if text else None
            if text is None or own is not None or (profile is not None and profile == whole):
                continue
            found.append(container.get("name", ""))
            if profile is not None:
                container["securityContext"] = {**(container.get("securityContext") or {}), "appArmorProfile": profile}
    return found
