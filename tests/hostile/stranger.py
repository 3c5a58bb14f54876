"""What a stranger would send: every kind, filled in from its published schema, grown, damaged, in every form."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
import yaml

from hostile.grown import grow, hurt, places, shaken
from hostile.mutated import as_cbor
from hostile.nasty import APPLY, JSON, JSON_PATCH, MERGE_PATCH, PROTOBUF, STRATEGIC_PATCH, YAML
from hostile.simple import APPLY_CBOR, CBOR
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery import protobuf
from support.api import Api

FORMS: Final = (JSON, YAML, CBOR, PROTOBUF, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY, APPLY_CBOR)
_VALIDATIONS: Final = ("Strict", "Ignore")  # a thousand warnings are more headers than most clients take
EVERYTHING: Final = (
    "--runtime-config=api/all=true", "--feature-gates=GenericWorkload=true,CBORServingAndStorage=true",
)  # fmt: skip
"""Flags of a server that has all versions of all kinds, and CBOR."""
_ELSEWHERE: Final = frozenset({"proxy"})  # subresources that lead to others
_DEPTH: Final = 9
_REF: Final = "#/definitions/"
_PLAIN: Final = re.compile(r"[A-Za-z/][\w./-]*")
_FORMATS: Final = {"date-time": "2020-01-01T00:00:00Z", "byte": "YWJj", "int-or-string": "80"}


@dataclass(frozen=True, slots=True)
class Seed:
    """A kind that can be created: where, and an object of it. `message`: the type that is its protobuf, "" for none."""

    path: str
    value: dict[str, Any]
    message: str = ""
    verbs: tuple[str, ...] = ("create",)
    subresources: tuple[str, ...] = field(default=())

    @property
    def kind(self) -> str:
        return f"{self.value['apiVersion']} {self.value['kind']}"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, and what it is made of."""

    about: str
    method: str
    path: str
    media_type: str
    body: bytes = field(repr=False)


