"""PATCH with an applied configuration: Server-Side Apply (Kubernetes documentation, "Server-Side Apply")."""

from __future__ import annotations

from pilothouse.endpoints.options import flag, write_options
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.endpoints.scope import OBJECT_FORMS, Scope, info_of
from pilothouse.endpoints.update import check_uid
from pilothouse.machinery import yamlcodec
from pilothouse.machinery.decode import DecodeError, Findings
from pilothouse.machinery.errors import APIError, Cause, bad_request, bare_internal, invalid
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response


async def apply_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    write, force = apply_options(scope, request, info, query)
    config = await applied_configuration(scope, request, info)

    async def produce(old: Object | None) -> Object:
        live = scope.body.from_hub(old) if old is not None else None
        if live is not None:
            check_uid(scope, write, config, live)
        result = scope.owner.applied(config, live, write, force=force)
        return scope.body.to_hub(_typed(scope, result, write))

    stored, created = await scope.store.update(info.name, produce, write, create=_creates(scope))
    return scope.forms.object_response(stored, scope.version, form, query, status=201 if created else 200)


def apply_options(scope: Scope, request: Request, info: RequestInfo, query: Query) -> tuple[Write, bool]:
    """The write and whether it is forced. Raises Invalid without a field manager."""
    dry_run, manager, validation = write_options(query, "PatchOptions")
    if not manager:
        cause = Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")
        raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
    return scope.write(request, info, manager, dry_run, validation), bool(flag(query, "force"))


def _creates(scope: Scope) -> bool:
    """An apply makes what is not there, but not through a subresource."""
    if not scope.subresource:
        return "create" in scope.resource.verbs
    return scope.subresource == "status" and scope.resource.status is not None and scope.resource.status.creates


async def applied_configuration(scope: Scope, request: Request, info: RequestInfo) -> Object:
    """The applied configuration: the first document of a YAML body. Raises BadRequest."""
    data = await scope.body.bytes(request)
    try:
        value = yamlcodec.loads(data)
    except yamlcodec.YAMLError as error:
        raise bad_request(f"error decoding YAML: {error}") from error
    if not isinstance(value, dict):
        raise bad_request(f"error decoding YAML: json: cannot unmarshal {type(value).__name__} into Go value of type map")
    target = scope.body.target
    kind, api_version = value.get("kind"), value.get("apiVersion")
    if not kind:
        raise bad_request(f"Object 'Kind' is missing in '{data.decode('utf-8', 'replace')}'")
    if kind != target.kind:
        raise _mismatch("kind", f"{api_version}, Kind={kind}", f"{target.api_version}, Kind={target.kind}")
    if api_version != target.api_version:
        raise bad_request(
            f"Incorrect version specified in apply patch. Specified patch version: {api_version}, "
            f"expected: {target.api_version}"
        )
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not name:
        raise bad_request("metadata.name is required")
    if name != info.name:
        raise bad_request(f"metadata.name: {name} does not match the name on the URL {info.name}")
    return value


def _mismatch(what: str, found: str, expected: str) -> APIError:
    return bad_request(f"Incorrect {what} specified in apply patch. Specified: {found}, expected: {expected}")


def _typed(scope: Scope, result: Object, write: Write) -> Object:
    """The merged object as its type takes it, with defaults."""
    findings = Findings()
    value = {key: item for key, item in result.items() if key not in ("kind", "apiVersion")}
    try:
        obj = scope.body.decode_value(value, findings)
    except DecodeError as error:
        raise bare_internal(str(error)) from error
    return obj
