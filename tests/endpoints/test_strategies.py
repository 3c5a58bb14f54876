"""Every resource that can be created behaves as the table of recorded strategies says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .served import Served

FACTS = Path(__file__).resolve().parents[3] / "shared/facts/strategies.json"
TABLE: list[dict[str, Any]] = json.loads(FACTS.read_text())["resources"] if FACTS.exists() else []
WALKED = [
    row
    for row in TABLE
    if not row.get("virtual") and {"get", "update", "delete"} <= set(row["verbs"].split(",")) and "example" in row
]


def path(row: dict[str, Any]) -> str:
    group, version = row["group"], row["version"]
    start = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return f"{start}/namespaces/default/{row['resource']}" if row["namespaced"] else f"{start}/{row['resource']}"


def example(row: dict[str, Any], name: str) -> dict[str, Any]:
    api_version = f"{row['group']}/{row['version']}" if row["group"] else row["version"]
    text = json.dumps(row["example"]).replace("NAMESPACE", "default").replace("<ip>", "10.0.0.9")
    given = json.loads(text)
    metadata = {**given.pop("metadata", {}), "name": name}
    return {"apiVersion": api_version, "kind": row["kind"], "metadata": metadata, **given}


@pytest.fixture(params=WALKED, ids=lambda row: row["resource"])
def row(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


def test_the_strategy_is_the_recorded_one(served: Served, row: dict[str, Any]) -> None:
    # Two groups have events, and they are the same ones.
    where, name = path(row), f"walk-{row['group'].replace('.', '-') or 'core'}"
    made = served.ask(f"POST {where}", example(row, name))
    if made.status == 404:
        pytest.skip("a version that is not served by default")
    if made.status == 422:
        pytest.skip(f"the example has a name of its own: {made.message[:100]}")
    assert made.status == 201, made.body
    generation = made.json()["metadata"].get("generation")
    assert generation == (None if row["generationOnCreate"] == "absent" else row["generationOnCreate"])

    missing = served.ask(f"PUT {where}/{name}-missing", example(row, f"{name}-missing"))
    assert missing.status == (201 if row["createOnUpdate"] else 404), missing.body

    sent = made.json()
    del sent["metadata"]["resourceVersion"]
    blind = served.ask(f"PUT {where}/{name}", sent)
    assert (blind.status == 200) is row["unconditionalUpdate"], blind.body

    for label in row["fieldLabels"]:
        assert served.ask(f"GET {where}?fieldSelector={label}%3D").status == 200, label
    assert served.ask(f"GET {where}?fieldSelector=no.such.label%3Dx").status == 400

    gone = served.ask(f"DELETE {where}/{name}?propagationPolicy=Background")
    assert gone.status in (200, 202), gone.body
    shown = gone.json()["kind"]
    assert ("Status" if shown == "Status" else "object") == row["delete"]["answer"], gone.body