def filled(definitions: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Any:
    """A value with every field set, as the schema tells."""
    reference = schema.get("$ref")
    if reference:
        schema = definitions[reference.removeprefix(_REF)]
    if depth > _DEPTH:
        return {} if schema.get("type", "object") == "object" else None
    if "properties" in schema:
        return {
            name: value
            for name, inner in schema["properties"].items()
            if (value := filled(definitions, inner, depth + 1)) is not None
        }
    if schema.get("type") == "array":
        return [filled(definitions, schema["items"], depth + 1)]
    if "additionalProperties" in schema:
        return {"a": filled(definitions, schema["additionalProperties"], depth + 1)}
    if "enum" in schema:
        return schema["enum"][0]
    plain = {"string": _FORMATS.get(schema.get("format", ""), "a"), "integer": 1, "number": 1.5, "boolean": True}
    return plain.get(schema.get("type", "object"), {})


def named(value: dict[str, Any], name: str = "there") -> dict[str, Any]:
    """With metadata that may be written."""
    kept = {
        key: inner for key, inner in value.get("metadata", {}).items() if key in ("labels", "annotations", "finalizers")
    }
    return {**value, "metadata": {**kept, "name": name}}


def seeds(caller: Api) -> Iterator[Seed]:
    """Of every kind that this server lets anybody create."""
    definitions = caller.get("/openapi/v2").json()["definitions"]
    by_kind = {
        (one["group"], one["version"], one["kind"]): name
        for name, definition in definitions.items()
        for one in definition.get("x-kubernetes-group-version-kind", ())
    }
    groups = caller.get("/apis").json()["groups"]
    for version in ("v1", *(one["groupVersion"] for group in groups for one in group["versions"])):
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resources = caller.get(base).json()["resources"]
        for one in resources:
            if "create" not in one["verbs"] or "/" in one["name"]:
                continue
            group, _, plain = version.rpartition("/")
            name = by_kind[(group, plain, one["kind"])]
            path = f"{base}/namespaces/default/{one['name']}" if one["namespaced"] else f"{base}/{one['name']}"
            value = named(filled(definitions, definitions[name]), "new")
            value |= {"apiVersion": version, "kind": one["kind"]}
            inner = tuple(
                sub["name"].partition("/")[2] for sub in resources
                if sub["name"].startswith(f"{one['name']}/") and "patch" in sub["verbs"]
                and sub["name"].partition("/")[2] not in _ELSEWHERE
            )  # fmt: skip
            yield Seed(path, value, name, tuple(one["verbs"]), inner)


def as_yaml(chance: random.Random, value: Any) -> bytes:
    """In one of the ways in which people and libraries write it."""
    way = chance.random()
    if way < 0.2:  # of short lines where it is at all long; an equal object is written once, and then told by its alias
        text: str = yaml.dump(
            value, Dumper=yaml.CSafeDumper, default_flow_style=None, sort_keys=False, allow_unicode=True
        )
        return text.encode("utf-8", "surrogatepass")
    if way < 0.3:
        return json.dumps(value, indent=1).encode()
    lines: list[str] = []
    _block(value, "", lines, chance.choice(("", "  ")), chance.choice((0, 0, 60, 10**9)))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _block(value: Any, indent: str, lines: list[str], step: str, flow: int) -> None:
    """Lines of block style; objects of less than `flow` members without others in them on one line."""
    for item in value.items() if isinstance(value, dict) else [("-", one) for one in value]:
        key, inner = item
        lead = f"{indent}-" if isinstance(value, list) else f"{indent}{_scalar(key)}:"
        if not isinstance(inner, dict | list) or not inner or (len(inner) < flow and not _holds_more(inner)):
            lines.append(f"{lead} {_scalar(inner)}")
            continue
        place = len(lines)
        deeper = indent + ("  " if isinstance(value, list) or isinstance(inner, dict) else step)
        _block(inner, deeper, lines, step, flow)
        if isinstance(value, list):  # the first line of an item stands behind its dash
            lines[place] = f"{lead} {lines[place][len(deeper) :]}"
        else:
            lines.insert(place, lead)


def _holds_more(value: Any) -> bool:
    return any(isinstance(one, dict | list) for one in (value.values() if isinstance(value, dict) else value))


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_protobuf(seed: Seed, value: Any) -> bytes:
    """In its envelope; nothing where the value does not fit the type."""
    if not seed.message:
        return b""
    package, _, kind = seed.message.rpartition(".")
    schema = builtin_types().get("k8s.io/" + package.removeprefix("io.k8s.").replace(".", "/"), kind)
    try:
        return protobuf.wrap(value["apiVersion"], value["kind"], protobuf.encode_message(schema, value))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return b""


def as_operations(chance: random.Random, value: dict[str, Any]) -> list[dict[str, Any]]:
    """A JSON patch that makes the value: in one step for each member, or for many of the values in it."""
    deep = chance.random() < 0.5
    paths = (
        places(value, lambda one: not deep or not isinstance(one, dict | list), 2000)[:9000]
        if deep
        else [(key,) for key in value]
    )
    operations = []
    for path in paths:
        inner: Any = value
        for step in path:
            inner = inner[step]
        pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
        operations.append(
            {"op": chance.choice(["add", "add", "add", "replace", "test"]), "path": pointer, "value": inner}
        )
    return operations


def encoded(chance: random.Random, seed: Seed, value: Any, media_type: str) -> bytes:
    """The value in that form."""
    if media_type in (YAML, APPLY):
        return as_yaml(chance, value)
    if media_type == PROTOBUF:
        return as_protobuf(seed, value)
    if media_type in (CBOR, APPLY_CBOR):
        return as_cbor(value) if chance.random() < 0.5 else cbor2.dumps(value)
    if media_type == JSON_PATCH:
        value = as_operations(chance, value)
    separators = chance.choice([(",", ":"), (", ", ": ")])
    return json.dumps(value, separators=separators, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _target(chance: random.Random, seed: Seed, media_type: str) -> tuple[str, str, str]:
    """Method, path and the name of the object."""
    patch = media_type not in (JSON, YAML, CBOR, PROTOBUF)
    if patch or (chance.random() < 0.3 and "update" in seed.verbs):
        sub = f"/{chance.choice(seed.subresources)}" if seed.subresources and chance.random() < 0.15 else ""
        return "PATCH" if patch else "PUT", f"{seed.path}/there{sub}", "there"
    return "POST", seed.path, "new"


def requests(chance: random.Random, seed: Seed, media_type: str, size: int, hurts: int) -> Iterator[Sent]:
    """One grown object whole and in `hurts` damaged versions."""
    if media_type not in (JSON, YAML, CBOR, PROTOBUF) and "patch" not in seed.verbs:
        return
    method, path, name = _target(chance, seed, media_type)
    value = json.loads(json.dumps(seed.value))
    if chance.random() < 0.8:  # its metadata is damaged less often: with a wrong name nothing else is looked at
        value = {**shaken(chance, value, chance.choice((0, 0, 1, 2))), "metadata": {**seed.value["metadata"]}}
    else:
        shaken(chance, value, chance.choice((0, 1, 2)))
    value = grow(chance, value, size)
    if chance.random() < 0.8:  # else what is equal is one object, and YAML has aliases of it
        value = json.loads(json.dumps(value))
    if isinstance(value.get("metadata"), dict) and chance.random() < 0.95:
        value["metadata"]["name"] = name
    if chance.random() < 0.4:
        shaken(chance, value, chance.choice((1, 3, 30)))
    if chance.random() < 0.98:
        value |= {"apiVersion": seed.value["apiVersion"], "kind": seed.value["kind"]}
    body = encoded(chance, seed, value, media_type)[: 3 << 20]
    if not body:
        return
    query = f"?dryRun=All&fieldValidation={chance.choice(_VALIDATIONS)}"
    if method == "PATCH":
        query += "&fieldManager=stranger" + ("&force=true" if "apply" in media_type and chance.random() < 0.8 else "")
    yield Sent(f"{seed.kind} whole", method, path + query, media_type, body)
    for number in range(hurts):
        damaged = body
        for _ in range(chance.choice((1, 1, 2, 5))):
            damaged = hurt(chance, damaged, body)
        yield Sent(f"{seed.kind} hurt {number}", method, path + query, media_type, damaged[: 3 << 20])


def plain_noise(chance: random.Random, size: int) -> bytes:
    """Bytes of a few sorts, or of all."""
    return bytes(chance.choices(chance.sample(range(256), chance.choice((1, 2, 5, 20, 256))), k=size))
