"""PATCH: JSON Patch, JSON Merge Patch and Strategic Merge Patch (API concepts, "Patch")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pilothouse.endpoints.asked import asked_write
from pilothouse.endpoints.negotiation import APPLY_CBOR, APPLY_YAML, CBOR
from pilothouse.endpoints.owners import Owners
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.endpoints.update import check_names, unconditional
from pilothouse.kit.aside import effort
from pilothouse.machinery import groupversion
from pilothouse.machinery.decode import DecodeError, Findings
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import JSONError, type_meta
from pilothouse.machinery.patch import STRATEGIC_PATCH, Patch, parse_patch, restore
from pilothouse.machinery.patch.quoted import by_name
from pilothouse.registry.codec import with_revision_behind_uid
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response

Patched = Callable[[Object], Object]  # the object in the request's version -> the object that the patch makes of it


def is_apply(scope: Scope, request: Request) -> bool:
    """Whether a PATCH brings an applied configuration."""
    media_type = patch_type(request)
    return media_type == APPLY_YAML or (media_type == APPLY_CBOR and CBOR in scope.options.offered)


def patch_type(request: Request) -> str:
    return (request.header(b"content-type") or "").partition(";")[0]


async def patch_object(scope: Scope, request: Request) -> Response:
    check_patch_type(scope, request)
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write = asked_write(scope, request, info, query, "PatchOptions")
    patch = await read_patch(scope, request, write)

    def patched(before: Object) -> Object:
        obj = patch(before)
        check_names(scope, info, obj)
        return obj

    owners = Owners(scope, write, patched)

    async def produce(old: Object | None) -> Object:
        assert old is not None
        return await scope.options.aside.run(write.load.size, owners.changed, old)

    stored, _ = await scope.store.update(
        info.name,
        produce,
        write,
        unconditional=unconditional(scope) or True,
        leaves=scope.as_stored,
        owners=owners.found,
    )
    return await scope.forms.object_response(stored, scope.version, form, query)


def check_patch_type(scope: Scope, request: Request) -> None:
    """Comes before all else that may be wrong. Raises UnsupportedMediaType."""
    if patch_type(request) not in scope.body.patch_types:
        named = request.header(b"content-type") or ""
        empty = bool(named) and request.header(b"content-length") in (None, "", "0")
        raise scope.body.unsupported_patch(named, empty=empty)


async def read_patch(scope: Scope, request: Request, write: Write) -> Patched:
    """The patch of a request, ready to be carried out as often as conflicts demand. Raises BadRequest."""
    media_type = patch_type(request)
    data = await scope.body.data(request)
    strict = write.field_validation != "Ignore"
    run = scope.options.aside.run
    write.load.at_least(effort(data))
    patch = await run(write.load.size, parse_patch, media_type, data, scope.body.target.schema, strict=strict)
    told: list[str] = []

    def patched(old: Object) -> Object:
        value, notes = patch(old)
        obj = _typed(scope, patch, value, old, notes, write, told)
        patch.settle()
        return obj

    return patched


def _typed(
    scope: Scope, patch: Patch, value: Any, old: Object, notes: list[str], write: Write, told: list[str]
) -> Object:
    """The patched document as its type takes it. Raises Invalid, BadRequest. Warnings are told once, however often it
    runs.

    Members that the patch left alone are those of `old`, and need no decoding.
    """
    findings = Findings()
    for text in notes:
        findings.note(text)
    target = scope.body.target
    kind, api_version = _type_meta(scope, patch, value, old)
    scope.body.check_patched(kind, api_version, value)
    version = _version_of(scope, kind, api_version)
    if version is None:
        raise _refused(scope, patch, value, old, scope.body.other_kind(api_version, kind))
    kept = {key: item for key, item in old.items() if item.__class__ is dict and item is value.get(key)}
    document = dict(value)
    for key in ("kind", "apiVersion", *kept):
        document.pop(key, None)
    if patch.floats:
        document = restore.whole_numbers(target.schema, document)
    try:
        if version == target.version:
            obj = scope.body.decode_value(document, findings, kept)
        else:
            obj = scope.body.decode_version({**document, **kept}, findings, version)
    except DecodeError as error:
        if patch.media_type != STRATEGIC_PATCH:
            raise _refused(scope, patch, value, old, str(error)) from error
        why = restore.problem(target.schema, document)
        wrapped = document if why else restore.wrapped(target.schema, document)
        if wrapped is document:
            raise _refused(scope, patch, value, old, why or str(error)) from error
        return _typed(scope, patch, {**value, **wrapped}, old, notes, write, told)
    write.load.floats = findings.floats
    findings.strict.sort()  # the original looks at the document with its members sorted
    if findings.strict and write.field_validation == "Strict":
        raise _refused(scope, patch, value, old, f"strict decoding error: {', '.join(findings.strict)}")
    if findings.strict and write.field_validation == "Warn" and not told:
        told += findings.strict
        for text in findings.strict:
            write.warn(text)
    return obj


def _type_meta(scope: Scope, patch: Patch, value: Any, old: Object) -> tuple[str, str]:
    """The kind and apiVersion that a patched document says it has. Raises Invalid where it says neither."""
    target = scope.body.target
    strategic = patch.media_type == STRATEGIC_PATCH
    try:
        api_version, kind = type_meta(value)
    except JSONError as error:
        raise _refused(
            scope, patch, value, old, (strategic and restore.wrong_type_meta(value)) or str(error)
        ) from error
    if not kind and scope.body.needs_kind:
        shown = patch.shown(_in_order(scope, patch, value, old))
        raise _refused(scope, patch, value, old, f"Object 'Kind' is missing in '{shown}'")
    if strategic:  # it is put into an object of the type, which says by itself what it is
        return target.kind, target.api_version
    try:
        group, version = groupversion.parts(api_version)
    except ValueError as error:
        raise _refused(scope, patch, value, old, str(error)) from error
    return kind or target.kind, groupversion.api_version(group, version) or target.api_version


def _refused(scope: Scope, patch: Patch, value: Any, old: Object, why: str) -> APIError:
    return patch.refused(_in_order(scope, patch, value, old), why)


def _in_order(scope: Scope, patch: Patch, value: Any, old: Object) -> Any:
    """The patched document as it is quoted, which has metadata that was left alone in the order of its type."""
    if scope.body.by_name:
        try:
            return by_name(value)
        except RecursionError:  # it is quoted as it is
            return value
    return patch.ordered(value, with_revision_behind_uid(old["metadata"]))


def _version_of(scope: Scope, kind: str, api_version: str) -> str | None:
    """The version that a patched document says it is in: that of the request, or another one of the same resource."""
    target = scope.body.target
    if (kind, api_version) == (target.kind, target.api_version):
        return target.version
    if scope.resource.kind != target.kind:
        return None
    versions = scope.resource.versions
    return next((name for name, one in versions.items() if (one.kind, one.api_version) == (kind, api_version)), None)
