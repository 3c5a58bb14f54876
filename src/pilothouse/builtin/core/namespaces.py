"""Namespaces: their finalizers, their label of the name, and their phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, on_create, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

NAME_LABEL: Final = "kubernetes.io/metadata.name"
KUBERNETES: Final = "kubernetes"
_STANDARD: Final = frozenset({KUBERNETES, "orphan", "foregroundDeletion"})
_UNQUALIFIED: Final = "name is neither a standard finalizer name nor is it fully qualified"


def _fill(namespace: Object) -> None:
    metadata = namespace.get("metadata") or {}
    name = metadata.get("name")
    if name:
        labels = metadata.get("labels")
        if labels is None or labels.get(NAME_LABEL) != name:
            metadata["labels"] = {**(labels or {}), NAME_LABEL: name}


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """A new namespace is active and holds its controller's finalizer; only /finalize changes finalizers."""
    if old is not None:
        new["spec"] = old.get("spec", {})
        return
    _fill(new)  # the name may have been made after the defaults
    new["status"] = {"phase": "Active"}
    finalizers = (new.get("spec") or {}).get("finalizers") or []
    if KUBERNETES not in finalizers:
        new["spec"] = {"finalizers": [*finalizers, KUBERNETES]}


def _finalizers(new: Mapping[str, Any], field: Field, indexed: bool) -> None:
    for index, name in field.numbered((new.get("spec") or {}).get("finalizers") or ()):
        path = f"spec.finalizers[{index}]" if indexed else "spec.finalizers"
        whys = names.qualified_name(name)
        if whys:
            field.all_invalid("spec.finalizers", name, whys)
        elif "/" not in name and name not in _STANDARD:
            field.invalid(path, name, _UNQUALIFIED)


def _phase(status: Mapping[str, Any], field: Field) -> None:
    phase, marked = status.get("phase", ""), field.root["metadata"].get("deletionTimestamp") is not None
    if marked and phase != "Terminating":
        field.invalid("Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    elif not marked and phase != "Active":
        field.invalid("Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def _prepare_finalize(new: Object, old: Object | None, context: Context) -> None:
    """/finalize writes the finalizers (and metadata), not the status."""
    if old is not None:
        new["status"] = old.get("status", {})


_validate: Final = rules(
    on_create(lambda new, field: _finalizers(new, field, indexed=False)),
)
_finalize: Final = rules(lambda new, field: _finalizers(new, field, indexed=True))

behaviour = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=_validate,
    parts={"status": Part(validate=rules(at("status", _phase))), "finalize": Part(_prepare_finalize, _finalize)},
)
