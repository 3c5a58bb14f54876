"""PersistentVolumeClaims: what is asked for, and the little that changes once it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos, round_amounts, units
from pilothouse.builtin.shared.claims import claim_spec
from pilothouse.builtin.shared.internals import diff
from pilothouse.builtin.shared.poddefaults import claim_spec_defaults
from pilothouse.builtin.shared.podgates import claim_sources
from pilothouse.builtin.shared.podwarnings import fractional
from pilothouse.builtin.shared.resources import is_native
from pilothouse.builtin.shared.same import same
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import IMMUTABLE, Field, at, defaults, on_update, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_ONLY: Final = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
)
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_RESIZES: Final = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending",
)  # fmt: skip
_SNAPSHOTS: Final = "snapshot.storage.k8s.io"

_fill: Final = defaults(
    {
        "spec": claim_spec_defaults,
        "status.capacity": round_amounts,
        "status.phase": "Pending",
    }
)


def _may_be_source(source: Mapping[str, Any]) -> bool:
    """Another claim, or a snapshot; other things are asked for with `dataSourceRef`."""
    if not source.get("kind") or not source.get("name"):
        return False
    group = source.get("apiGroup") or ""
    return (group, source["kind"]) in (("", "PersistentVolumeClaim"), (_SNAPSHOTS, "VolumeSnapshot"))


def _sources(spec: Object) -> None:
    """The two ways to name a source say the same."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and not _may_be_source(source):
        del spec["dataSource"]
        source = None
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif source is None and reference is not None and not reference.get("namespace") and _may_be_source(reference):
        spec["dataSource"] = {name: reference.get(name) for name in ("apiGroup", "kind", "name")}


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    spec = new.get("spec") or {}
    for owner, name in list(claim_sources(spec)):
        del owner[name]
    if old is None:
        new["status"] = {"phase": "Pending"}
        _sources(spec)
    elif not (old.get("spec") or {}).get("dataSourceRef") or spec.get("dataSource"):
        _sources(spec)


def _with(spec: Object, name: str, value: Any) -> None:
    if value is None:
        spec.pop(name, None)
    else:
        spec[name] = value


def _change(spec: Object, field: Field) -> None:
    """For the spec of an update: a name for the volume once, and more storage once it is bound."""
    old, status = field.old, field.root_old.get("status") or {}
    bound = status.get("phase") == "Bound"
    made = dict(spec)
    if not old.get("volumeName"):
        _with(made, "volumeName", old.get("volumeName"))
    before = field.root_old["metadata"].get("annotations") or {}
    after = field.root["metadata"].get("annotations") or {}
    named = spec.get("storageClassName")
    if old.get("storageClassName") is None and named is not None and before.get(_CLASS, named) == named:
        # A class may be given later to a claim without one; it is that of the annotation of old, where there is one.
        made.pop("storageClassName")
    elif after.get(_CLASS, "") != before.get(_CLASS, ""):
        field.invalid(f"/metadata.annotations.{_CLASS}", after.get(_CLASS, ""), IMMUTABLE)
    if bound:
        resources = {**(made.get("resources") or {})}
        _with(resources, "requests", (old.get("resources") or {}).get("requests"))
        made["resources"] = resources
        if made.get("volumeAttributesClassName") is not None:
            _with(made, "volumeAttributesClassName", old.get("volumeAttributesClassName"))
    if not same(made, old):
        field.forbidden("", _ONLY + diff("PersistentVolumeClaimSpec", old, made))
    _shrink(spec, old, status, field)
    if spec.get("volumeMode") != old.get("volumeMode"):
        field.invalid("/volumeMode", spec.get("volumeMode"), IMMUTABLE)
    if old.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        field.forbidden("volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _shrink(spec: Object, old: Object, status: Object, field: Field) -> None:
    """A request may be taken back, but not below what there is."""
    after = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    before = ((old.get("resources") or {}).get("requests") or {}).get("storage")
    capacity = (status.get("capacity") or {}).get("storage")
    if after is None or before is None or nanos(after) >= nanos(before):
        return
    if capacity is not None and nanos(after) <= nanos(capacity):
        if nanos(after) < nanos(capacity) or nanos(before) <= nanos(capacity):
            field.forbidden("resources.requests.storage", "field can not be less than status.capacity")


def _resource_key(name: str, field: Field, path: str) -> bool:
    """Of native resources a claim has storage alone. Whether the name is one."""
    whys = words.qualified_name(name)
    field.all_invalid(path, name, whys)
    if not whys and is_native(name) and name != "storage":
        field.not_supported(path, name, ("storage",))
        return False
    return not whys


def _status(status: Object, field: Field) -> None:
    capacity, resizes = status.get("capacity") or {}, status.get("allocatedResourceStatuses") or {}
    for name in field.names(capacity):
        if nanos(capacity[name]) < 0:
            field.invalid(f"capacity[{name}]", units(capacity[name]), "must be a valid resource quantity")
    for name in field.names(resizes):
        _resource_key(name, field, "allocatedResourceStatuses")
        if resizes[name] not in _RESIZES:
            field.not_supported("allocatedResourceStatuses", name, _RESIZES)
    for name, text in sorted((status.get("allocatedResources") or {}).items()):
        if _resource_key(name, field, "allocatedResources") and nanos(text) < 0:
            field.invalid(f"allocatedResources[{name}]", units(text), "must be a valid resource quantity")


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    found = []
    if _CLASS in (new["metadata"].get("annotations") or {}):
        found.append(f'metadata.annotations[{_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead')
    requests = ((new.get("spec") or {}).get("resources") or {}).get("requests") or {}
    found += fractional("spec.resources", "requests", "storage", requests)
    return found


_validate: Final = rules(at("spec", claim_spec, on_update(_change)))

behaviour = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=_validate,
    warn=_warn,
    parts={"status": Part(validate=rules(at("status", _status)))},
)
