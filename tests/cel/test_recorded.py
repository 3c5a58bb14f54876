"""All rules of the recorded conversations, compiled and run without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from cel.trying import PLAIN
from pilothouse.cel import types
from pilothouse.cel.definitionrules import definition_problems
from pilothouse.cel.environment import NotCompiled
from pilothouse.cel.schematypes import type_of
from pilothouse.machinery.structural.node import RULES, Node
from support.places import CONFORMANCE

FAILED = "compilation failed: "
ROOT = "spec.validation.openAPIV3Schema"


def steps() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(case, definition, what was answered)."""
    cases = yaml.load((CONFORMANCE / "cases" / "cel.yaml").read_text(), yaml.CSafeLoader)
    answers = json.loads((CONFORMANCE / "expected" / "cel.json").read_text())
    for case in cases:
        for step, answer in zip(case["steps"], answers[case["case"]], strict=True):
            body = step.get("body")
            if isinstance(body, dict) and body.get("kind") == "CustomResourceDefinition":
                yield case["case"], body, answer


def ruled(node: Node, path: str) -> Iterator[tuple[Node, str]]:
    if node.raw.get(RULES):
        yield node, path
    for name, child in node.properties.items():
        yield from ruled(child, f"{path}.properties[{name}]")
    for word, inner in (("items", node.items), ("additionalProperties", node.additional)):
        if inner is not None:
            yield from ruled(inner, f"{path}.{word}")


def said(node: Node, rule: dict[str, Any], word: str) -> str:
    """What the compiler says of an expression."""
    kind = type_of(node)
    assert kind is not None
    old = types.optional_of(kind) if rule.get("optionalOldSelf") else kind
    try:
        PLAIN.with_variables({"self": kind, "oldSelf": old}).compile(rule[word])
    except NotCompiled as error:
        return str(error)
    return ""


def test_every_recorded_expression_compiles_or_fails_in_the_recorded_words() -> None:
    count = 0
    for case, definition, answer in steps():
        body = answer.get("body") or {}
        causes = (body.get("details") or {}).get("causes") if "kind" in body else None
        if causes is None and answer.get("status") == 422:
            continue  # only a part of the answer was recorded
        told = {
            cause["field"]: cause["message"].partition(FAILED)[2]
            for cause in causes or ()
            if FAILED in cause["message"]
        }
        for node, path in ruled(Node(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], root=True), ROOT):
            for index, rule in enumerate(node.raw[RULES]):
                for word in ("rule", "messageExpression"):
                    expected = told.get(f"{path}.{RULES}[{index}].{word}", "")
                    if not (rule.get(word) or "").strip() or "<time>" in expected:
                        continue
                    if word == "messageExpression" and f"{path}.{RULES}[{index}].rule" in told:
                        continue  # not looked at beside a bad rule
                    count += 1
                    assert said(node, rule, word) == expected, (case, rule)
    assert count > 1100


@pytest.mark.parametrize("accepted", [True, False])
def test_definitions_are_accepted_or_refused_as_recorded(accepted: bool) -> None:
    for case, definition, answer in steps():
        good = bool(answer.get("quiet")) or answer.get("status") == 201
        if good is not accepted:
            continue
        for version in definition["spec"]["versions"]:
            root = Node(version["schema"]["openAPIV3Schema"], root=True)
            found = definition_problems(root, ROOT, lambda path: False, str)
            assert bool(found) is not accepted, (case, found)
