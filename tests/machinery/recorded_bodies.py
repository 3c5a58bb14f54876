"""Requests with JSON bodies of the recorded conversations, with what the real server answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

from pilothouse.builtin.types import TypeTable
from pilothouse.machinery.jsoncodec import JSONError, loads
from pilothouse.machinery.schema import Schema

SHARED = Path(__file__).parents[3] / "shared"
CONFORMANCE = SHARED / "conformance"


@dataclass(frozen=True)
class Sent:
    """One request and its answer."""

    case: str
    data: bytes
    value: Any
    query: str
    status: int
    message: str
    warning: str


def sent_bodies(*suites: str) -> Iterator[Sent]:
    """POST and PUT bodies that are JSON objects with a kind."""
    for suite in suites:
        answers = json.loads((CONFORMANCE / "expected" / f"{suite}.json").read_text())
        cases = yaml.load((CONFORMANCE / "cases" / f"{suite}.yaml").read_text(), Loader=yaml.CSafeLoader)
        for case in cases:
            for step, answer in zip(case["steps"], answers.get(case["case"], ()), strict=False):
                sent = _sent(case["case"], step, answer)
                if sent is not None:
                    yield sent


def _sent(case: str, step: dict[str, Any], answer: dict[str, Any]) -> Sent | None:
    method, _, path = step.get("do", "").partition(" ")
    if method not in ("POST", "PUT") or step.get("type", "application/json") != "application/json":
        return None
    body, raw = step.get("body"), step.get("raw")
    data = orjson.dumps(body) if isinstance(body, dict) else raw.encode() if isinstance(raw, str) else b""
    try:
        value = loads(data)
    except JSONError:
        return None
    # Values in these are put in by the recorder later.
    if b"caBundle" in data or not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return None
    told = answer.get("body")
    message = told.get("message") or "" if isinstance(told, dict) else ""
    warning = (answer.get("headers") or {}).get("warning", "")
    return Sent(case, data, value, path.partition("?")[2], answer.get("status", 0), message, warning)


def schema_of(types: TypeTable, packages: dict[str, list[str]], value: dict[str, Any]) -> Schema | None:
    """The schema of an object by its apiVersion and kind, None for what is not built in."""
    group, _, version = (value.get("apiVersion") or "v1").rpartition("/")
    found = [package for package in packages.get(value["kind"], ()) if package.endswith(f"/{version}")]
    if len(found) > 1:
        found = [package for package in found if f"/{group.split('.')[0] or 'core'}/" in package]
    return types.get(found[0], value["kind"]) if len(found) == 1 else None


def packages_by_kind(types: TypeTable, rows: str) -> dict[str, list[str]]:
    """Which packages have a type of a name; `rows` is the text of the table of types."""
    found: dict[str, list[str]] = {}
    for line in rows.splitlines()[1:]:
        package, name, _ = line.split("\t", 2)
        known = found.setdefault(name, [])
        if package not in known and types.has(package, name):
            known.append(package)
    return found
