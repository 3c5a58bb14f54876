"""Replays recorded conversations about patches and ownership: decoding, defaults, patches, managed fields; no server,
no store.

A small stand-in for the generic store keeps objects as dicts. It validates nothing and knows no admission, so steps
whose recorded answer is of that kind are passed over: the answer is then not compared, and nothing is written.
"""

from __future__ import annotations

import json
import pathlib
import re
import string
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from pilothouse.builtin.behaviours import behaviour
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode import DecodeError, Findings, compile_decoder
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, parse_patch
from pilothouse.machinery.patch.restore import problem
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.fieldset import of_paths
from pilothouse.registry.managed.objects import resets, settled
from pilothouse.registry.managed.tracker import Tracker

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "conformance"
APPLY = "application/apply-patch+yaml"
NAMESPACE = "place-1"
_VOLATILE = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_MINE = re.compile(
    r"Apply failed with|failed to create typed|the server rejected our request due|cannot restore|must be nil"
)

# resource -> (package, kind, apiVersion, reset fields of the main resource)
KINDS: dict[str, tuple[str, str, str]] = {
    "configmaps": ("k8s.io/api/core/v1", "ConfigMap", "v1"),
    "podtemplates": ("k8s.io/api/core/v1", "PodTemplate", "v1"),
    "resourcequotas": ("k8s.io/api/core/v1", "ResourceQuota", "v1"),
    "deployments": ("k8s.io/api/apps/v1", "Deployment", "apps/v1"),
    "networkpolicies": ("k8s.io/api/networking/v1", "NetworkPolicy", "networking.k8s.io/v1"),
}


REPLICAS = {"apps/v1": ("spec", "replicas")}


class Skip(Exception):
    """The step needs what the stand-in has not."""


