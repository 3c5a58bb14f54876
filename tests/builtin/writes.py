"""Replays the recorded writes of one kind through the generic store's own steps, without a server and without I/O:
decode, default, prepare, validate, warn. It compares causes, warnings, and what would be stored.

Left out: metadata that every kind has alike (it has tests of its own), conflicts, admission and permissions. After a
step whose answer is not compared, our own result stands for what was stored.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import functools
import json
import re
import string
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import recorded

from pilothouse.builtin import table
from pilothouse.builtin.types import builtin_types
from pilothouse.machinery.decode.document import compile_decoder
from pilothouse.machinery.decode.findings import Findings
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Caller, NoAdmission, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.store import GenericStore, Services
from pilothouse.storage.api import Storage

NOW = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
NAMES = recorded.NAMES
NAMESPACE = NAMES["ns"]
_GENERIC = re.compile(
    r"(metadata\.(labels$|annotations|finalizers|ownerReferences|resourceVersion|uid|deletion|namespace|managed|creation))"
)
_COMPILED = re.compile(r": compilation failed: |: must evaluate to ")
_MARKS = re.compile(r"<(time|uid|random|rv|age|hookport)>")
_ELSEWHERE = re.compile(r"unknown field |duplicate field |\S+/v\w+ \w+ is deprecated in v1\.")  # not of the kind itself
_WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
CALLERS = {"admin": Caller("admin", "admin-uid", ("system:masters", "system:authenticated"))}
_HOOK = {"hook": "https://127.0.0.1:8443", "hookport": "8443", "hookca": "Y2E="}
_METADATA = ("labels", "annotations", "finalizers", "generation")


@functools.cache
def stores() -> dict[tuple[str, str], GenericStore]:
    services = Services(
        lambda: NOW, lambda: "0b2c6f3e-0000-4000-8000-000000000001", lambda base: base + "abcde", NoAdmission()
    )
    no_storage: Storage = None  # type: ignore[assignment]
    found = table.resources(builtin_types(), lambda row: True)
    return {(one.group, one.plural): GenericStore(one, no_storage, services) for one in found}


def store_of(group: str, plural: str) -> GenericStore:
    return stores()[group, plural]


class Refused(Exception):
    """What a write is answered with: reasons, fields and messages."""

    def __init__(self, causes: list[dict[str, str]]) -> None:
        self.reasons = [(one["reason"], one.get("field", ""), one["message"]) for one in causes]
        self.causes = [(field, message) for _, field, message in self.reasons]
        super().__init__("; ".join(f"{field}: {message}" for field, message in self.causes))


@dataclasses.dataclass
class Kind:
    """One kind under test: `create`, `update` and the like give (object, warnings), or raise Refused."""

    group: str
    plural: str
    version: str = ""

    @property
    def store(self) -> GenericStore:
        return store_of(self.group, self.plural)

    @property
    def resource(self) -> Resource:
        return self.store.resource

    def _write(self, warnings: list[str], name: str, part: str, user: str) -> Write:
        namespace = NAMESPACE if self.resource.namespaced else ""
        version = self.version or self.resource.hub
        caller = CALLERS.get(user) or Caller(user)
        return Write(namespace, name, version, NOW, warnings.append, subresource=part, caller=caller)

    def decode(self, body: Any) -> Object:
        """As the endpoint does: decoded in the request's version, in the hub version, defaults filled in."""
        resource = self.resource
        version = self.version or resource.hub
        obj = compile_decoder(resource.versions[version].schema)(copy.deepcopy(body), Findings())
        if version != resource.hub and resource.convert is not None:
            obj = resource.convert.to_hub(obj, version)
        behaviour = self.store.behaviour
        if behaviour.defaults is not None:
            behaviour.defaults(obj)
        obj["metadata"] = obj.get("metadata") or {}
        return obj

    def in_version(self, stored: Object) -> Object:
        """An object that was answered in some version, in mine."""
        version = self.version or self.resource.hub
        sent = next(name for name in self.resource.versions if self.resource.api_version(name) == stored["apiVersion"])
        if sent == version:
            return stored
        return self._shown(Kind(self.group, self.plural, sent).decode(stored))

    def create(self, body: Any, user: str = "admin") -> tuple[Object, list[str]]:
        body = {**body, "metadata": {"name": "a", **(body.get("metadata") or {})}}
        return self.create_exactly(body, user)

    def create_exactly(self, body: Any, user: str = "admin") -> tuple[Object, list[str]]:
        obj, warnings = self.decode(body), []
        name = (body.get("metadata") or {}).get("name") or ""
        self._judged(lambda: self.store.prepare_create(obj, self._write(warnings, name, "", user)))
        return self._shown(obj), warnings

    def update(self, old: Any, body: Any, part: str = "", user: str = "admin") -> tuple[Object, list[str]]:
        """`old` is a stored object, as `create` and `update` give it; `body` a whole new one."""
        before = self.decode(old)
        before["metadata"].setdefault("name", "a")
        body = {**body, "metadata": {"name": before["metadata"]["name"], **(body.get("metadata") or {})}}
        obj, warnings = self.decode(body), []
        obj["metadata"].pop("resourceVersion", None)
        write = self._write(warnings, before["metadata"]["name"], part, user)
        self._judged(lambda: self.store.prepare_update(obj, before, write))
        return self._shown(obj), warnings

    def change(self, old: Any, patch: Any, part: str = "", user: str = "admin") -> tuple[Object, list[str]]:
        """An update by merge patch."""
        return self.update(old, recorded.merged(old, patch), part, user)

    def causes(self, body: Any, old: Any = None, part: str = "") -> list[tuple[str, str]]:
        """(field, message) of what is wrong with a create, or with an update of `old`."""
        with pytest.raises(Refused) as refused:
            if old is None:
                self.create(body)
            else:
                self.update(old, body, part)
        return refused.value.causes

    def _shown(self, obj: Object) -> Object:
        resource = self.resource
        version = self.version or resource.hub
        made = json.loads(self.store.codec.encode(obj))
        if version != resource.hub and resource.convert is not None:
            made = resource.convert.from_hub(made, version)
        return {**made, "kind": resource.versions[version].kind, "apiVersion": resource.api_version(version)}

    @staticmethod
    def _judged(run: Any) -> None:
        try:
            run()
        except APIError as error:
            if error.code != 422:
                raise
            raise Refused((error.details or {}).get("causes", [])) from None


