"""PATCH: JSON Patch, JSON Merge Patch and Strategic Merge Patch (API concepts, "Patch")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.endpoints.options import write_options
from pilothouse.endpoints.scope import OBJECT_FORMS, Scope, info_of
from pilothouse.endpoints.update import check_names, unconditional
from pilothouse.machinery.decode import DecodeError, Findings
from pilothouse.machinery.errors import APIError, Cause, bad_request, invalid
from pilothouse.machinery.jsoncodec import JSONError, duplicates, loads
from pilothouse.machinery.patch import jsonpatch, mergepatch, strategic, undecodable
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
_APPLY_TYPES: Final = ("application/apply-patch+yaml", "application/apply-patch+cbor")
_TYPES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
Patched = Callable[[Object], Object]  # the object in the request's version -> the object that the patch makes of it


def is_apply(request: Request) -> bool:
    """Whether a PATCH brings an applied configuration."""
    return (request.header(b"content-type") or "").partition(";")[0].strip() in _APPLY_TYPES


async def patch_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    dry_run, manager, validation = write_options(query, "PatchOptions")
    write = scope.write(request, info, manager, dry_run, validation)
    if "force" in query:
        raise _force_forbidden()
    patch = await read_patch(scope, request, write)

    async def produce(old: Object | None) -> Object:
        assert old is not None
        before = scope.body.from_hub(old)
        obj = patch(before)
        check_names(scope, info, obj)
        sent = (obj.get("metadata") or {}).get("namespace")
        if scope.resource.namespaced and sent and sent != info.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        return scope.body.to_hub(scope.owner.updated(obj, before, write))

    stored, _ = await scope.store.update(info.name, produce, write, unconditional=unconditional(scope) or True)
    return scope.forms.object_response(stored, scope.version, form, query)


async def read_patch(scope: Scope, request: Request, write: Write) -> Patched:
    """The patch of a request, ready to be carried out as often as conflicts demand. Raises UnsupportedMediaType, BadRequest."""
    media_type = (request.header(b"content-type") or "").partition(";")[0].strip()
    if media_type not in _TYPES:
        raise unsupported()
    data = await scope.body.bytes(request)
    try:
        document = loads(data)
    except JSONError as error:
        raise bad_request("invalid JSON patch") from error
    notes = _notes(media_type, document, data, write)
    told: list[str] = []

    def patched(old: Object) -> Object:
        value = _carry_out(scope, media_type, document, old)
        shown = _shown(media_type, document)
        return _typed(scope, value, shown, notes, write, told)

    return patched


def _notes(media_type: str, document: Any, data: bytes, write: Write) -> list[str]:
    """Strict findings of the patch document itself. Raises what is wrong with it."""
    if media_type == JSON_PATCH:
        found = jsonpatch.unknown_fields(jsonpatch.check(document))
    else:
        (mergepatch if media_type == MERGE_PATCH else strategic).check(document)
        found = duplicates(data) if write.field_validation != "Ignore" else []
    return found


def _carry_out(scope: Scope, media_type: str, document: Any, old: Object) -> Any:
    if media_type == JSON_PATCH:
        return jsonpatch.apply(document, old)
    if media_type == MERGE_PATCH:
        return mergepatch.apply(document, old)
    return strategic.apply(document, old, scope.body.target.schema)


def _shown(media_type: str, document: Any) -> Callable[[Any], str]:
    """How messages show what did not decode: the whole document, for a strategic merge patch the patch as Go prints it."""
    if media_type == STRATEGIC_PATCH:
        return lambda value: go_map(document)
    return lambda value: dumps_sorted(value).decode()


def _typed(
    scope: Scope, value: Any, shown: Callable[[Any], str], notes: list[str], write: Write, told: list[str]
) -> Object:
    """The patched document as its type takes it. Raises Invalid, BadRequest."""
    findings = Findings()
    for text in notes:
        findings.note(text)
    target = scope.body.target
    kept = value
    if isinstance(value, dict):
        kind, api_version = value.get("kind", target.kind), value.get("apiVersion", target.api_version)
        if (kind, api_version) != (target.kind, target.api_version):
            raise _other_kind(scope, kind, api_version)
        value = {key: item for key, item in value.items() if key not in ("kind", "apiVersion")}
    try:
        obj = scope.body.decode_value(value, findings)
    except DecodeError as error:
        raise undecodable(shown(kept), str(error)) from error
    if findings.strict and write.field_validation == "Strict":
        raise undecodable(shown(kept), f"strict decoding error: {', '.join(findings.strict)}")
    if findings.strict and write.field_validation == "Warn" and not told:
        told += findings.strict
        for text in findings.strict:
            write.warn(text)
    return obj


def dumps_sorted(value: Any) -> bytes:
    """JSON with the members of all objects sorted."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def go_map(value: Any) -> str:
    """A decoded JSON value as Go's %v prints it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_map(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_map(item) for item in value) + "]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _other_kind(scope: Scope, kind: str, api_version: str) -> APIError:
    target = scope.body.target
    if kind != target.kind:
        return bad_request(f'{kind} in version "{target.version}" cannot be handled as a {target.kind}')
    return bad_request(
        f"the API version in the data ({api_version}) does not match the expected API version ({target.api_version})"
    )


def unsupported() -> APIError:
    return APIError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def _force_forbidden() -> APIError:
    cause = Cause("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force")
    return invalid("meta.k8s.io", "PatchOptions", "", [cause])