def cases(suite: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """(case, recorded answers)."""
    expected = json.loads((SHARED / "expected" / f"{suite}.json").read_text())
    for case in yaml.safe_load((SHARED / "cases" / f"{suite}.yaml").read_text()):
        yield case, expected.get(case["case"], [])


class StandIn:
    """Objects of one namespace, and a clock that moves a second with every request."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.seconds = 0
        self.saved: dict[str, Any] = {"ns": NAMESPACE, "id": "x1"}

    def do(self, step: dict[str, Any], recorded: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """(code, answer). What the original refused, or was only asked to try, leaves nothing behind."""
        before = dict(self.objects)
        try:
            code, answer = self._do(step)
        finally:
            if recorded.get("status", 200) >= 400 or "dryRun=All" in step["do"]:
                self.objects = before
        for name, path in (step.get("save") or {}).items():
            self.saved[name] = at(answer, path)
        return code, answer

    def _do(self, step: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seconds += 1
        step = _filled(step, self.saved)
        method, target = step["do"].split(" ", 1)
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        found = re.fullmatch(rf"/apis?/.*?namespaces/{NAMESPACE}/([a-z]+)(?:/([^/]+))?(?:/([a-z]+))?", url.path)
        if found is None or found[1] not in KINDS:
            raise Skip(target)
        resource, name, part = found.groups()
        if part not in (None, "status", "scale"):
            raise Skip(target)
        agent = (step.get("headers") or {}).get("User-Agent", "")
        manager = query.get("fieldManager") or agent.split("/")[0] or "unknown"
        endpoint = _Endpoint(resource, part or "", self)
        try:
            if part == "scale":
                return endpoint.scale((resource, name), method, step, manager, query.get("force") == "true")
            if "body" not in step and "raw" not in step and method != "GET":
                raise Skip("no body")
            if method == "POST":
                return 201, endpoint.create(step["body"], manager)
            key = (resource, name)
            if method == "GET":
                if key not in self.objects:
                    raise Skip("absent")
                return 200, self.objects[key]
            if method == "PUT":
                return 200, endpoint.update(key, lambda old: dict(step["body"]), manager)
            if method == "PATCH":
                return endpoint.patch(key, step, manager, query)
        except APIError as error:
            return error.code, error.status()
        except DecodeError as error:
            raise Skip("does not decode") from error
        raise Skip(method)

    def now(self) -> str:
        return f"2024-01-01T00:{self.seconds // 60:02d}:{self.seconds % 60:02d}Z"


class _Endpoint:
    def __init__(self, resource: str, part: str, world: StandIn) -> None:
        package, kind, api_version = KINDS[resource]
        self.resource, self.part, self.world = resource, part, world
        self.kind, self.api_version = kind, api_version
        self.schema: Schema = builtin_types().get(package, kind)
        reset = of_paths(("f:status",)) if not part else of_paths(("f:spec",), ("f:metadata", "f:labels"))
        self.main = Tracker(self.schema, api_version, kind)
        self.tracker = Tracker(self.schema, api_version, kind, part, {api_version: reset}, {api_version: self.schema})

    def decoded(self, value: dict[str, Any]) -> dict[str, Any]:
        value = json.loads(json.dumps(value))
        value.pop("kind", None), value.pop("apiVersion", None)
        obj = {"kind": self.kind, "apiVersion": self.api_version, **compile_decoder(self.schema)(value, Findings())}
        group = self.api_version.rpartition("/")[0]
        own = behaviour(group, self.resource)
        fill: Callable[[dict[str, Any]], None] | None = own.defaults if own is not None else None
        if self.kind == "PodTemplate":
            from pilothouse.builtin.shared.poddefaults import template_defaults

            template_defaults(obj["template"])
        if fill is not None:
            fill(obj)
        return obj

    def create(self, body: dict[str, Any], manager: str) -> dict[str, Any]:
        obj = self.tracker.create(self.decoded(body), manager, self.world.now())
        return self._stored(obj)

    def _stored(self, obj: dict[str, Any]) -> dict[str, Any]:
        if "name" not in obj["metadata"]:
            raise Skip("no name")
        metadata = {"uid": "u", "namespace": NAMESPACE, "creationTimestamp": "2024-01-01T00:00:00Z", **obj["metadata"]}
        metadata["resourceVersion"] = str(self.world.seconds)
        obj = {**obj, "metadata": metadata}
        self.world.objects[self.resource, metadata["name"]] = obj
        return obj

    def update(self, key: tuple[str, str], make: Callable[[dict[str, Any]], dict[str, Any]], manager: str) -> Any:
        if key not in self.world.objects:
            raise Skip("absent")
        old = self.world.objects[key]
        sent = make(old)
        new = self._kept(self.decoded(sent), old)
        new = settled(old, self.tracker.update(old, new, manager, self.world.now(), forget=resets(sent)))
        return old if new == old else self._stored(new)

    def _kept(self, new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
        """What the endpoint does not write, and what the server keeps."""
        if self.part == "status":
            new = {**new, "spec": old["spec"]}
            new["metadata"] = {**new["metadata"], "labels": old["metadata"].get("labels")}
            if new["metadata"]["labels"] is None:
                del new["metadata"]["labels"]
        elif "status" in old:
            new = {**new, "status": old["status"]}
        for name in ("uid", "creationTimestamp", "resourceVersion", "namespace"):
            if name in old["metadata"]:
                new["metadata"] = {**new["metadata"], name: old["metadata"][name]}
        return new

    def scale(self, key: tuple[str, str], method: str, step: dict[str, Any], manager: str, force: bool) -> Any:
        if key not in self.world.objects or method == "GET":
            raise Skip("a Scale is not made here")
        old = self.world.objects[key]
        if step.get("type") == APPLY:
            if step["body"]["kind"] != "Scale":
                raise Skip("another type")
            new = self.main.scale_apply(old, step["body"]["spec"]["replicas"], manager, REPLICAS, force=force)
        else:
            replicas = step["body"]["spec"]["replicas"]
            new = self.main.scale(old, {**old, "spec": {**old["spec"], "replicas": replicas}}, manager, REPLICAS)
        self._stored(new)
        raise Skip("a Scale is not made here")

    def patch(self, key: tuple[str, str], step: dict[str, Any], manager: str, query: dict[str, str]) -> Any:
        media_type = step.get("type", "").partition(";")[0]
        if media_type == APPLY:
            return self._apply(key, step, manager, query.get("force") in ("true", "1"))
        if media_type not in (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH):
            raise Skip("no patch")
        data = step["raw"].encode() if "raw" in step else json.dumps(step["body"]).encode()
        patch = parse_patch(media_type, data, self.schema)

        def patched(old: dict[str, Any]) -> dict[str, Any]:
            value, _ = patch(old)
            try:
                self.decoded(value)
            except DecodeError as error:
                why = str(error) if media_type == JSON_PATCH else problem(self.schema, value) or str(error)
                raise patch.refused(value, why) from error
            return value

        return 200, self.update(key, patched, manager)

    def _apply(self, key: tuple[str, str], step: dict[str, Any], manager: str, force: bool) -> Any:
        if "raw" in step:
            raise Skip("YAML")
        old = self.world.objects.get(key)
        config = step["body"]
        if not isinstance(config, dict) or (config.get("kind"), config.get("apiVersion")) != (
            self.kind,
            self.api_version,
        ):
            raise Skip("another type")
        applied = self.tracker.apply(old, config, manager, self.world.now(), force=force)
        if applied.get("metadata", {}).get("name") != key[1]:
            raise Skip("another name")
        new = self.decoded(applied)
        if old is None:
            if self.part:
                raise Skip("absent")
            return 201, self._stored(new)
        new = settled(old, self._kept(new, old))
        return 200, old if new == old else self._stored(new)


def _filled(value: Any, saved: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return string.Template(value).safe_substitute(saved)
    if isinstance(value, dict):
        return {_filled(key, saved): _filled(inner, saved) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(item, saved) for item in value]
    return value


def at(value: Any, path: str) -> Any:
    """The value at a dotted path with indices; None where there is none."""
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def plain(value: Any) -> Any:
    """As the recorder writes answers: no times, uids, versions."""
    if isinstance(value, str):
        return _UID.sub("<uid>", _VOLATILE.sub("<time>", value)).replace(NAMESPACE, "<ns>")
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def comparable(code: int, answer: dict[str, Any], recorded: dict[str, Any]) -> tuple[Any, Any]:
    """What of a step's answer the stand-in can be measured by: ours, and the recorded one."""
    body = recorded["body"]
    if recorded["status"] >= 400:
        if not _MINE.search(str(body.get("message", ""))):
            raise Skip("validation")
        answer = {"metadata": {}, "apiVersion": "v1", **answer}
        return {name: plain(at(answer, name)) for name in body}, body
    ours, theirs = {}, {}
    for name in body:
        if name in ("metadata", "spec", "data", "metadata.managedFields") or name.startswith(
            ("spec.", "template", "data.")
        ):
            ours[name], theirs[name] = plain(at(answer, name)), body[name]
    for side in (ours, theirs):
        if "metadata" in side:
            side["metadata"] = {
                name: value
                for name, value in side["metadata"].items()
                if name in ("managedFields", "labels", "annotations")
            }
    return {"status": code // 100, **ours}, {"status": recorded["status"] // 100, **theirs}
