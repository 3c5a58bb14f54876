"""PersistentVolumes: one source, a size, and little that changes afterwards."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos, round_amounts, units
from pilothouse.builtin.shared.claims import VOLUME_MODES, access_modes
from pilothouse.builtin.shared.internals import diff, internal
from pilothouse.builtin.shared.paths import no_backsteps
from pilothouse.builtin.shared.poddefaults import volume_source_defaults
from pilothouse.builtin.shared.podwarnings import node_term_warnings
from pilothouse.builtin.shared.same import same
from pilothouse.builtin.shared.selectors import node_selector
from pilothouse.builtin.shared.volumes import csi_driver
from pilothouse.builtin.shared.volumesources import LONG_TARGET, PERSISTENT, one_source
from pilothouse.builtin.shared.volumewarnings import OLD_SOURCES
from pilothouse.machinery import names
from pilothouse.machinery.quantitylists import are_positive
from pilothouse.machinery.rules import IMMUTABLE, Field, Rule, at, defaults, on_update, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_RECLAIM: Final = ("Delete", "Recycle", "Retain")
_NO_AFFINITY_CHANGE: Final = "field is immutable, except for updating from beta label to GA"
_SECRETS: Final = (
    "controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef",
)  # fmt: skip
_EXPANSION: Final = "controllerExpandSecretRef"
_RECYCLING: Final = (
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
)
_INLINE: Final = "may not be specified in the context of inline volumes"
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"


def _source_defaults(spec: Object) -> None:
    for name, fill in volume_source_defaults.items():
        if spec.get(name) is not None:
            fill(spec[name])


_fill: Final = defaults(
    {
        "spec.persistentVolumeReclaimPolicy": "Retain",
        "spec.volumeMode": "Filesystem",
        "spec.capacity": round_amounts,
        "spec": _source_defaults,
        "status.phase": "Pending",
    }
)


def _local(value: Mapping[str, Any], field: Field) -> None:
    path = value.get("path", "")
    if not path:
        field.required("path")
    else:
        no_backsteps(path, field, "path")


def _csi(value: Mapping[str, Any], field: Field) -> None:
    driver = value.get("driver", "")
    if not driver:
        field.required("driver")
    else:
        csi_driver(driver, field)
    if not value.get("volumeHandle"):
        field.required("volumeHandle")
    for name in _SECRETS:
        secret = value.get(name)
        if secret is not None:
            field.named(f"{name}.name", secret.get("name", ""), names.subdomain)
            field.named(f"{name}.namespace", secret.get("namespace", ""), names.label)


_SOURCES: Final[dict[str, Rule]] = {**PERSISTENT, "local": _local, "csi": _csi}


def _sources(spec: Mapping[str, Any], field: Field) -> None:
    named = one_source(spec, _SOURCES, field)
    iscsi = spec.get("iscsi") or {}
    portal = iscsi.get("targetPortal", "")
    if iscsi.get("initiatorName") is not None and len(f"{field.root['metadata'].get('name', '')}:{portal}") > 64:
        field.invalid("iscsi.targetportal", portal, LONG_TARGET)
    if spec.get("local") is not None and spec.get("nodeAffinity") is None:
        field.required("nodeAffinity", "Local volume requires node affinity")
    if not named:
        field.required("", "must specify a volume type")


def _capacity(spec: Mapping[str, Any], field: Field) -> None:
    capacity: Mapping[str, str] = spec.get("capacity") or {}
    if not capacity:
        field.required("capacity")
    if "storage" not in capacity or len(capacity) > 1:
        field.not_supported("capacity", capacity or None, ("storage",))
    for name in field.names(capacity, lambda some: are_positive(list(map(capacity.__getitem__, some)))):
        amount = nanos(capacity[name])
        if amount < 0:
            field.invalid(f"capacity[{name}]", units(capacity[name]), "must be a valid resource quantity")
        if amount <= 0:
            field.invalid(f"capacity[{name}]", capacity[name], "must be greater than zero")


def _affinity(spec: Mapping[str, Any], field: Field) -> None:
    affinity = spec.get("nodeAffinity")
    if affinity is None:
        return
    if affinity.get("required") is None:
        field.required("nodeAffinity.required", "must specify required node constraints")
    else:
        field.within("nodeAffinity.required", node_selector, affinity["required"])


def inline_spec(spec: Mapping[str, Any], field: Field) -> None:
    """The spec of a volume that no PersistentVolume stands for, told from the spec."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            field.forbidden(name, _INLINE)
    if spec.get("csi") is None:
        field.required("csi", "has to be specified in the context of inline volumes")
    _modes(spec, field)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy not in ("", "Retain"):
        field.forbidden("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes")
    if spec.get("nodeAffinity") is not None:
        field.forbidden("nodeAffinity", _INLINE)
    _sources(spec, field)
    if spec.get("storageClassName"):
        field.forbidden("storageClassName", _INLINE)
    if spec.get("volumeMode") not in (None, "Filesystem"):
        why = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        field.forbidden("volumeMode", why)
    _attributes_class(spec, field)


