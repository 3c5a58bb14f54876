"""Which of the names that a definition asks for it gets, and the conditions that follow (Kubernetes documentation,
"Extend the Kubernetes API with CustomResourceDefinitions"). Pure decisions over one definition and its neighbours.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from pilothouse.extensions.definition import ESTABLISHED, NAMES_ACCEPTED, Definition, Names
from pilothouse.kit.record import record
from pilothouse.machinery.protectedgroups import (
    APPROVED,
    MISSING,
    NO_REASON,
    is_approval,
    is_protected,
    is_unapproved,
)
from pilothouse.machinery.times import format_time

Object = dict[str, Any]

APPROVAL: Final = "KubernetesAPIApprovalPolicyConformant"
_BAD_BUNDLE: Final = "InvalidCABundle"
# In the original's order: the last conflict is the one that is told.
_ONE_BY_ONE: Final = (
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
)
_KINDS: Final = frozenset({"kind", "listKind"})


@record
class Taken:
    """The names that other definitions of the group were given."""

    resources: frozenset[str]
    kinds: frozenset[str]


def taken_by(others: Iterable[Names]) -> Taken:
    known = list(others)
    resources = {word for one in known for word in (one.plural, one.singular, *one.short_names) if word}
    kinds = {word for one in known for word in (one.kind, one.list_kind) if word}
    return Taken(frozenset(resources), frozenset(kinds))


def named(obj: Object, taken: Taken, now: datetime) -> Object | None:
    """The new status of a definition, None where nothing changes."""
    status: Object = obj.get("status") or {}
    accepted, conflict = _accepted(obj["spec"]["names"], status.get("acceptedNames") or {}, taken)
    conditions = [dict(one) for one in status.get("conditions") or ()]
    if conflict is None:
        _set(conditions, NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found", now)
    else:
        _set(conditions, NAMES_ACCEPTED, "False", *conflict, now)
    _establish(conditions, conflict is None, now)
    _approve(obj, conditions, now)
    new = {**status, "acceptedNames": accepted, "conditions": conditions}
    return None if new == status else new


def _accepted(wanted: Object, given: Object, taken: Taken) -> tuple[Object, tuple[str, str] | None]:
    accepted = {"plural": "", "kind": "", **given}
    conflict: tuple[str, str] | None = None
    for member, reason in _ONE_BY_ONE:
        used = taken.kinds if member in _KINDS else taken.resources
        asked, had = wanted.get(member), given.get(member)
        fresh = asked if isinstance(asked, list) else [asked] if asked else []
        owned = had if isinstance(had, list) else [had]
        clashes = [f'"{word}" is already in use' for word in fresh if word not in owned and word in used]
        if clashes:
            conflict = reason, clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]"
        else:
            _put(accepted, member, asked)
    _put(accepted, "categories", wanted.get("categories"))
    return accepted, conflict


def _put(names: Object, member: str, value: Any) -> None:
    if value:
        names[member] = value
    else:
        names.pop(member, None)


def _establish(conditions: list[Object], accepted: bool, now: datetime) -> None:
    """Until its names are accepted for the first time a definition is not served; after that it stays."""
    current = condition(conditions, ESTABLISHED)
    if current is not None and current.get("status") == "True":
        return
    if accepted and (current is None or current.get("reason") != _BAD_BUNDLE):
        _set(conditions, ESTABLISHED, "False", "Installing", "the initial names have been accepted", now)
    elif current is None:
        _set(conditions, ESTABLISHED, "False", "NotAccepted", "not all names are accepted", now)


def established(obj: Object, now: datetime) -> Object | None:
    """The status of a definition whose objects can be served now, None where it is not the moment."""
    status: Object = obj.get("status") or {}
    conditions = [dict(one) for one in status.get("conditions") or ()]
    accepted, current = condition(conditions, NAMES_ACCEPTED), condition(conditions, ESTABLISHED)
    if accepted is None or accepted.get("status") != "True":
        return None
    if current is not None and current.get("status") == "True":
        return None
    if not _readable_bundle(obj["spec"].get("conversion") or {}):
        _set(conditions, ESTABLISHED, "False", _BAD_BUNDLE, "The conversion webhook CABundle is invalid", now)
        return None if conditions == status.get("conditions") else {**status, "conditions": conditions}
    _set(conditions, ESTABLISHED, "True", "InitialNamesAccepted", "the initial names have been accepted", now)
    return {**status, "conditions": conditions}


def _readable_bundle(conversion: Object) -> bool:
    """Whether there is no bundle of authorities, or it holds certificates."""
    bundle = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("caBundle")
    if not bundle:
        return True
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=base64.b64decode(bundle).decode("ascii"))
    except (ssl.SSLError, ValueError):
        return False
    return True


def _approve(obj: Object, conditions: list[Object], now: datetime) -> None:
    """Groups of the project itself tell whether they were approved."""
    group = obj["spec"]["group"]
    if not is_protected(group):
        return
    text = (obj["metadata"].get("annotations") or {}).get(APPROVED, "")
    if not text:
        _set(conditions, APPROVAL, "False", "MissingAnnotation", MISSING, now)
    elif is_unapproved(text):
        _set(conditions, APPROVAL, "False", "UnapprovedAnnotation", f'not approved: "{text}"', now)
    elif is_approval(text):
        _set(conditions, APPROVAL, "True", "ApprovedAnnotation", f"approved in {text}", now)
    else:
        _set(conditions, APPROVAL, "False", "InvalidAnnotation", NO_REASON, now)


def condition(conditions: Iterable[Object], kind: str) -> Object | None:
    return next((one for one in conditions if one.get("type") == kind), None)


def _set(conditions: list[Object], kind: str, status: str, reason: str, message: str, now: datetime) -> None:
    """The time moves only when the status does."""
    current = condition(conditions, kind)
    if current is None:
        current = {"type": kind, "status": "", "lastTransitionTime": None, "reason": "", "message": ""}
        conditions.append(current)
    if current["status"] != status:
        current["lastTransitionTime"] = format_time(now)
    current.update(status=status, reason=reason, message=message)


def with_condition(obj: Object, kind: str, status: str, reason: str, message: str, now: datetime) -> Object:
    """The status of a definition with one condition set."""
    before: Object = obj.get("status") or {}
    conditions = [dict(one) for one in before.get("conditions") or ()]
    _set(conditions, kind, status, reason, message, now)
    return {**before, "conditions": conditions}


def neighbours(definition: Definition, all_of_them: Iterable[Definition]) -> list[Names]:
    """The names that others of its group have."""
    return [one.names for one in all_of_them if one.group == definition.group and one.name != definition.name]
