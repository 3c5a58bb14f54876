"""Claims of persistent storage: what claims, claim templates of stateful sets and ephemeral volumes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos
from pilothouse.builtin.shared.selectors import label_selector, labels
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")
_NOT_IN_TEMPLATES: Final = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
ONCE_ALONE: Final = "may not use ReadWriteOncePod with other access modes"

Object = Mapping[str, Any]


def access_modes(modes: list[str], field: Field) -> None:
    """Told at the list."""
    for _, one in field.doubtful(modes, frozenset(ACCESS_MODES).issuperset):
        if one not in ACCESS_MODES:
            field.not_supported("", one, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(one in ACCESS_MODES for one in modes if one != "ReadWriteOncePod"):
        field.forbidden("", ONCE_ALONE)


def _local_source(value: Object, field: Field) -> None:
    if not value.get("name"):
        field.required("name")
    if not value.get("kind"):
        field.required("kind")
    group = value.get("apiGroup")
    if not group and value.get("kind") != "PersistentVolumeClaim":
        field.invalid(
            "", value.get("kind", ""), "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        )
    elif group:
        field.all_invalid("apiGroup", group, words.subdomain(group))


def _sources(value: Object, field: Field) -> None:
    source, reference = value.get("dataSource"), value.get("dataSourceRef")
    if source is not None:
        field.within("dataSource", _local_source, source)
    if reference is not None:
        field.within("dataSourceRef", _local_source, reference)
    if source is not None and reference is not None and not reference.get("namespace"):
        same = all(source.get(name) == reference.get(name) for name in ("apiGroup", "kind", "name"))
        if not same:
            field.invalid("", {}, "must match dataSourceRef")


def claim_spec(value: Object, field: Field) -> None:
    """The spec of a claim."""
    modes = value.get("accessModes")
    if not modes:
        field.required("accessModes", "at least 1 access mode is required")
    selector = value.get("selector")
    if selector is not None:
        field.within("selector", label_selector, selector)
    if modes:
        field.within("accessModes", access_modes, modes)
    storage = ((value.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        field.required("resources[storage]")
    elif nanos(storage) <= 0:
        field.invalid("resources[storage]", storage, "must be greater than zero")
    name = value.get("storageClassName")
    if name:
        field.all_invalid("storageClassName", name, words.subdomain(name))
    volume_mode = value.get("volumeMode")
    if volume_mode is not None and volume_mode not in VOLUME_MODES:
        field.not_supported("volumeMode", volume_mode, VOLUME_MODES)
    _sources(value, field)
    name = value.get("volumeAttributesClassName")
    if name:
        field.all_invalid("volumeAttributesClassName", name, words.subdomain(name))


def template_metadata(value: Object, field: Field) -> None:
    """Metadata of what is made from a template: labels and annotations alone."""
    for key in field.names(value.get("annotations"), words.are_qualified_names):
        field.all_invalid("annotations", key, words.qualified_name(key.lower()))
    if value.get("labels"):
        field.within("labels", labels, value["labels"])
    for name in _NOT_IN_TEMPLATES:
        if value.get(name):
            field.forbidden("uID" if name == "uid" else name, "cannot be set")


def claim_template(value: Object, field: Field) -> None:
    """The template of an ephemeral volume."""
    field.within("metadata", template_metadata, value.get("metadata") or {})
    field.within("spec", claim_spec, value.get("spec") or {})