def _modes(spec: Mapping[str, Any], field: Field) -> None:
    if not spec.get("accessModes"):
        field.required("accessModes")
    else:
        field.within("accessModes", access_modes, spec["accessModes"])


def _attributes_class(spec: Mapping[str, Any], field: Field) -> None:
    name = spec.get("volumeAttributesClassName")
    if name is not None:
        if not name:
            field.required("volumeAttributesClassName", "an empty string is disallowed")
        else:
            field.all_invalid("volumeAttributesClassName", name, names.subdomain(name))
        if spec.get("csi") is None:
            field.required("csi", "has to be specified when using volumeAttributesClassName")


def _spec(spec: Mapping[str, Any], field: Field) -> None:
    _modes(spec, field)
    _capacity(spec, field)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _RECLAIM:
        field.not_supported("persistentVolumeReclaimPolicy", policy, _RECLAIM)
    _affinity(spec, field)
    _sources(spec, field)
    path = (spec.get("hostPath") or {}).get("path", "")
    if path.startswith("/") and posixpath.normpath(path).strip("/") == "" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        field.forbidden("persistentVolumeReclaimPolicy", why)
    name = spec.get("storageClassName", "")
    if name:
        field.all_invalid("storageClassName", name, names.subdomain(name))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        field.not_supported("volumeMode", mode, VOLUME_MODES)
    _attributes_class(spec, field)


def _fixed(spec: Mapping[str, Any], field: Field) -> None:
    """For the spec of an update."""
    old = field.old
    before = {name: old[name] for name in _SOURCES if old.get(name) is not None}
    after = {name: spec[name] for name in _SOURCES if spec.get(name) is not None}
    if not _secrets_apart(after, before):
        why = "spec.persistentvolumesource is immutable after creation\n"
        field.forbidden("persistentvolumesource", why + diff("PersistentVolumeSource", before, after))
    if spec.get("volumeMode") != old.get("volumeMode"):
        field.invalid("/volumeMode", spec.get("volumeMode"), IMMUTABLE)
    if old.get("nodeAffinity") is not None and not same(spec.get("nodeAffinity"), old["nodeAffinity"]):
        affinity = spec.get("nodeAffinity")
        shown = None if affinity is None else internal("VolumeNodeAffinity", affinity)
        field.invalid("/nodeAffinity", shown, _NO_AFFINITY_CHANGE)
    if old.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        field.forbidden("volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _secrets_apart(after: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the sources are the same but for a CSI driver's secret of expansion that was not set before."""
    if same(after, before):
        return True
    new, old = after.get("csi"), before.get("csi")
    if new is None or old is None:
        return False
    if old.get(_EXPANSION) is not None:
        return False
    return same({name: one for name, one in new.items() if name != _EXPANSION}, old)


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    if old is None:
        new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(context.now)}


def _prepare_status(new: Object, old: Object | None, context: Context) -> None:
    """The time of the last change of phase is kept by the server, unless a controller says it."""
    if old is None:
        return
    status, before = new.setdefault("status", {}), old.get("status") or {}
    if status.get("phase") != before.get("phase"):
        if status.get("lastPhaseTransitionTime") in (None, before.get("lastPhaseTransitionTime")):
            status["lastPhaseTransitionTime"] = format_time(context.now)


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    spec, found = new.get("spec") or {}, []
    annotations = new["metadata"].get("annotations") or {}
    if _CLASS in annotations:
        found.append(f'metadata.annotations[{_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead')
    if _OPTIONS in annotations:
        found.append(f'metadata.annotations[{_OPTIONS}]: deprecated since v1.31; use "mountOptions" attribute instead')
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(f"spec.persistentVolumeReclaimPolicy: {_RECYCLING}")
    for index, term in enumerate(
        ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    ):
        found += node_term_warnings(f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]", term)
    for name in spec:
        if name in OLD_SOURCES:
            shown, what = OLD_SOURCES[name]
            found.append(f"spec.{shown}: {what}")
    return found


_validate: Final = rules(at("spec", _spec, on_update(_fixed)))

behaviour = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=_validate,
    warn=_warn,
    parts={"status": Part(_prepare_status)},
)
