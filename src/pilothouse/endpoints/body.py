"""Request bodies: read within the limit, decoded as the media type says, checked against what the endpoint takes.

An object comes out as the original's typed round trip would give it back, in the version of the request, with its
defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

import orjson

from pilothouse.endpoints.negotiation import APPLY_CBOR, APPLY_YAML, CBOR, JSON, OFFERED, PROTOBUF, YAML, content_type
from pilothouse.kit.aside import HEAVY, Aside, effort
from pilothouse.kit.memo import RARE
from pilothouse.kit.record import record
from pilothouse.machinery import cbor, jsonpieces, protobuf, yamlcodec
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder, decode_once, decode_parsed, read_json
from pilothouse.machinery.errors import APIError, bad_request, too_large, unsupported_media_type
from pilothouse.machinery.groupversion import api_version, parts
from pilothouse.machinery.jsoncodec import JSONError, NumberTooGreat, dumps, exact, preview, type_meta
from pilothouse.machinery.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from pilothouse.machinery.schema import Schema
from pilothouse.registry.behaviour import Behaviour
from pilothouse.registry.managed.objects import resets
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.serving.http import BodyBroken, BodyTooLarge, Request

SCHEME: Final = 'scheme "pkg/runtime/scheme.go:111"'  # what the original calls each of its registries
_NO_META: Final = "couldn't get version/kind; json parse error"
_NO_TYPE: Final = "unable to determine group/version/kind"
_MOST_GROWTH: Final = 2  # times the longest body: what an object may be once it has its defaults
_OTHER_FORMS: Final = 4  # times the work of JSON, in the worst case
_MOST_EXACT: Final = 64 << 10  # bytes that are read exactly only to learn what a number was meant for
_CBOR_AS_JSON: Final = 12  # times as long at most: two bytes may be a time


@record
class Target:
    """What a body must be: the kind and version of an endpoint."""

    group: str
    version: str
    kind: str
    schema: Schema
    go_type: str  # "core.ConfigMap", for the texts that show it
    also: frozenset[str] = frozenset()  # other versions of one shape that are taken as well

    @property
    def api_version(self) -> str:
        return api_version(self.group, self.version)


def weight(data: bytes, media_type: str) -> int:
    """How much work a body is, counted in bytes of JSON."""
    return effort(data) if media_type == JSON else _OTHER_FORMS * len(data)


KnownKind = Callable[[str, str], bool]  # (apiVersion, kind) -> is it a kind of this server


def _json(data: bytes, read: Callable[[bytes], tuple[Any, bytes]]) -> tuple[Any, bytes]:
    """The value that the text tells, and the text. Raises JSONError."""
    try:
        return read(data)
    except JSONError as error:
        raise error.__class__(f"{_NO_META}: {error}") from error


def _holds_infinity(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_infinity, value.values()))
    return any(map(_holds_infinity, value)) if isinstance(value, list) else value in (math.inf, -math.inf)


_VALUES: Final[Mapping[str, Callable[[bytes], Any]]] = {YAML: yamlcodec.loads, CBOR: cbor.loads}


def _at(value: Any, path: str) -> Any:
    """What stands at a path of members in a parsed document; None where nothing does."""
    for step in path.split("."):
        value = value.get(step) if value.__class__ is dict else None
    return value


def written(obj: Object) -> bytes | None:
    """The JSON of an object. None for what is too deep, which is refused when it is written, and for some numbers."""
    try:
        return orjson.dumps(obj)
    except TypeError:
        return None


def _check_options(told: str, kind: str) -> None:
    """DeleteOptions may be of any version. Raises BadRequest for another kind."""
    try:
        group, version = parts(told)
    except ValueError as error:
        raise bad_request(str(error)) from error
    if kind not in ("", "DeleteOptions"):
        shown = api_version(group, version) if version else "meta.k8s.io/v1"
        raise bad_request(f'no kind "{kind}" is registered for version "{shown}" in {SCHEME}')


def _show_empty(obj: Object, path: str) -> None:
    """Put the empty list where the type always has one: its writer owns it. The kind makes it null again."""
    parents, _, name = path.rpartition(".")
    parent = _at(obj, parents)
    if parent is not None and name in parent:
        parent[name] = []


@record
class Reading:
    """How a server reads bodies. `known` tells its kinds, `options` is the type of DeleteOptions, `limit` in bytes;
    big bodies are decoded `aside`; `offered` are the media types.
    """

    known: KnownKind
    options: Schema
    limit: int
    aside: Aside
    offered: tuple[str, ...] = OFFERED


class BodyDecoder:
    """Bodies of one resource (or subresource) in one version."""

    exact_kinds: ClassVar[bool] = False  # the names of kind and version have their case, in JSON and YAML too
    patch_types: ClassVar[tuple[str, ...]] = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)  # beside apply
    needs_kind: ClassVar[bool] = False  # whether a patched document must say its kind
    by_name: ClassVar[bool] = False  # whether documents are quoted with their members sorted: they have no Go type

    def __init__(
        self,
        resource: Resource,
        target: Target,
        behaviour: Callable[[], Behaviour],
        reading: Reading,
        *,
        typed: bool = True,
    ) -> None:
        """`typed` is false where the body is not the resource's own kind: it then has no defaults of it."""
        self._resource = resource
        self.target = target
        self._behaviour = behaviour
        self._known = reading.known
        self._options = reading.options
        self._limit = reading.limit
        self._aside = reading.aside
        self._offered = reading.offered
        self._typed = typed

    async def data(self, request: Request) -> bytes:
        """The whole body. Raises RequestEntityTooLarge."""
        try:
            return await request.body.read(self._limit)
        except BodyTooLarge as error:
            raise too_large(error.limit) from error
        except BodyBroken as error:
            raise bad_request(str(error)) from error

    async def read(self, request: Request, write: Write, *, unordered: bool = False) -> Object:
        """A decoded, defaulted object in the version of the request, with kind and apiVersion. Raises BadRequest.

        `unordered`: long maps may be left as they came, for who asks `write.load` to put them in order.
        """
        media_type = content_type(request, self._offered)
        data = await self.data(request)
        write.load.at_least(weight(data, media_type))
        return await self._aside.run(write.load.size, self._read, data, media_type, write, unordered)

    def _read(self, data: bytes, media_type: str, write: Write, unordered: bool) -> Object:
        obj = self._protobuf(data, write) if media_type == PROTOBUF else self._text(data, media_type, write)
        if not (unordered and self._same_as_hub):
            write.load.put_in_order(obj)
        obj = self.finish(obj)
        if len(data) >= HEAVY:
            write.load.text = text = written(obj)
            if text is not None and len(text) > _MOST_GROWTH * self._limit:  # defaults may make much of little
                raise too_large(self._limit)
        return obj

    def finish(self, obj: Object) -> Object:
        """Kind, version and defaults."""
        target = self.target
        made = {"kind": target.kind, "apiVersion": target.api_version, **obj}
        if not self._typed:
            return made
        if not self._same_as_hub:
            return self.from_hub(self.to_hub(made))
        defaults = self._behaviour().defaults
        if defaults is not None:
            defaults(made)
        return made

    @property
    def _same_as_hub(self) -> bool:
        return self.target.version == self._resource.hub

    def _text(self, data: bytes, media_type: str, write: Write) -> Object:
        """What JSON, and what is read as if it were JSON, tells."""
        findings = None if write.field_validation == "Ignore" else Findings()
        try:
            value, raw, great = self._parsed(data, media_type, findings)
            told, kind = type_meta(value, exact=self.exact_kinds or media_type == CBOR)
            self._check_type_meta(told, kind, data)
        except (JSONError, yamlcodec.YAMLError, cbor.CBORError) as error:
            raise self._unrecognized(error, data) from error
        self._check_kind(told, kind, data)
        heeded = self._behaviour().heeds_empty
        empty = frozenset(path for path in heeded if _at(value, path) == [])  # now: the value may become the object
        decode = self._decode_cbor if media_type == CBOR else self._decode
        obj = decode(raw, value, findings, write)
        if great is not None and _holds_infinity(obj):
            raise self._cannot(str(great).removeprefix(f"{_NO_META}: "))
        if heeded:
            write.load.empty = empty
            for path in empty:
                _show_empty(obj, path)
        if findings is not None and findings.strict:
            self._report(findings, write, media_type == YAML)
        return obj

    def _parsed(
        self, data: bytes, media_type: str, findings: Findings | None
    ) -> tuple[Any, bytes | None, NumberTooGreat | None]:
        """As `_parse`, and the error of a number that is too great: it matters only where the type has a place."""
        try:
            return *self._parse(data, media_type, findings), None
        except NumberTooGreat as error:
            if len(data) > _MOST_EXACT:
                raise
            return exact(data)[0], data, error

    def _parse(self, data: bytes, media_type: str, findings: Findings | None) -> tuple[Any, bytes | None]:
        """The value, and its JSON if a member may still be in it twice. Raises JSONError, YAMLError, CBORError."""
        if media_type == JSON:
            return _json(data, self._read_json)
        if media_type == CBOR:
            return self._parse_cbor(data), None
        value, repeated = yamlcodec.loads_noting(data)
        if findings is not None:
            for text in repeated:
                findings.note(text)
        return value, None

    def _decode(self, raw: bytes | None, value: Any, findings: Findings | None, write: Write) -> Object:
        unordered = write.load.unordered if raw is not None or write.load.size >= RARE else None
        return self._made(value, partial(decode_parsed, self.target.schema, raw, value, findings, unordered))

    def _made(self, value: Any, decode: Callable[[], Object]) -> Object:
        """What a value is decoded into. Raises BadRequest."""
        try:
            forget = resets(value)
            obj = decode()
            if forget:  # the type knows no empty list, the owners' rules do
                obj["metadata"]["managedFields"] = []
            return obj
        except (DecodeError, JSONError) as error:
            raise self._cannot(str(error)) from error

    def _read_json(self, data: bytes) -> tuple[Any, bytes]:
        return read_json(self.target.schema, data)

    def cbor_value(self, data: bytes, loads: Callable[[bytes, Schema | None, int], Any]) -> Any:
        """The value with the numbers of JSON; as that, it may be as long as a body.

        Raises CBORError, RequestEntityTooLarge.
        """
        try:
            value = loads(data, self._known_type, self._limit)
        except cbor.CBORTooLong:
            raise too_large(self._limit) from None
        if _CBOR_AS_JSON * len(data) > self._limit and len(dumps(value)) > self._limit:
            raise too_large(self._limit)
        return value

    def _parse_cbor(self, data: bytes) -> Any:
        """Raises CBORError where kind and version could not be had, else BadRequest."""
        try:
            value = self.cbor_value(data, cbor.loads_body)
        except cbor.CBORError as error:
            if error.readable:
                raise self._cannot(str(error)) from error
            raise cbor.CBORError(f"{_NO_TYPE}: {error}") from error
        wrong = cbor.type_mismatch(value)
        if wrong:
            raise cbor.CBORError(f"{_NO_TYPE}: {wrong}")
        return value

    @property
    def _known_type(self) -> Schema | None:
        """Where bytes are, and what is known."""
        return self.target.schema

    def _decode_cbor(self, raw: bytes | None, value: Any, findings: Findings | None, write: Write) -> Object:
        """As `_decode`; strict decoding of CBOR has words of its own."""
        found = None if findings is None else Findings()
        unordered = write.load.unordered if write.load.size >= RARE else None
        obj = self._made(value, partial(decode_once, self.target.schema, value, found, unordered))
        if findings is not None and found is not None and found.unknown:
            findings.note(cbor.unknown_field(self.target.schema, value))
        return obj

    def _report(self, findings: Findings, write: Write, yaml: bool) -> None:
        """Strict findings are refused or become warnings, as fieldValidation says."""
        if write.field_validation == "Strict":
            texts = list(findings.strict)
            repeated = [text for text in texts if yaml and text.startswith("line ")]
            if repeated:
                texts = [yamlcodec.duplicates_text(repeated), *texts[len(repeated) :]]
            raise self._cannot(f"strict decoding error: {', '.join(texts)}")
        for text in findings.strict:
            write.warn(text)

    def _protobuf(self, data: bytes, write: Write) -> Object:
        try:
            told, kind, raw = protobuf.unwrap(data)
        except protobuf.ProtobufError as error:
            raise self._unrecognized(error, data) from error
        self._check_kind(told if told.count("/") < 2 else "", kind)  # more is as good as nothing
        try:
            return protobuf.decode_message(self.target.schema, raw, unordered=write.load.unordered)
        except protobuf.TooLong:
            raise too_large(self._limit) from None
        except protobuf.ProtobufError as error:
            raise self._cannot(str(error)) from error

    def _unrecognized(self, error: Exception, data: bytes) -> APIError:
        return bad_request(
            f"the object provided is unrecognized (must be of type {self.target.kind}): {error} ({preview(data)})"
        )

    def _cannot(self, why: str, kind: str = "", api_version: str = "") -> APIError:
        """`kind`, `api_version`: of what was sent, if they are not those of the endpoint."""
        target = self.target
        version = api_version.rpartition("/")[2] if api_version else target.version
        return bad_request(f'{kind or target.kind} in version "{version}" cannot be handled as a {target.kind}: {why}')

    def _check_type_meta(self, api_version: str, kind: str, data: bytes) -> None:
        """Raises JSONError for what does not say what it is."""
        try:
            parts(api_version)
        except ValueError as error:
            raise JSONError(str(error)) from error

    def _check_kind(self, told: str, kind: str, data: bytes | None = None) -> None:
        """Another kind or version than the endpoint's is refused in words that name both. `data`: of text."""
        target = self.target
        if (not kind or kind == target.kind) and (not told or told == target.api_version or told in target.also):
            return
        kind = kind or target.kind
        group, version = parts(told)
        if not version and group not in ("", target.group):
            meta = f"runtime.TypeMeta{{APIVersion:{dumps(told).decode()}, Kind:{dumps(kind).decode()}}}"
            where = meta if data is None else data.decode("utf-8", "replace")
            raise self._cannot(f"Object 'apiVersion' is missing in '{where}'", kind, "/")
        shown = api_version(group, version) if version else target.api_version
        if kind != target.kind or not self._known(shown, kind):
            raise self._cannot(self.other_kind(shown, kind), kind, shown)
        if shown != target.api_version:
            raise bad_request(
                f"the API version in the data ({shown}) does not match the expected API version ({target.api_version})"
            )

    def other_kind(self, api_version: str, kind: str) -> str:
        """Why an object of another kind or version is none of this one."""
        if not self._known(api_version, kind):
            return f'no kind "{kind}" is registered for version "{api_version}" in {SCHEME}'
        version = api_version.rpartition("/")[2]
        return f"converting ({version}.{kind}) to ({self.target.go_type}): unknown conversion"

    def to_hub(self, obj: Object) -> Object:
        """In the hub version, with its defaults."""
        if self._same_as_hub:
            return obj
        resource = self._resource
        if resource.convert is not None:
            obj = resource.convert.to_hub(obj, self.target.version)
        obj["apiVersion"] = resource.hub_api_version
        obj["kind"] = resource.kind
        defaults = self._behaviour().defaults
        if defaults is not None:
            defaults(obj)
        return obj

    def from_hub(self, obj: Object) -> Object:
        """A hub object in the version of the request. `obj` may be used up."""
        resource, target = self._resource, self.target
        if self._same_as_hub:
            return obj
        if resource.convert is not None:
            obj = resource.convert.from_hub(obj, target.version)
        return {**obj, "kind": target.kind, "apiVersion": target.api_version}

    def freeze(self, obj: Object) -> Callable[[], Object]:
        """Fresh copies of a decoded object, for a transform that may run more than once.

        The first one is the object itself.
        """
        first: list[Object] = [obj]
        kept: list[bytes] = []

        def copy() -> Object:
            if first:
                kept.append(orjson.dumps(obj))
                return first.pop()
            made: Object = jsonpieces.loads(kept[0])
            return made

        return copy

    def accepted_patches(self) -> tuple[str, ...]:
        return (*self.patch_types, APPLY_YAML, *((APPLY_CBOR,) if CBOR in self._offered else ()))

    def unsupported_patch(self, header: str, *, empty: bool = False) -> APIError:
        """415 for a patch of another type: the route says so, or the handler if the route's laxer reading finds one.

        Where there is no patch, the route tells what could be had instead, which is nothing.
        """
        accepted = self.accepted_patches()
        if any(each.partition(";")[0].strip(" ") in accepted for each in header.split(",")):
            return unsupported_media_type(accepted)
        told = "\n\nAvailable representations: " if empty else ""
        return APIError(415, "UnsupportedMediaType", f"415: Unsupported Media Type{told}", {})

    def check_patched(self, kind: str, api_version: str, value: Object) -> None:
        """May raise an APIError for what a patch made of kind and version, before it is decoded."""

    def decode_value(self, value: Any, findings: Findings, kept: Object | None = None) -> Object:
        """A value that a patch made, as the type takes it; `kept` are members that are so already.

        Raises DecodeError.
        """
        obj = compile_decoder(self.target.schema)(value, findings)
        if kept:
            obj.update(kept)
        if resets(value):
            obj["metadata"]["managedFields"] = []
        return self.finish(obj)

    def decode_applied(self, value: Any, findings: Findings) -> Object:
        """As `decode_value`, of what an applied configuration made. Raises DecodeError."""
        return self.decode_value(value, findings)

    def decode_version(self, value: Any, findings: Findings, version: str) -> Object:
        """As `decode_value`, of a document in another version of the resource. Raises DecodeError."""
        resource, served = self._resource, self._resource.versions[version]
        obj = {"kind": served.kind, "apiVersion": served.api_version, **compile_decoder(served.schema)(value, findings)}
        if resource.convert is not None and version != resource.hub:
            obj = resource.convert.to_hub(obj, version)
        made = self.from_hub(obj)
        return self.finish({key: item for key, item in made.items() if key not in ("kind", "apiVersion")})

    def empty(self) -> Object:
        """The zero object of the kind, without kind and apiVersion."""
        return compile_decoder(self.target.schema)({}, Findings())

    async def read_delete_options(self, request: Request) -> dict[str, Any] | None:
        """A decoded DeleteOptions body; None where there is none. Raises BadRequest, UnsupportedMediaType."""
        if not await self._has_body(request):
            return None
        media_type = content_type(request, self._offered)
        data = await self.data(request)
        if not data:
            return None
        return await self._aside.run(weight(data, media_type), self._read_delete_options, data, media_type)

    def _read_delete_options(self, data: bytes, media_type: str) -> dict[str, Any]:
        try:
            if media_type == PROTOBUF:
                told, kind, raw = protobuf.unwrap(data)
                _check_options(told if told.count("/") < 2 else "", kind)
                return protobuf.decode_message(self._options, raw)
            value, raw = (
                (_VALUES[media_type](data), b"")
                if media_type != JSON
                else _json(data, partial(read_json, self._options))
            )
            wrong = cbor.type_mismatch(value) if media_type == CBOR else ""
            if wrong:
                raise cbor.CBORError(f"{_NO_TYPE}: {wrong}")
            _check_options(*type_meta(value, exact=media_type == CBOR))
            return decode_parsed(self._options, raw or dumps(value), value, None)
        except (JSONError, yamlcodec.YAMLError, cbor.CBORError, protobuf.ProtobufError, DecodeError) as error:
            raise bad_request(str(error)) from error

    async def _has_body(self, request: Request) -> bool:
        length = request.header(b"content-length")
        if length is not None:
            return length.strip() != "0"
        return request.header(b"transfer-encoding") is not None
