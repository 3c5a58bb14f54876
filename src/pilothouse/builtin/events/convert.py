"""Between events.k8s.io/v1 and the core group's Event, in which both are stored: the same facts under other names."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.registry.resource import Convert

Object = dict[str, Any]
_RENAMED: Final = {  # events.k8s.io/v1 -> core/v1
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_BACK: Final = {core: new for new, core in _RENAMED.items()}
# Members of each form in the order of its type; those that are always shown have their empty value.
_NEW_ORDER: Final = (
    "eventTime", "series", "reportingController", "reportingInstance", "action", "reason", "regarding",
    "related", "note", "type",
    "deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount",
)  # fmt: skip
_CORE_ORDER: Final = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type",
    "eventTime", "series",
    "action", "related", "reportingComponent", "reportingInstance",
)  # fmt: skip
_CORE_ALWAYS: Final[dict[str, Any]] = {
    "involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None, "eventTime": None,
    "reportingComponent": "", "reportingInstance": "",
}  # fmt: skip
_NEW_ALWAYS: Final[dict[str, Any]] = {
    "eventTime": None, "regarding": {}, "deprecatedSource": {},
    "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None,
}  # fmt: skip
_NEW_DROPPED_WHEN_EMPTY: Final = ("reportingController", "reportingInstance")


def _to_hub(obj: Object, version: str) -> Object:
    """The core form of an events.k8s.io event."""
    found = {_RENAMED.get(key, key): value for key, value in obj.items()}
    made = {"metadata": found.get("metadata", {})}
    for key in _CORE_ORDER:
        if key in found:
            made[key] = found[key]
        elif key in _CORE_ALWAYS:
            empty = _CORE_ALWAYS[key]
            made[key] = dict(empty) if isinstance(empty, dict) else empty
    return {"kind": "Event", "apiVersion": "v1", **made}


def _from_hub(obj: Object, version: str) -> Object:
    """The events.k8s.io form of a core event."""
    found = {_BACK.get(key, key): value for key, value in obj.items()}
    made = {"metadata": found.get("metadata", {})}
    for key in _NEW_ORDER:
        if key in found and not (key in _NEW_DROPPED_WHEN_EMPTY and not found[key]):
            made[key] = found[key]
        elif key in _NEW_ALWAYS:
            empty = _NEW_ALWAYS[key]
            made[key] = dict(empty) if isinstance(empty, dict) else empty
    return {"kind": "Event", "apiVersion": "events.k8s.io/v1", **made}


events: Final = Convert(_to_hub, _from_hub)
