"""Query parameters and DeleteOptions bodies as the registry's frozen options, with the original's refusals."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.endpoints.requestinfo import Query, is_set
from pilothouse.machinery.digits import unsigned, whole
from pilothouse.machinery.errors import APIError, Cause, bad_request, bare_internal, invalid
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.selectors import parse_field_selector, parse_label_selector
from pilothouse.registry.request import DeleteOptions, ListOptions

_INT64_MAX: Final = 2**63 - 1
_POLICIES: Final = ("Foreground", "Background", "Orphan")


def integer(query: Query, name: str) -> int:
    """A signed 64-bit parameter; absent is 0. Raises BadRequest in Go's words."""
    return parse_integer(query.get(name)) if name in query else 0


def parse_integer(text: str) -> int:
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit()):
        raise bad_request(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    value = whole(text)
    if not -_INT64_MAX - 1 <= value <= _INT64_MAX:
        raise bad_request(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def flag(query: Query, name: str) -> bool | None:
    """A boolean parameter; None where it is absent."""
    return is_set(query.get(name)) if name in query else None


def resource_version(text: str, *, listing: bool) -> int | None:
    """None where it is not given. A list refuses a broken one with 400, everything else with a bare 500."""
    if not text:
        return None
    value = unsigned(text)
    if isinstance(value, int):
        return value
    message = f"resourceVersion: Invalid value: {quote(text)}: {value}"
    raise bad_request(f"invalid resource version: {message}") if listing else bare_internal(message)


def list_options(query: Query, name: str = "", *, watch: bool = False) -> ListOptions:
    """The options of a list or watch. Raises BadRequest, and Invalid for combinations that mean nothing."""
    limit = integer(query, "limit")
    integer(query, "timeoutSeconds")  # only a watch heeds it, but nonsense is refused
    match = query.get("resourceVersionMatch")
    version_text = query.get("resourceVersion")
    token = query.get("continue")
    causes = match_causes(match, version_text, token, flag(query, "sendInitialEvents"), watch=watch)
    try:
        if causes:
            raise invalid("meta.k8s.io", "ListOptions", "", causes)
        version = resource_version(version_text, listing=not watch)
    except APIError:
        parse_label_selector(query.get("labelSelector"))  # what cannot be read is told before what makes no sense
        parse_field_selector(query.get("fieldSelector"))
        raise
    return ListOptions(query.get("labelSelector"), query.get("fieldSelector"), version, match, limit, token, name)


def match_causes(match: str, version: str, token: str, initial: bool | None, *, watch: bool) -> list[Cause]:
    """What is wrong with resourceVersionMatch and sendInitialEvents."""
    if watch:
        return _watch_causes(match, token, initial)
    path = "resourceVersionMatch"
    refused = (
        _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list") if initial is not None else None
    )
    causes = _list_match_causes(path, match, version, token) if match else []
    return [*causes, refused] if refused is not None else causes


def _list_match_causes(path: str, match: str, version: str, token: str) -> list[Cause]:
    causes: list[Cause] = []
    if not version:
        causes.append(_forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if token:
        causes.append(_forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in ("Exact", "NotOlderThan"):
        causes.append(_unsupported(path, match, '"Exact", "NotOlderThan", ""'))
    if match == "Exact" and version == "0":
        causes.append(_forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    return causes


def _watch_causes(match: str, token: str, initial: bool | None) -> list[Cause]:
    path = "resourceVersionMatch"
    causes: list[Cause] = []
    if token:
        causes.append(_forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
    if initial is None:
        if match:
            causes.append(
                _forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
            )
    elif match != "NotOlderThan":
        causes.append(_forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match and match != "NotOlderThan":
        causes.append(_unsupported(path, match, '"NotOlderThan"'))
    return causes


def _forbidden(path: str, text: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {text}", path)


def _unsupported(path: str, value: str, supported: str) -> Cause:
    return Cause("FieldValueNotSupported", f"Unsupported value: {quote(value)}: supported values: {supported}", path)


def write_options(query: Query, kind: str, *, applies: bool = False) -> tuple[bool, str, str]:
    """(dry run, field manager, field validation) of a create, update or patch. `kind`: CreateOptions, ...

    `applies`: the patch is an applied configuration, which needs a manager and alone may use force. Raises Invalid.
    """
    manager = query.get("fieldManager")
    causes: list[Cause] = []
    if applies and not manager:
        causes.append(Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager"))
    elif kind == "PatchOptions" and not applies and "force" in query:
        causes.append(_forbidden("force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > 128:
        causes.append(Cause("FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"))
    place = 0  # in bytes
    for char in manager:
        if not char.isprintable():
            text = f"Invalid value: {quote(manager)}: invalid character U+{ord(char):04X} (at position {place})"
            causes.append(Cause("FieldValueInvalid", text, "fieldManager"))
        place += len(char.encode())
    causes += dry_run_causes(query.all("dryRun"))
    validation = query.get("fieldValidation")
    if validation not in ("", "Ignore", "Warn", "Strict"):
        causes.append(_unsupported("fieldValidation", validation, '"", "Ignore", "Strict", "Warn"'))
    if causes:
        raise invalid("meta.k8s.io", kind, "", causes)
    return "dryRun" in query, manager, validation or "Warn"


def dry_run_causes(values: list[str]) -> list[Cause]:
    if any(value != "All" for value in values):
        shown = dumps(values).decode()
        return [Cause("FieldValueNotSupported", f'Unsupported value: {shown}: supported values: "All"', "dryRun")]
    return []


def delete_options_of_query(query: Query) -> DeleteOptions:
    """What a DELETE without a body asks for."""
    fields: dict[str, Any] = {}
    if "gracePeriodSeconds" in query:
        fields["gracePeriodSeconds"] = integer(query, "gracePeriodSeconds")
    if "orphanDependents" in query:
        fields["orphanDependents"] = flag(query, "orphanDependents")
    if "propagationPolicy" in query:
        fields["propagationPolicy"] = query.get("propagationPolicy")
    if "dryRun" in query:
        fields["dryRun"] = query.all("dryRun")
    preconditions = {
        name: query.get(wire)
        for name, wire in (("uid", "uid"), ("resourceVersion", "resourceVersion"))
        if wire in query
    }
    if preconditions:
        fields["preconditions"] = preconditions
    if "ignoreStoreReadErrorWithClusterBreakingPotential" in query:
        fields["ignoreStoreReadErrorWithClusterBreakingPotential"] = flag(
            query, "ignoreStoreReadErrorWithClusterBreakingPotential"
        )
    return delete_options(fields)


def delete_options(body: dict[str, Any]) -> DeleteOptions:
    """From a decoded DeleteOptions. Raises Invalid."""
    policy = body.get("propagationPolicy")
    orphan = body.get("orphanDependents")
    causes: list[Cause] = []
    if policy is not None and orphan is not None:
        text = f"Invalid value: {quote(policy)}: orphanDependents and deletionPropagation cannot be both set"
        causes.append(Cause("FieldValueInvalid", text, "propagationPolicy"))
    if policy is not None and policy not in _POLICIES:
        causes.append(_unsupported("propagationPolicy", policy, '"Foreground", "Background", "Orphan", "nil"'))
    causes += dry_run_causes(body.get("dryRun") or [])
    causes += _unsafe_causes(body)
    if causes:
        raise _invalid_delete(causes)
    preconditions = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    return DeleteOptions(
        grace_seconds=1 if grace is not None and grace < 0 else grace,
        policy=policy or "",
        orphan_dependents=orphan,
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        dry_run=bool(body.get("dryRun")),
        ignore_read_errors=bool(body.get("ignoreStoreReadErrorWithClusterBreakingPotential")),
    )


def _unsafe_causes(body: dict[str, Any]) -> list[Cause]:
    """The unsafe delete of unreadable objects goes with no other option."""
    path = "ignoreStoreReadErrorWithClusterBreakingPotential"
    if not body.get(path):
        return []
    others = ("dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions")
    return [
        Cause("FieldValueInvalid", f"Invalid value: true: cannot be set together with .{name}", path)
        for name in others
        if body.get(name) is not None
    ]


def _invalid_delete(causes: list[Cause]) -> APIError:
    return invalid("meta.k8s.io", "DeleteOptions", "", causes)
