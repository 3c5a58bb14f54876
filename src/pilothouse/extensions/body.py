"""Bodies of custom resources: any JSON object goes, pruned and defaulted by its schema. Types are for validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from pilothouse.endpoints.body import BodyDecoder, Reading, Target
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder, read_dense
from pilothouse.machinery.errors import APIError, Cause, bad_request, invalid, unsupported_media_type
from pilothouse.machinery.jsoncodec import JSONError, TooDeep, dumps, duplicates, plain_floats, surely_unique
from pilothouse.machinery.jsoncopy import copied, is_plain
from pilothouse.machinery.patch import JSON_PATCH, MERGE_PATCH
from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.outlined import outlined
from pilothouse.machinery.structural.settle import Unfit, settle, settle_slowly
from pilothouse.registry.managed.objects import resets
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource


class _Patches(BodyDecoder):
    """Strategic merge patch is for types that the server knows."""

    patch_types = (JSON_PATCH, MERGE_PATCH)

    def unsupported_patch(self, header: str, *, empty: bool = False) -> APIError:
        return unsupported_media_type(self.accepted_patches())


class ScaleBody(_Patches):
    """The Scale of a custom resource."""


class CustomBody(_Patches):
    """Bodies of one custom resource in one version. `stored` is false where the version is not that of storage."""

    needs_kind = True
    by_name = True

    def __init__(
        self,
        resource: Resource,
        target: Target,
        reading: Reading,
        root: Node,
        metadata: Schema,
        *,
        stored: bool,
    ) -> None:
        super().__init__(resource, target, resource.behaviour, reading)
        self._root = root
        self._settle = settle(root)
        self._fills = root.anywhere("default")
        self._metadata = compile_decoder(metadata)
        self._stored = stored

    # -- kinds

    exact_kinds = True

    def _parse(self, data: bytes, media_type: str, findings: Findings | None) -> tuple[Any, bytes | None]:
        try:
            value, raw = super()._parse(data, media_type, findings)
        except JSONError as error:
            text = str(error).removeprefix("couldn't get version/kind; json parse error: ")
            if text.startswith("json: cannot unmarshal number"):  # kind and version could be had
                raise self._cannot(text) from error
            raise
        return value, raw

    def _read_json(self, data: bytes) -> tuple[Any, bytes]:
        return read_dense(data, lambda: outlined(self._root, data))

    def _check_type_meta(self, api_version: str, kind: str, data: bytes) -> None:
        if not kind:
            raise JSONError(f"Object 'Kind' is missing in '{data.decode('utf-8', 'replace')}'")
        super()._check_type_meta(api_version, kind, data)

    def _check_kind(self, told: str, kind: str, data: bytes | None = None) -> None:
        """The kind is for validation."""
        target = self.target
        if told and told != target.api_version:
            raise bad_request(
                f"the API version in the data ({told}) does not match the expected API version ({target.api_version})"
            )

    def check_patched(self, kind: str, api_version: str, value: Object) -> None:
        """A patch may make any kind of any version; validation refuses it."""
        self._refuse_kind(kind, value, value.get("apiVersion") or "")

    def _refuse_kind(self, kind: Any, value: Object, api_version: str | None = None) -> None:
        """Raises Invalid for another kind, or another version than it may have (None: any)."""
        target = self.target
        wrong = [("kind", kind, target.kind), ("apiVersion", api_version, target.api_version)]
        causes = [
            Cause("FieldValueInvalid", f"Invalid value: {shown(found)}: must be {wanted}", name)
            for name, found, wanted in wrong
            if found is not None and found != wanted
        ]
        if causes:
            metadata = value.get("metadata")
            name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
            group = target.group if api_version is None else api_version.rpartition("/")[0]
            raise invalid(group, str(kind), name, causes)

    def _protobuf(self, data: bytes, write: Write) -> Object:
        raise self._cannot("protobuf is only for types that the server knows")

    # -- decoding

    @property
    def _known_type(self) -> None:
        """No type says where bytes are."""

    def _decode_cbor(self, raw: bytes | None, value: Any, findings: Findings | None, write: Write) -> Object:
        return self._decode(raw, value, findings, write)

    def _decode(self, raw: bytes | None, value: Any, findings: Findings | None, write: Write) -> Object:
        noted = findings if findings is not None else Findings()
        if findings is not None and raw is not None and not surely_unique(raw, value):
            for text in duplicates(raw):
                noted.note(text)
        self._refuse_kind(value.get("kind"), value)
        try:
            obj = self._object(value, noted)
        except (DecodeError, Unfit) as error:
            raise self._cannot(str(error)) from error
        write.load.floats = noted.floats
        return obj

    def _object(self, value: Object, findings: Findings, *, nulls: bool = False, shared: bool = False) -> Object:
        """The object that the value (which is used up) is; `nulls` stay in it, and what is `shared` as it was.

        Raises DecodeError, Unfit, BadRequest.
        """
        if shared and (self._fills or not is_plain(value)):  # otherwise what is settled is what it was
            value, shared = _own(value), False
        value.pop("kind", None)
        value.pop("apiVersion", None)
        forget = resets(value)
        if "metadata" in value:
            own = Findings()
            metadata = value["metadata"] or {}
            value["metadata"] = self._metadata(_own(metadata) if shared else metadata, own)
            for text in own.strict:
                findings.note(text.replace('field "', 'field "metadata.', 1))
        if forget:  # the type knows no empty list, the owners' rules do
            value["metadata"]["managedFields"] = []
        if not self._settle(value):
            value = _own(value) if shared else value
            unknown, findings.floats = settle_slowly(self._root, value, self._metadata, nulls=nulls)
            for path in unknown:
                if findings.full:
                    break
                findings.note(f'unknown field "{path}"')
        return value

    def finish(self, obj: Object) -> Object:
        target = self.target
        return {"kind": target.kind, "apiVersion": target.api_version, **obj}

    def decode_applied(self, value: Any, findings: Findings) -> Object:
        """Nulls of an applied configuration are for validation to judge."""
        return self._decoded(dict(value), findings, nulls=True, shared=True)

    def decode_value(self, value: Any, findings: Findings, kept: Object | None = None) -> Object:
        if not self._stored:  # the present object has no defaults of this version yet
            value, kept = {**value, **(kept or {})}, None
        obj = self._decoded(dict(value), findings, shared=True)
        if kept:
            obj.update(kept)
        return obj

    def _decoded(self, value: Any, findings: Findings, *, nulls: bool = False, shared: bool = False) -> Object:
        """`shared`: parts of the value are those of the present object, and refusals show it as it was."""
        try:
            return self.finish(self._object(value, findings, nulls=nulls, shared=shared))
        except Unfit as error:
            raise DecodeError(str(error)) from error

    def empty(self) -> Object:
        return {}

    def freeze(self, obj: Object) -> Callable[[], Object]:
        """As that of typed bodies; numbers may be such as only our own encoder writes."""
        first: list[Object] = [obj]
        kept: list[bytes] = []

        def copy() -> Object:
            if first:
                kept.append(dumps(obj))
                return first.pop()
            made: Object = plain_floats(orjson.loads(kept[0]))
            return made

        return copy


def _own(value: Any) -> Any:
    """A copy to change. Raises BadRequest for a value so deep that it could not be stored anyway."""
    try:
        return copied(value)
    except TooDeep as error:
        raise bad_request(f"the object is {error}") from error
