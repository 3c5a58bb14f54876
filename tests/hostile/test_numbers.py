"""Numbers with thousands of digits, wherever a number may stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.server import Server

LONG = "9" * 5000
LONGEST = "9" * 200_000
DEFAULT = "/api/v1/namespaces/default"
CASES = yaml.safe_load(Path(__file__).with_name("numbers.yaml").read_text())


def filled(text: str) -> bytes:
    return text.replace("$LONGEST", LONGEST).replace("$LONG", LONG).encode()


@pytest.mark.parametrize("case", CASES["objects"], ids=lambda case: case["path"].rpartition("/")[2])
def test_long_numbers_in_objects(target: Server, case: dict[str, Any]) -> None:
    body = case.get("text") or json.dumps(case["object"])
    with target.api() as api:
        answer = api.post(f"{case['path']}?dryRun=All", filled(body))
        assert "panic" not in answer.text
        assert answer.status < 500 or "resourceVersion" in answer.text, answer.text[:500]
        assert answer.json()["kind"]


@pytest.mark.parametrize("case", CASES["patches"], ids=lambda case: case["kind"].rpartition("/")[2])
def test_long_numbers_in_patches(target: Server, case: dict[str, Any]) -> None:
    applied = "apply" in case["kind"]
    with target.api() as api:
        api.post(f"{DEFAULT}/configmaps", {"metadata": {"name": "n"}})
        query = "?fieldManager=a&force=true" if applied else ""
        answer = api.patch(f"{DEFAULT}/configmaps/n{query}", filled(case["text"]), case["kind"])
        assert "panic" not in answer.text
        assert answer.status < 500 or applied, answer.text[:500]  # an applied value of a wrong type is a bare 500
        assert answer.json()["kind"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=",
        "timeoutSeconds=",
        "resourceVersion=",
        "resourceVersion=1&resourceVersionMatch=Exact&limit=",
        "watch=1&timeoutSeconds=",
        "watch=1&resourceVersion=",
        "labelSelector=a>",
        "timeout=",
    ],
)
def test_long_numbers_in_queries(target: Server, query: str) -> None:
    with target.api() as api:
        answer = api.get(f"{DEFAULT}/configmaps?{query}{LONG}")
        assert "panic" not in answer.text
        assert 400 <= answer.status <= 500 or query.startswith("label")
