"""PATCH with an applied configuration: Server-Side Apply (Kubernetes documentation, "Server-Side Apply")."""

from __future__ import annotations

from typing import Any

from pilothouse.endpoints.body import weight
from pilothouse.endpoints.negotiation import APPLY_CBOR, YAML
from pilothouse.endpoints.options import flag, write_options
from pilothouse.endpoints.owners import AppliedOwners
from pilothouse.endpoints.patch import patch_type
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.endpoints.update import check_names
from pilothouse.kit.aside import effort
from pilothouse.kit.record import record
from pilothouse.machinery import cbor, groupversion, yamlcodec
from pilothouse.machinery.decode import DecodeError, Findings
from pilothouse.machinery.errors import bad_request, conflict
from pilothouse.machinery.jsoncodec import kind_of
from pilothouse.machinery.patch import restore
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response


async def apply_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write, force = apply_options(scope, request, info, query)
    sent = await read_applied(scope, request, write)

    owners = AppliedOwners(scope, write)

    def applied(old: Object | None) -> Object:
        live = scope.body.from_hub(old) if old is not None else None
        config = sent.configuration(scope)

        def made(merged: Object) -> Object:
            result = _typed(scope, merged)
            sent.tell_repeated(write)
            if live is None:
                _refuse_uid(scope, config, write)
            check_names(scope, info, result)
            return result

        found = scope.owner.applied_late(config, live, write, force=force)
        return owners.changed(found, config, made, new=live is None)

    async def produce(old: Object | None) -> Object:
        return await scope.options.aside.run(write.load.size, applied, old)

    stored, created = await scope.store.update(
        info.name,
        produce,
        write,
        create=_creates(scope),
        applies=True,
        leaves=scope.as_stored,
        owners=owners.found,
    )
    return await scope.forms.object_response(stored, scope.version, form, query, status=201 if created else 200)


def apply_options(scope: Scope, request: Request, info: RequestInfo, query: Query) -> tuple[Write, bool]:
    """The write and whether it is forced. Raises Invalid without a field manager."""
    dry_run, manager, validation = write_options(query, "PatchOptions", applies=True)
    return scope.write(request, info, manager, dry_run, validation), bool(flag(query, "force"))


def _creates(scope: Scope) -> bool:
    """An apply makes what is not there, but not through a subresource."""
    if not scope.subresource:
        return "create" in scope.resource.verbs
    return scope.subresource == "status" and scope.resource.status is not None and scope.resource.status.creates


@record
class Sent:
    """What came in the body of an apply: any value, and what is to be told of names that are in it twice.

    The original reads it only once there is an object to apply it to, and tells of repeated names only if that could
    be done.
    """

    value: Any
    repeated: list[str]

    def configuration(self, scope: Scope) -> Object:
        """The applied configuration, of the endpoint's own kind. Raises BadRequest."""
        if self.value is not None and not isinstance(self.value, dict):
            what = f"json: cannot unmarshal {kind_of(self.value)} into Go value of type map[string]interface {{}}"
            raise bad_request(f"error decoding patch: error unmarshaling JSON: while decoding JSON: {what}")
        config: Object = self.value or {}
        _check_type(scope, config)
        return config

    def tell_repeated(self, write: Write) -> None:
        """Refuses names that are there twice, or warns of them once, as fieldValidation says. Raises BadRequest."""
        if self.repeated and write.field_validation == "Strict":
            texts = yamlcodec.duplicates_text(self.repeated)
            raise bad_request(f"error strict decoding patch: error converting YAML to JSON: {texts}")
        if write.field_validation == "Warn":
            for text in self.repeated:
                write.warn(text)
        self.repeated.clear()


async def read_applied(scope: Scope, request: Request, write: Write) -> Sent:
    """The first document of a YAML body, or one in CBOR. Raises BadRequest for what is neither."""
    data = await scope.body.data(request)
    write.load.at_least(effort(data))
    try:
        return Sent(*await scope.options.aside.run(weight(data, YAML), _read, scope, patch_type(request), data))
    except cbor.CBORError as error:
        raise bad_request(f"error decoding patch: {error}") from error
    except yamlcodec.YAMLError as error:
        raise bad_request(f"error encoding patch: {error}") from error


def _read(scope: Scope, media_type: str, data: bytes) -> tuple[Any, list[str]]:
    """The value, and what is to be told of names that are there twice. Raises YAMLError, CBORError."""
    if media_type == APPLY_CBOR:
        return scope.body.cbor_value(data, cbor.loads_applied), []  # it refuses them
    return yamlcodec.loads_noting(data)


def _refuse_uid(scope: Scope, config: Object, write: Write) -> None:
    """An apply that would make the object can't say which one it means."""
    metadata = config.get("metadata")
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(scope.resource.group, scope.resource.plural, write.name, why)


def _check_type(scope: Scope, config: Object) -> None:
    """The configuration must name the endpoint's own kind and version."""
    target = scope.body.target
    kind, api_version = (value if isinstance(value, str) else "" for value in map(config.get, ("kind", "apiVersion")))
    try:
        group, version = groupversion.parts(api_version)
    except ValueError:
        kind = group = version = ""
    if (kind, group, version) != (target.kind, target.group, target.version):
        raise bad_request(f"invalid object type: {group}/{version}, Kind={kind}")


def _typed(scope: Scope, result: Object) -> Object:
    """The merged object as its type takes it, with defaults."""
    value = {key: item for key, item in result.items() if key not in ("kind", "apiVersion")}
    try:
        return scope.body.decode_applied(value, Findings())
    except DecodeError as error:
        schema = scope.body.target.schema
        wrapped = restore.wrapped(schema, value)
        if wrapped is not value:
            return _typed(scope, wrapped)
        raise scope.owner.tracker.unconvertible(result, restore.problem(schema, value) or str(error)) from error
