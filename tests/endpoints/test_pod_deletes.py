"""A pod on a node that was deleted once: what a further delete changes, and what not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from endpoints.served import Served

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"nodeName": "somewhere", "terminationGracePeriodSeconds": 45, "containers": [{"name": "c", "image": "i"}]},
}
MERGE = "application/merge-patch+json"


@pytest.fixture
def pod(served: Served, place: str) -> str:
    """The path of a pod that goes in 45 seconds."""
    served.make(f"{place}/pods", POD)
    assert served.ask(f"DELETE {place}/pods/p").status == 200
    return f"{place}/pods/p"


def marks(served: Served, pod: str) -> tuple[datetime, int, list[str]]:
    metadata = served.ask(f"GET {pod}").json()["metadata"]
    ends = datetime.fromisoformat(metadata["deletionTimestamp"])
    return ends, metadata["deletionGracePeriodSeconds"], metadata.get("finalizers", [])


def test_a_shorter_grace_counts_from_the_first_delete(served: Served, pod: str) -> None:
    first, grace, _ = marks(served, pod)
    assert served.ask(f"DELETE {pod}?gracePeriodSeconds=5").status == 200
    second, shorter, _ = marks(served, pod)
    assert (grace, shorter, (first - second).seconds) == (45, 5, 40)


@pytest.mark.parametrize("query", ["", "gracePeriodSeconds=45", "gracePeriodSeconds=99", "propagationPolicy=Orphan"])
def test_while_the_grace_runs_nothing_else_changes(served: Served, pod: str, query: str) -> None:
    before = served.ask(f"GET {pod}").json()
    answer = served.ask(f"DELETE {pod}?{query}")
    assert (answer.status, answer.json()) == (200, before)
    assert served.ask(f"GET {pod}").json() == before


def test_a_pod_that_ended_meanwhile_waits_for_its_node_all_the_same(served: Served, pod: str) -> None:
    assert served.ask(f"PATCH {pod}/status", {"status": {"phase": "Succeeded"}}, MERGE).status == 200
    assert served.ask(f"DELETE {pod}").status == 200
    assert marks(served, pod)[1] == 45
    assert served.ask(f"DELETE {pod}?gracePeriodSeconds=0").status == 200
    assert served.ask(f"GET {pod}").status == 404


def test_no_grace_leaves_a_pod_that_finalizers_hold(served: Served, place: str) -> None:
    served.make(f"{place}/pods", {**POD, "metadata": {"name": "p", "finalizers": ["example.com/hold"]}})
    pod = f"{place}/pods/p"
    assert served.ask(f"DELETE {pod}").status == 200
    assert served.ask(f"DELETE {pod}?gracePeriodSeconds=0").status == 200
    assert marks(served, pod)[1:] == (0, ["example.com/hold"])
    assert served.ask(f"DELETE {pod}?propagationPolicy=Foreground").status == 200
    assert marks(served, pod)[1:] == (0, ["example.com/hold", "foregroundDeletion"])


@pytest.mark.parametrize("grace", [10**10, 10**12, 2**63 - 1])
def test_no_grace_is_too_long_to_be_deleted_with(served: Served, place: str, grace: int) -> None:
    served.make(f"{place}/pods", {**POD, "spec": {**POD["spec"], "terminationGracePeriodSeconds": grace}})
    pod = f"{place}/pods/p"
    assert served.ask(f"DELETE {pod}").status == 200
    assert marks(served, pod)[1] == grace
    assert served.ask(f"DELETE {pod}?gracePeriodSeconds={grace - 1}").status == 200
    assert served.ask(f"DELETE {pod}?gracePeriodSeconds=0").status == 200
    assert served.ask(f"GET {pod}").status == 404
