"""Replays recorded conversations through the behaviours alone: decode, defaults, prepare, validate; no store.

What the generic store does (metadata, conflicts, deletion) is not looked at: causes about `metadata.name` and the like
are left out, and after every answer the stored object is the recorded one. Steps that cannot be known are skipped.
"""

from __future__ import annotations

import copy
import datetime
import functools
import json
import pathlib
import re
import string
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from pilothouse.builtin import facts as builtin_facts
from pilothouse.builtin.behaviours import behaviour
from pilothouse.builtin.facts import ResourceFacts
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery import quantity
from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.patch import strategic
from pilothouse.machinery.schema import Field, Schema
from pilothouse.registry.behaviour import Behaviour, Context, Part

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
NOW = datetime.datetime(2026, 11, 29, tzinfo=datetime.UTC)
NAMES = {"ns": "c-0a1b2c3d", "id": "0a1b2c3d"}  # of the case's namespace, and of cluster-scoped objects
_GENERIC = re.compile(
    r"metadata\.(name|generateName|labels$|annotations|finalizers|ownerReferences|resourceVersion|uid|deletion|namespace|managed)"
)
_ZERO: dict[str, Any] = {
    s.STRING: "",
    s.BOOL: False,
    s.INT32: 0,
    s.INT64: 0,
    s.FLOAT64: 0.0,
    s.QUANTITY: "0",
    s.INT_OR_STRING: 0,
}


def shape(value: Any, schema: Schema) -> Any:
    """A value as the original's decoder and encoder make it: known fields only, structs there, zeros gone."""
    if value is None:
        return "0" if schema.kind == s.QUANTITY else None
    if schema.kind == s.STRUCT:
        return _struct(value, schema)
    if schema.kind == s.LIST:
        return [shape({} if one is None and schema.items.kind == s.STRUCT else one, schema.items) for one in value]
    if schema.kind == s.MAP:
        return {key: shape(one, schema.items) for key, one in value.items()}
    if schema.kind == s.QUANTITY:
        return quantity.shown(value if isinstance(value, str) else json.dumps(value))
    return value


def _struct(value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, one in schema.properties.items():
        found = shape(value[name], one.schema) if value.get(name) is not None else None
        if found is None and one.schema.kind == s.STRUCT and not one.pointer:
            found = _struct({}, one.schema)
        if _left_out(found, one):
            continue
        if found is None and not one.pointer and one.schema.kind in _ZERO:
            found = _ZERO[one.schema.kind]
        made[name] = found
    return made


def _left_out(found: Any, one: Field) -> bool:
    if one.schema.kind == s.STRUCT and not one.pointer:
        return one.omitzero and not found
    if one.schema.kind in (s.TIME, s.MICRO_TIME) and found is None:
        return True
    if not one.omitempty and not one.omitzero:
        return False
    if one.pointer:
        return found is None
    if one.schema.kind == s.INT_OR_STRING or one.schema.kind == s.QUANTITY:
        return found is None
    return not found


@functools.cache
def load(folder: str, suite: str) -> tuple[dict[str, Any], dict[str, Any]]:
    home = SHARED / folder
    if not home.exists():
        pytest.skip("the shared folder is not here")
    cases = {
        case["case"]: case
        for case in yaml.load((home / "cases" / f"{suite}.yaml").read_text(), Loader=yaml.CSafeLoader)
    }
    text = (home / "expected" / f"{suite}.json").read_text()
    return cases, json.loads(text.replace("<ns>", NAMES["ns"]).replace("<id>", NAMES["id"]))


@functools.cache
def _resources() -> dict[tuple[str, str, str], ResourceFacts]:
    return {(one.group, one.version, one.plural): one for one in builtin_facts.load()}


def find(group: str, version: str, resource: str) -> ResourceFacts | None:
    return _resources().get((group, version, resource))


def schema_of(facts: ResourceFacts) -> Schema:
    return builtin_types().get(facts.package, facts.kind)


@dataclass
class Target:
    facts: ResourceFacts
    namespace: str
    name: str
    subresource: str


def target(path: str) -> Target | None:
    """What a path names; None for what is no object of a built-in kind."""
    parts = path.partition("?")[0].strip("/").split("/")
    if parts[0] == "api":
        group, version, rest = "", parts[1] if len(parts) > 1 else "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    facts = find(group, version, rest[0]) if rest else None
    if facts is None:
        return None
    return Target(facts, namespace, rest[1] if len(rest) > 1 else "", rest[2] if len(rest) > 2 else "")


def merged(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    made = dict(value) if isinstance(value, dict) else {}
    for key, one in patch.items():
        if one is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), one)
    return made


def pointed(value: Any, operations: list[dict[str, Any]]) -> Any:
    """JSON Patch, as far as the cases need it."""
    value = copy.deepcopy(value)
    for one in operations:
        *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in one["path"].split("/")[1:]]
        at = value
        for step in steps:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if isinstance(at, list):
            if one["op"] == "add":
                at.insert(len(at) if last == "-" else int(last), one["value"])
            elif one["op"] == "replace":
                at[int(last)] = one["value"]
            else:
                del at[int(last)]
        elif one["op"] == "remove":
            at.pop(last, None)
        else:
            at[last] = one["value"]
    return value


@dataclass
class Replay:
    """The state of one case: objects by kind, namespace and name."""

    variables: dict[str, str]
    objects: dict[tuple[str, str, str, str], Any] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    compared: int = 0


def _key(where: Target, name: str) -> tuple[str, str, str, str]:
    return (where.facts.group, where.facts.plural, where.namespace, name)


