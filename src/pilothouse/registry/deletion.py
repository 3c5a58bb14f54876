"""What a delete does to an object before it may go: grace, propagation policies and finalizers (Kubernetes
documentation,
"Garbage Collection" and "Finalizers"). Pure decisions over one object; the generic store carries them out.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, conflict
from pilothouse.machinery.times import format_time, parse_time
from pilothouse.registry.request import DeleteOptions
from pilothouse.registry.resource import Object, Resource

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


@record
class Verdict:
    """`remove`: the object goes now, and is shown as `marked` where that is given. Else `marked` is the object to write
    (None: nothing changes).
    """

    remove: bool
    marked: Object | None = None


def check_preconditions(resource: Resource, name: str, obj: Object, options: DeleteOptions) -> None:
    """Raises Conflict where the object is not the one the client meant."""
    metadata = obj["metadata"]
    if options.ignore_read_errors:
        raise conflict(
            resource.group, resource.plural, name, "the object can be read: it is not to be deleted unsafely"
        )
    uid = metadata.get("uid", "")
    if options.uid is not None and options.uid != uid:
        raise _precondition(
            resource, name, "UID", options.uid, uid, " The object might have been deleted and then recreated"
        )
    version = metadata.get("resourceVersion", "")
    if options.resource_version is not None and options.resource_version != version:
        raise _precondition(
            resource, name, "ResourceVersion", options.resource_version, version, " The object might have been modified"
        )


def _precondition(resource: Resource, name: str, what: str, asked: str, found: str, hint: str) -> APIError:
    if resource.delete.marks_first or resource.delete.cleanup_finalizer:
        why = f"Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}"
        return conflict(resource.group, resource.plural, name, why)
    why = f"the {what} in the precondition ({asked}) does not match the {what} in record ({found}).{hint}"
    return conflict(resource.group, resource.kind, name, why)


def decide(resource: Resource, obj: Object, options: DeleteOptions, grace: int, now: datetime) -> Verdict:
    """What becomes of `obj` (a fresh dict, changed in place). `grace`: seconds the kind grants it."""
    metadata: dict[str, Any] = obj["metadata"]
    before = list(metadata.get("finalizers") or ())
    finalizers = _finalizers(resource, before, options)
    marked_already = "deletionTimestamp" in metadata
    if marked_already:
        return _again(resource, obj, before, finalizers, options)
    goes = not finalizers and grace == 0 and not held(resource, obj) and not resource.delete.marks_first
    if goes and not resource.delete.graceful:
        return Verdict(True)
    _set_finalizers(metadata, finalizers)
    _mark(resource, metadata, grace, now)
    if resource.delete.marked_status:
        obj["status"] = {**(obj.get("status") or {}), **dict(resource.delete.marked_status)}
    if resource.delete.marked_condition is not None:
        obj["status"] = _with_condition(obj.get("status") or {}, *resource.delete.marked_condition, now)
    return Verdict(goes, obj)


def _with_condition(status: Object, kind: str, reason: str, message: str, now: datetime) -> Object:
    conditions = [one for one in status.get("conditions") or () if one.get("type") != kind]
    made = {
        "type": kind,
        "status": "True",
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message,
    }
    return {**status, "conditions": [*conditions, made]}


def _again(
    resource: Resource, obj: Object, before: list[str], finalizers: list[str], options: DeleteOptions
) -> Verdict:
    """A further delete may shorten a grace that runs, no more; where none runs, it may bring another policy."""
    metadata = obj["metadata"]
    running = metadata.get("deletionGracePeriodSeconds") or 0
    if resource.delete.graceful and running > 0:
        grace = options.grace_seconds
        if grace is None or grace >= running:
            return Verdict(False)
        _shorten(metadata, running, grace)
        _set_finalizers(metadata, finalizers)
        return Verdict(grace == 0 and not finalizers, obj)
    if not finalizers and not held(resource, obj):
        return Verdict(True)
    if finalizers == before:
        return Verdict(False)
    _set_finalizers(metadata, finalizers)
    return Verdict(False, obj)


def _shorten(metadata: dict[str, Any], running: int, grace: int) -> None:
    """The grace counts from the first delete on."""
    began = parse_time(metadata["deletionTimestamp"]) - _lasting(running)
    metadata["deletionTimestamp"] = format_time(began + _lasting(grace))
    metadata["deletionGracePeriodSeconds"] = grace


def _lasting(seconds: int) -> timedelta:
    """So many seconds; more than 292 years come round as 64 bits of nanoseconds do, so that every date is one."""
    nanos = (seconds * 10**9 + 2**63) % 2**64 - 2**63
    return timedelta(microseconds=nanos // 1000)


def _set_finalizers(metadata: dict[str, Any], finalizers: list[str]) -> None:
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)


def _mark(resource: Resource, metadata: dict[str, Any], grace: int, now: datetime) -> None:
    metadata["deletionTimestamp"] = format_time(now + _lasting(grace))
    if resource.delete.grace_seconds:
        metadata["deletionGracePeriodSeconds"] = grace
    if resource.generation is not None and resource.generation.on_deletion:
        metadata["generation"] = metadata.get("generation", 0) + 1


def _finalizers(resource: Resource, before: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers that the propagation policy leaves; those of the garbage collector come last."""
    if not resource.delete.finalizers:
        extra = resource.delete.cleanup_finalizer
        return [*before, extra] if extra and extra not in before else before
    orphan, foreground = _policy(resource, before, options)
    kept = [name for name in before if name not in (ORPHAN, FOREGROUND)]
    if orphan:
        kept.append(ORPHAN)
    if foreground:
        kept.append(FOREGROUND)
    return before if sorted(kept) == sorted(before) else kept


def _policy(resource: Resource, before: list[str], options: DeleteOptions) -> tuple[bool, bool]:
    """(orphan, foreground): an explicit wish counts first, then finalizers that are there, then the kind's habit."""
    if options.orphan_dependents is not None:
        return options.orphan_dependents, False
    if options.policy:
        return options.policy == "Orphan", options.policy == "Foreground"
    if ORPHAN in before or FOREGROUND in before:
        return ORPHAN in before, FOREGROUND in before
    return resource.delete.orphans, False


def held(resource: Resource, obj: Object) -> bool:
    """Whether a list of the kind's own holds the object."""
    value: Any = obj
    for part in resource.delete.held_by:
        value = value.get(part) if isinstance(value, dict) else None
    return bool(value) and value is not obj


def finished(resource: Resource, obj: Object) -> bool:
    """A marked object that nothing holds any more."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds"):
        return False
    return not held(resource, obj)
