"""What is told of definitions and of their objects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from support.measured import Measured, measured

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "robots.example.com"
ROBOTS = "/apis/example.com/v1/namespaces/default/robots"
SECOND = "apiextensions_openapi_v2_regeneration_count"
THIRD = "apiextensions_openapi_v3_regeneration_count"
COMPARED = "apiextensions_apiserver_validation_ratcheting_seconds"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("custom")) as server:
        yield server


def definition() -> dict[str, Any]:
    members = {"legs": {"type": "integer"}, "name": {"type": "string"}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": members}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "robots", "singular": "robot", "kind": "Robot", "listKind": "RobotList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": NAME}, "spec": spec}


def merge(server: Measured, path: str, patch: dict[str, Any]) -> int:
    return server.ask(f"PATCH {path}", patch, "application/merge-patch+json").status


def served(server: Measured) -> None:
    for _ in range(1000):
        if server.ask(f"GET {ROBOTS}").status == 200:
            return
        server.run(asyncio.sleep(0.005))
    raise AssertionError("never served")


def test_documents_are_made_anew_when_definitions_come_change_and_go(server: Measured) -> None:
    place = {"crd": NAME, "group": "example.com", "version": "v1"}
    server.make(DEFINITIONS, definition())
    for name, labels in ((SECOND, {"crd": NAME}), (THIRD, place)):
        server.reaches(name, 1, reason="add", **labels)
    before = server.scrape().value(SECOND, crd=NAME, reason="update")
    assert merge(server, f"{DEFINITIONS}/{NAME}", {"spec": {"names": {"shortNames": ["rb"]}}}) == 200
    for name, labels in ((SECOND, {"crd": NAME}), (THIRD, place)):
        server.reaches(name, before + 1, reason="update", **labels)
    server.ask(f"DELETE {DEFINITIONS}/{NAME}")
    for name, labels in ((SECOND, {"crd": NAME}), (THIRD, place)):
        server.reaches(name, 1, reason="remove", **labels)


def test_updates_that_are_not_valid_are_compared_with_what_was_before(server: Measured) -> None:
    server.make(DEFINITIONS, definition())
    served(server)
    server.make(ROBOTS, {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "a"}, "legs": 2})
    with server.grows(f"{COMPARED}_count", 0):
        assert merge(server, f"{ROBOTS}/a", {"legs": 3}) == 200
    with server.grows(f"{COMPARED}_count"):
        assert merge(server, f"{ROBOTS}/a", {"legs": "many"}) == 422
