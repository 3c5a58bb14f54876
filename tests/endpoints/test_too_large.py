"""Objects that are too large for the store only because of their managedFields are stored without them."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served

LIMIT = 1_572_864  # bytes of a stored value
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
ROOM = 20_000  # bytes that ownership of so many members takes, and more


def filled(name: str, spare: int) -> dict[str, Any]:
    """A Role with a thousand labels and a rule that takes all room but `spare` bytes."""
    labels = {f"member-{number:04}": "" for number in range(1000)}
    taken = sum(len(key) + 6 for key in labels) + 500
    rule = {
        "verbs": ["get"],
        "apiGroups": [""],
        "resources": ["pods"],
        "resourceNames": ["x" * (LIMIT - taken - spare)],
    }
    meta = {"name": name, "labels": labels}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": [rule]}


@pytest.fixture
def roles(place: str) -> str:
    return f"/apis/rbac.authorization.k8s.io/v1{place.removeprefix('/api/v1')}/roles"


def test_ownership_gives_way_when_it_is_too_much(served: Served, roles: str) -> None:
    made = served.ask(f"POST {roles}", filled("large", 1000))
    assert made.status == 201, made.body[:300]
    assert "managedFields" not in made.json()["metadata"]
    changed = served.ask(f"PATCH {roles}/large", {"metadata": {"labels": {"member-0000": "y"}}}, MERGE)
    assert changed.status == 200, changed.body[:300]
    assert changed.json()["metadata"]["labels"]["member-0000"] == "y"
    assert "managedFields" not in changed.json()["metadata"]
    replaced = served.ask(f"PUT {roles}/large", filled("large", 900))
    assert replaced.status == 200, replaced.body[:300]


def test_ownership_stays_where_there_is_room(served: Served, roles: str) -> None:
    made = served.ask(f"POST {roles}", filled("roomy", 4 * ROOM))
    assert made.status == 201
    assert made.json()["metadata"]["managedFields"]


def test_an_applied_configuration_is_nothing_without_ownership(served: Served, roles: str) -> None:
    found = served.ask(f"PATCH {roles}/applied?fieldManager=a", filled("applied", 1000), APPLY)
    assert (found.status, found.message) == (500, "etcdserver: request is too large")
    assert served.ask(f"GET {roles}/applied").status == 404


def test_what_is_too_large_without_ownership_too_is_refused(served: Served, roles: str) -> None:
    found = served.ask(f"POST {roles}", filled("huge", -2000))
    assert (found.status, found.message) == (500, "etcdserver: request is too large")
