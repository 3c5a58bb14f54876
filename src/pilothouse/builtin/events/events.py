"""Events of the group events.k8s.io, in the form of the core group: stricter, and all but their series is immutable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.core.events import reported
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.objectnames import subdomain_name
from pilothouse.machinery.rules import IMMUTABLE, Field, on_create, on_update, rules
from pilothouse.registry.behaviour import Behaviour

_UNSET: Final = "needs to be unset"
_OLD: Final = ("firstTimestamp", "lastTimestamp", "count", "source")
# Member -> how it is told.
_FIXED: Final = {
    "involvedObject": "involvedObject", "reason": "reason", "message": "message", "source": "source",
    "firstTimestamp": "firstTimestamp", "lastTimestamp": "lastTimestamp", "count": "count", "type": "type",
    "eventTime": "eventTime", "action": "action", "related": "related", "reportingComponent": "reportingController",
    "reportingInstance": "reportingInstance",
}  # fmt: skip
_INTERNAL: Final = {"involvedObject": "ObjectReference", "related": "ObjectReference", "source": "EventSource"}
_TEXTS: Final = frozenset({"reason", "message", "reportingComponent", "reportingInstance", "action", "type"})

Object = Mapping[str, Any]


def _series(event: Object, field: Field) -> None:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        field.invalid("series.count", "", "should be at least 2")
    if series.get("lastObservedTime") is None:
        field.required("series.lastObservedTime")


def _new(event: Object, field: Field) -> None:
    subdomain_name(event, field)
    _series(event, field)
    if event.get("eventTime") is None:
        field.required("eventTime")
    kind = event.get("type", "")
    if kind not in ("Normal", "Warning"):
        field.invalid("type", "", f"has invalid value: {kind}")
    for name in _OLD:
        if event.get(name):
            field.invalid(name, "", _UNSET)


def _change(event: Object, field: Field) -> None:
    old = field.old
    if event.get("series") != old.get("series"):
        _series(event, field)
    for name, path in _FIXED.items():
        after, before = event.get(name), old.get(name)
        if (after or None) == (before or None):
            continue
        shown = after
        if name in _TEXTS:
            shown = after or ""
        elif name in _INTERNAL and after is not None:
            shown = internal(_INTERNAL[name], after)
        field.invalid(path, shown, IMMUTABLE)


behaviour = Behaviour(validate=rules(reported("reportingController"), on_create(_new), on_update(_change)))
