"""What the generic store asks about a custom resource in one version: validation, generation, warnings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.cel.rules import broken
from pilothouse.cel.schemarules import nested_rules
from pilothouse.extensions import scale
from pilothouse.extensions.definition import Version
from pilothouse.extensions.metrics import CustomMetrics
from pilothouse.kit.aside import HEAVY
from pilothouse.machinery.errors import MOST_CAUSES, Cause
from pilothouse.machinery.jsoncodec import identical
from pilothouse.machinery.structural import embedded, unique
from pilothouse.machinery.structural.check import Check, check
from pilothouse.machinery.structural.explain import ABSENT, explain
from pilothouse.machinery.structural.node import Node
from pilothouse.registry import metadata
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_STANDARD_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_PREFER: Final = "prefer a domain-qualified finalizer name"
_AVOID: Final = "to avoid accidental conflicts with other finalizer writers"
_BLOCKING: Final = frozenset(
    {
        "FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)  # fmt: skip
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
_PAIRS: Final = 8  # pairs of bytes that are as much work as a byte of usual JSON
_NOT_COUNTED: Final = frozenset({"apiVersion", "kind", "metadata"})


def behaviour(root: Node, version: Version, measured: CustomMetrics | None = None) -> Callable[[], Behaviour]:
    """Compiled when the first object is written."""

    def make() -> Behaviour:
        whole = _Validation(root, version, measured)
        return Behaviour(
            prepare=_drop_status if version.status else None,
            validate=whole.validate,
            warn=_warn,
            parts={"status": Part(validate=whole.validate_status), "scale": Part(validate=whole.validate)},
            generation=None if version.status else _changed,
            effort=whole.effort if root.has_rules else None,
        )

    return make


def _drop_status(new: Object, old: Object | None, context: Context) -> None:
    if old is None:
        new.pop("status", None)


def _changed(new: Object, old: Object) -> bool:
    """Without a status of its own, all but metadata counts."""
    names = (new.keys() | old.keys()) - _NOT_COUNTED
    return any(not identical(new.get(name), old.get(name)) for name in names)


class _Validation:
    def __init__(self, root: Node, version: Version, measured: CustomMetrics | None) -> None:
        self._measured = measured
        self._root = root
        self._scale = version.scale
        self._valid: Check = check(root)
        self._status = root.properties.get("status")
        self._tried = False
        self._nested = nested_rules(root) if root.has_rules else 0

    def effort(self, size: int) -> int:
        """Rules are compiled when they are first tried; loops in loops look at each pair of items."""
        if not self._tried:
            return HEAVY
        return self._nested * size * size // _PAIRS

    def validate(self, obj: Object, old: Object | None, context: Context) -> Sequence[Cause]:
        causes: list[Cause] = []
        if not self._valid(obj):
            causes += self._explained(obj, old)
            if len(causes) >= MOST_CAUSES:  # more are not told
                return causes
            causes += self._scales(obj)
            causes += embedded.problems(self._root, obj, "", metadata.validate_embedded)
            causes += self._twice(obj, old)
        else:
            causes += self._scales(obj)
        return [*causes, *self._rules(self._root, causes, obj, old, context)]

    def _explained(self, obj: Object, old: Object | None) -> Sequence[Cause]:
        if old is None or self._measured is None:
            return explain(self._root, obj, ABSENT if old is None else old)
        began = self._measured.now()
        causes = explain(self._root, obj, old)
        self._measured.compared(self._measured.now() - began)
        return causes

    def validate_status(self, obj: Object, old: Object | None, context: Context) -> Sequence[Cause]:
        """Only the status is looked at."""
        causes: list[Cause] = []
        node = self._status
        if node is not None and "status" in obj and not check(node)(obj["status"]):
            before: Any = (old or {}).get("status", ABSENT)
            causes += explain(node, obj["status"], before, field="status")
            if len(causes) >= MOST_CAUSES:
                return causes
            causes += embedded.problems(node, obj["status"], "status", metadata.validate_embedded)
            causes += self._twice(obj, old)
        causes += self._scales(obj)
        return [*causes, *self._rules(self._root, causes, obj, old, context)]

    def _rules(
        self, root: Node, causes: Sequence[Cause], obj: Object, old: Object | None, context: Context
    ) -> Sequence[Cause]:
        """Rules are not looked at where what they speak of is of the wrong type or size."""
        if not root.has_rules:
            return ()
        if any(cause.reason in _BLOCKING for cause in causes):
            return [Cause("FieldValueInvalid", f"Invalid value: null: {_NOT_CHECKED}", "<nil>")]
        self._tried = True
        return broken(root, obj, old, context.warn, measured=self._measured)

    def _scales(self, obj: Object) -> list[Cause]:
        return scale.problems(self._scale, obj) if self._scale is not None else []

    def _twice(self, obj: Object, old: Object | None) -> list[Cause]:
        """Lists that had doubles before may keep them."""
        found: list[tuple[str, str]] = []
        unique.duplicates(self._root, obj, "", found)
        if found and old is not None:
            before: list[tuple[str, str]] = []
            unique.duplicates(self._root, old, "", before)
            if before:
                return []
        return [Cause("FieldValueDuplicate", f"Duplicate value: {value}", path) for path, value in found]


def _warn(new: Object, old: Object | None) -> list[str]:
    """New finalizers without a domain and a path are allowed, and told."""
    had = set((old or {}).get("metadata", {}).get("finalizers") or ())
    texts = []
    for name in new["metadata"].get("finalizers") or ():
        if name in had or name in _STANDARD_FINALIZERS or "/" in name:
            continue
        path = " including a path (/)" if "." in name else ""
        texts.append(f'metadata.finalizers: "{name}": {_PREFER}{path} {_AVOID}')
    return texts
