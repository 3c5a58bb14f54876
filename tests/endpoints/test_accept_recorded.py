"""Every Accept header that was tried on the original, against everything it was tried on (facts/wire/accept.json)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from endpoints.served import Served
from support.places import SHARED

RECORDED = SHARED / "facts" / "wire" / "accept.json"
OUTSIDE = ("/healthz", "/livez", "/metrics")  # answered before any of this


def test_the_form_of_every_recorded_answer(served: Served) -> None:
    if not RECORDED.exists():
        pytest.skip("no recorded answers beside the checkout")
    served.make("/api/v1/namespaces", {"metadata": {"name": "wire"}})
    served.make("/api/v1/namespaces/wire/configmaps", {"metadata": {"name": "cm", "labels": {"a": "1"}}})
    cases = [case for case in json.loads(RECORDED.read_text())["rows"] if not case["path"].startswith(OUTSIDE)]
    assert len(cases) > 100
    different = [(case, found) for case in cases if (found := _seen(served, case)) != _recorded(case)]
    assert different == []


def _seen(served: Served, case: dict[str, Any]) -> tuple[int, str | None]:
    headers = {} if case["accept"] is None else {"Accept": case["accept"]}
    if "user_agent" in case:
        headers["User-Agent"] = case["user_agent"]
    found = served.ask(f"GET {case['path']}", headers=headers)
    return found.status, found.headers.get("Content-Type")


def _recorded(case: dict[str, Any]) -> tuple[int, str | None]:
    return case["status"], case["content_type"]
