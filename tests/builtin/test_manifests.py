"""Hundreds of real manifests are stored with the same defaults, refusals and warnings as the original stored them."""

from __future__ import annotations

import json
import re
import string
from typing import Any

import pytest
import recorded
import writes

FOLDER = "corpus/manifests"
SOURCES = ("argo-cd", "boutique", "examples", "ingress-nginx", "istio")
# What admission and the allocators of addresses and ports put in.
_ELSEWHERE = re.compile(
    r"metadata\.|.*\.(clusterIPs?|nodePort|healthCheckNodePort)\b|spec\.(priority|preemptionPolicy|tolerations)$|spec\.overhead"
)

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (recorded.SHARED / FOLDER).exists(), reason="the corpus is not here"),
]


def differences(theirs: Any, ours: Any, path: str = "") -> list[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return [
            one
            for key in sorted(theirs.keys() | ours.keys())
            for one in differences(theirs.get(key), ours.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = enumerate(zip(theirs, ours, strict=True))
        return [one for index, (a, b) in pairs for one in differences(a, b, f"{path}.{index}")]
    return [] if writes.same(theirs, ours) or _ELSEWHERE.match(path) else [f"{path}: {theirs!r} and not {ours!r}"]


def judge(step: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    text = string.Template(json.dumps(step)).safe_substitute(recorded.NAMES)
    step = json.loads(text)
    method, _, path = step["do"].partition(" ")
    where = recorded.target(path)
    if method != "POST" or where is None or (where.facts.group, where.facts.plural) not in writes.stores():
        return []
    kind = writes.Kind(where.facts.group, where.facts.plural, where.facts.version)
    try:
        made, _ = kind.create_exactly(step["body"])
    except writes.Refused as refused:
        theirs = [(one["field"], one["message"]) for one in answer["body"].get("details", {}).get("causes", [])]
        return [] if theirs == refused.causes else [f"refused: {refused.causes} and not {theirs}"]
    if answer["status"] not in (200, 201):
        return [f"not refused: {answer['body'].get('message')}"] if answer["status"] == 422 else []
    return differences(answer["body"], made)


@pytest.mark.parametrize("source", SOURCES)
def test_real_manifests_are_stored_as_the_original_stores_them(source: str) -> None:
    cases, expected = recorded.load(FOLDER, "manifests")
    found: list[str] = []
    for name, case in cases.items():
        if name.startswith(source):
            for step, answer in zip(case["steps"], expected[name], strict=True):
                if answer.get("status") not in (None, 400) and "hooked" not in step:
                    found += [f"{name}: {one}" for one in judge(step, answer)]
    assert not found, "\n".join(found)


def test_judging_changes_nothing_and_filling_twice_is_filling_once() -> None:
    cases, _ = recorded.load(FOLDER, "manifests")
    for name, case in cases.items():
        step = json.loads(string.Template(json.dumps(case["steps"][0])).safe_substitute(recorded.NAMES))
        where = recorded.target(step["do"].partition(" ")[2])
        if where is None or (where.facts.group, where.facts.plural) not in writes.stores() or "body" not in step:
            continue
        kind = writes.Kind(where.facts.group, where.facts.plural, where.facts.version)
        behaviour = kind.store.behaviour
        try:
            thing = kind.decode(step["body"])
        except ValueError:
            continue
        once = json.dumps(thing)
        context = recorded.Context(recorded.NAMES["ns"], "a", "", "admin", (), recorded.NOW, False)
        for old in (None, thing):
            if behaviour.validate is not None:
                behaviour.validate(thing, old, context)
            if behaviour.warn is not None:
                list(behaviour.warn(thing, old))
        if behaviour.defaults is not None:
            behaviour.defaults(thing)
        assert json.dumps(thing) == once, name