# -- recorded cases


def _filled(value: Any, variables: dict[str, str]) -> Any:
    return json.loads(string.Template(json.dumps(value)).safe_substitute(variables))


def _expected(value: Any) -> Any:
    text = json.dumps(value)
    for mark, real in {"<ns>": NAMESPACE, "<id>": NAMES["id"], "<hookca>": _HOOK["hookca"]}.items():
        text = text.replace(mark, real)
    return json.loads(text)


def same(theirs: Any, ours: Any) -> bool:
    """Whether ours is what was recorded; marks such as <time> stand for anything."""
    if isinstance(theirs, str) and _MARKS.search(theirs):
        pattern = re.escape(theirs)
        for mark in ("time", "uid", "random", "rv", "age", "hookport"):
            pattern = pattern.replace(re.escape(f"<{mark}>"), ".*")
        return isinstance(ours, str) and re.fullmatch(pattern, ours, re.DOTALL) is not None
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return theirs.keys() == ours.keys() and all(same(theirs[key], ours[key]) for key in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    return bool(theirs == ours)


@dataclasses.dataclass
class Replay:
    skip: frozenset[int]
    kinds: frozenset[str] = frozenset()  # plurals; steps of other kinds are passed over (none: all are run)
    variables: dict[str, str] = dataclasses.field(default_factory=lambda: {**NAMES, **_HOOK})
    objects: dict[tuple[str, str, str, str], Any] = dataclasses.field(default_factory=dict)
    differences: list[str] = dataclasses.field(default_factory=list)
    compared: int = 0

    def step(self, index: int, step: dict[str, Any], answer: dict[str, Any]) -> None:
        if "do" not in step:
            return
        method, _, path = string.Template(step["do"]).safe_substitute(self.variables).partition(" ")
        where = recorded.target(path)
        if where is None or (where.facts.group, where.facts.plural) not in stores():
            return
        if self.kinds and where.facts.plural not in self.kinds:
            return
        key = (where.facts.group, where.facts.plural, where.namespace, where.name)
        if method == "DELETE" and where.name and answer.get("status", 200) == 200:
            self.objects.pop(key, None)
        if method not in ("POST", "PUT", "PATCH"):
            return
        run = self._run(step, method, where, self.objects.get(key))
        status = answer.get("status")
        if run is None and status in (200, 201) and "dryRun" not in path:
            self._remember(where, status, _expected(answer.get("body")), None, "only" in step or "ignore" in step)
        if run is None or status not in (None, 200, 201, 422):
            return
        self._compare(f"step {index} ({step['do']})", step, answer, where, run, index in self.skip)

    def _run(self, step: dict[str, Any], method: str, where: Any, old: Any) -> Any:
        body = _filled(step["body"], self.variables) if "body" in step else None
        if body is None and "raw" in step:
            try:
                body = json.loads(string.Template(step["raw"]).safe_substitute(self.variables))
            except ValueError:
                return None
        if not isinstance(body, dict | list):
            return None
        kind = Kind(where.facts.group, where.facts.plural, where.facts.version)
        user = step.get("user", "admin")
        if method == "POST":
            return None if where.subresource else lambda: kind.create_exactly(body, user)
        if old is None:
            return None
        old = kind.in_version(old)
        if method == "PATCH":
            patch = step.get("type", "")
            if patch == "application/json-patch+json":
                body = recorded.pointed(old, body)
            elif patch == "application/merge-patch+json":
                body = recorded.merged(old, body)
            else:
                return None
        return lambda: kind.update(old, body, where.subresource, user)

    def _compare(
        self, label: str, step: dict[str, Any], answer: dict[str, Any], where: Any, run: Any, skipped: bool
    ) -> None:
        made: Any = None
        warnings: list[str] = []
        reasons: list[tuple[str, str, str]] = []
        try:
            made, warnings = run()
        except Refused as refused:
            reasons = [one for one in refused.reasons if not _left_out(one)]
        except Exception as error:
            error.add_note(label)
            raise
        status, body = answer.get("status"), _expected(answer.get("body"))
        if status is not None and not skipped:
            self.compared += 1
            if status == 422:
                self._compare_causes(label, body, reasons)
            else:
                self.differences += [f"{label}: refused {one}" for one in reasons]
                if made is not None:
                    self._compare_object(label, body, _without(made, step.get("ignore", ())))
                    self._compare_warnings(label, answer, warnings)
        if "dryRun" not in step["do"]:
            self._remember(where, status, body, made, "only" in step or "ignore" in step)

    def _compare_causes(self, label: str, body: Any, ours: list[tuple[str, str, str]]) -> None:
        if not isinstance(body, dict) or "details" not in body:
            return
        theirs = [
            cause
            for one in body["details"].get("causes", [])
            if not _left_out(cause := (one.get("reason"), one.get("field"), one.get("message")))
        ]
        if len(theirs) == len(ours) and all(map(_alike, theirs, ours)):
            return
        missing = [one for one in theirs if one not in ours]
        extra = [one for one in ours if one not in theirs]
        self.differences += [f"{label}: missing {one}" for one in missing] + [f"{label}: extra {one}" for one in extra]
        if not missing and not extra:
            self.differences.append(
                f"{label}: order\n  theirs {[one[1] for one in theirs]}\n  ours   {[one[1] for one in ours]}"
            )

    def _compare_object(self, label: str, body: Any, made: Any) -> None:
        if not isinstance(body, dict):
            return
        if body.get("kind") == made["kind"] and body.get("apiVersion") == made["apiVersion"]:
            pairs = [(key, body.get(key), made.get(key)) for key in (body.keys() | made.keys()) - {"metadata"}]
            theirs, ours = body.get("metadata") or {}, made["metadata"]
            pairs += [(f"metadata.{key}", theirs.get(key), ours.get(key)) for key in _METADATA]
        elif "kind" in body and "metadata" in body:
            return
        else:
            pairs = [
                (path, value, _dug(made, path))
                for path, value in body.items()
                if path.startswith(
                    (
                        "spec",
                        "status",
                        "metadata.labels",
                        "metadata.annotations",
                        "metadata.finalizers",
                        "metadata.generation",
                    )
                )
            ]
        self.differences += [
            f"{label}: {path}\n  theirs {json.dumps(theirs)}\n  ours   {json.dumps(ours)}"
            for path, theirs, ours in pairs
            if not same(theirs, ours)
        ]

    def _compare_warnings(self, label: str, answer: dict[str, Any], ours: list[str]) -> None:
        header = (answer.get("headers") or {}).get("warning") or ""
        theirs = [_expected(json.loads(f'"{one}"')) for one in _WARNING.findall(header)]
        theirs = [one for one in theirs if not _ELSEWHERE.match(one)]
        if theirs != ours:
            self.differences.append(f"{label}: warnings\n  theirs {theirs}\n  ours   {ours}")

    def _remember(self, where: Any, status: int | None, body: Any, made: Any, partly: bool) -> None:
        whole = isinstance(body, dict) and body.get("kind") == where.facts.kind and not partly
        kept = made if made is not None else _plausible(body) if whole and status in (200, 201) else None
        if kept is not None and status != 422:
            name = kept["metadata"].get("name", where.name)
            self.objects[where.facts.group, where.facts.plural, where.namespace, name] = kept


def _without(value: Any, paths: Any) -> Any:
    """A copy without what the case leaves out of the comparison."""
    value = copy.deepcopy(value)
    for path in paths:
        *steps, last = path.split(".")
        places = [value]
        for step in steps:
            below = [place if step == "*" else _dug(place, step) for place in places]
            places = [one for place in below for one in (place if isinstance(place, list) else [place])]
        for place in places:
            if isinstance(place, dict):
                place.pop(last, None)
    return value


def _plausible(value: Any) -> Any:
    """A recorded object as one that can be decoded: values for the marks."""
    text = json.dumps(value)
    for mark, real in {"<time>": "2026-01-02T03:04:05Z", "<uid>": "0b2c6f3e-0000-4000-8000-000000000001"}.items():
        text = text.replace(mark, real)
    return json.loads(text)


def _left_out(cause: tuple[Any, ...]) -> bool:
    """Causes about metadata, and about expressions that do not compile: other rooms find those."""
    return _GENERIC.match(cause[1] or "") is not None or _COMPILED.search(cause[2] or "") is not None


def _alike(theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> bool:
    """Parts that the case leaves out of the comparison are None."""
    return all(one is None or one == other or same(one, other) for one, other in zip(theirs, ours, strict=True))


def _dug(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def replay(
    suite: str,
    name: str,
    *,
    skip: frozenset[int] = frozenset(),
    kinds: frozenset[str] = frozenset(),
    folder: str = "conformance",
) -> Replay:
    cases, expected = recorded.load(folder, suite)
    run = Replay(skip, kinds)
    for index, (step, answer) in enumerate(zip(cases[name]["steps"], expected[name], strict=False)):
        run.step(index, step, answer)
    return run


def check(suite: str, name: str, *skip: int, kinds: str = "") -> None:
    """Recorded causes, warnings and objects of a case are ours too; `skip` names steps that other rooms decide.

    `kinds`: plurals of the kinds to look at, with blanks between.
    """
    run = replay(suite, name, skip=frozenset(skip), kinds=frozenset(kinds.split()))
    assert run.compared, f"{suite}/{name}: nothing was compared"
    assert not run.differences, "\n".join(run.differences)


def replayed(kinds: str, rows: Sequence[tuple[Any, ...]]) -> Callable[[tuple[Any, ...]], None]:
    """A test of every row: suite, case, and the numbers of steps that other rooms decide (admission, an allocator,
    another subresource) or that a decoded object cannot tell (an empty list from none).
    """

    @pytest.mark.parametrize("row", rows, ids=lambda row: f"{row[0]}-{row[1]}")
    def test(row: tuple[Any, ...]) -> None:
        check(*row, kinds=kinds)

    return test