def _body(step: dict[str, Any], replay: Replay) -> Any:
    if "body" in step:
        return json.loads(string.Template(json.dumps(step["body"])).safe_substitute(replay.variables))
    if "raw" in step:
        try:
            return json.loads(string.Template(step["raw"]).safe_substitute(replay.variables))
        except ValueError:
            return None
    return None


def _patched(old: Any, body: Any, kind: str, schema: Schema) -> Any:
    if kind == "application/merge-patch+json":
        return merged(old, body)
    if kind == "application/json-patch+json":
        return pointed(old, body)
    if kind == "application/strategic-merge-patch+json":
        return strategic.apply(body, copy.deepcopy(old), schema)
    return None


def fill(kind: Behaviour, thing: Any, schema: Schema) -> Any:
    made = shape(thing, schema)
    if kind.defaults:
        kind.defaults(made)
    return made


def judge(kind: Behaviour, new: Any, old: Any, where: Target) -> list[Cause]:
    """What the kind says of a write, after its prepare."""
    part: Part | Behaviour | None = kind.parts.get(where.subresource) if where.subresource else kind
    if part is None:
        return []
    context = Context(where.namespace, new["metadata"].get("name", ""), where.subresource, "admin", (), NOW, False)
    if part.prepare:
        part.prepare(new, old, context)
    return list(part.validate(new, old, context)) if part.validate else []


def _new_object(step: dict[str, Any], where: Target, replay: Replay, method: str) -> tuple[Any, Any] | None:
    """(new, old) of a step, or None where it cannot be known."""
    body = _body(step, replay)
    if not isinstance(body, dict | list):
        return None
    if method == "POST":
        if where.subresource:
            return None
        return body, None
    old = replay.objects.get(_key(where, where.name))
    if old is None or old == "?":
        return None
    new = body if method == "PUT" else _patched(old, body, step.get("type", ""), schema_of(where.facts))
    if not isinstance(new, dict):
        return None
    new.setdefault("metadata", {})
    if old["metadata"].get("uid"):
        new["metadata"].setdefault("uid", old["metadata"]["uid"])
    return new, old


def run_step(step: dict[str, Any], answer: dict[str, Any], replay: Replay, index: int) -> None:
    if "do" not in step:
        return
    method, _, path = string.Template(step["do"]).safe_substitute(replay.variables).partition(" ")
    where = target(path)
    if where is None or where.subresource == "scale" or method not in ("POST", "PUT", "PATCH"):
        return
    kind = behaviour(where.facts.group, where.facts.plural)
    made = _new_object(step, where, replay, method) if kind and answer.get("status") != 400 else None
    if kind is None or made is None:
        _remember(step, answer, replay, where, None)
        return
    body, old_body = made
    schema = schema_of(where.facts)
    new = fill(kind, body, schema)
    old = fill(kind, old_body, schema) if old_body is not None else None
    causes = [one for one in judge(kind, new, old, where) if not _GENERIC.match(one.field)]
    _compare(step, answer, replay, f"step {index}", new, causes)
    _remember(step, answer, replay, where, new)


def _compare(
    step: dict[str, Any], answer: dict[str, Any], replay: Replay, label: str, new: Any, causes: list[Cause]
) -> None:
    status = answer.get("status")
    recorded = answer.get("body")
    mine = [(one.reason, one.field, one.message) for one in causes]
    if status == 422 and isinstance(recorded, dict) and "details" in recorded:
        theirs = [
            (one.get("reason"), one.get("field"), one.get("message"))
            for one in recorded["details"].get("causes", [])
            if not _GENERIC.match(one.get("field") or "")
        ]
        replay.compared += 1
        if mine != theirs:
            missing = [one for one in theirs if one not in mine]
            extra = [one for one in mine if one not in theirs]
            if not missing and not extra:
                missing = [("order", json.dumps([one[1] for one in theirs]), json.dumps([one[1] for one in mine]))]
            replay.differences += [f"{label}: missing {one}" for one in missing] + [
                f"{label}: extra {one}" for one in extra
            ]
    elif status in (200, 201):
        replay.compared += 1
        replay.differences += [f"{label}: refused {one}" for one in mine]


def _remember(step: dict[str, Any], answer: dict[str, Any], replay: Replay, where: Target, new: Any) -> None:
    """What is stored afterwards: the recorded object where all of it is known, else ours, else unknown."""
    if answer.get("status", 200) not in (200, 201):
        return
    body = answer.get("body")
    whole = isinstance(body, dict) and body.get("kind") == where.facts.kind and "only" not in step
    if whole and where.facts.version == "v1":
        name = body["metadata"].get("name", "")
        replay.objects[_key(where, name)] = body if not step.get("ignore") else {**(new or {}), **body}
        return
    name = where.name or (new or {}).get("metadata", {}).get("name", "")
    if name:
        replay.objects[_key(where, name)] = new if new is not None else "?"


def replay_case(suite: str, name: str, folder: str = "conformance") -> Replay:
    cases, expected = load(folder, suite)
    replay = Replay(dict(NAMES))
    for index, (step, answer) in enumerate(zip(cases[name]["steps"], expected[name], strict=False)):
        run_step(step, answer, replay, index)
    return replay


def check_case(suite: str, name: str) -> None:
    """Every refusal recorded in the case is ours too, cause by cause, and everything accepted is accepted."""
    replay = replay_case(suite, name)
    assert replay.compared, f"{suite}/{name}: nothing was compared"
    assert not replay.differences, "\n".join(replay.differences)
