"""Every CustomResourceDefinition of well-known projects is accepted by a running server and becomes Established."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from support.api import Api
from support.fixtures import StartServer
from support.places import SHARED
from support.server import eventually

ARCHIVE = SHARED / "corpus" / "crds.tar.gz"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FEWEST = 230


class Loader(yaml.CSafeLoader):
    """YAML 1.1 as definitions are written: a lone `=` is a text."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def definitions() -> Iterator[dict[str, Any]]:
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            data = archive.extractfile(member)
            for found in yaml.load_all(data, Loader=Loader) if data is not None else ():
                if found and found.get("kind") == "CustomResourceDefinition":
                    yield found


def conditions(found: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["status"] for one in found["status"].get("conditions") or ()}


@pytest.fixture
def own(start_server: StartServer) -> Iterator[Api]:
    """A server that may be filled; it ends in good order while it has them all."""
    server = start_server()
    with server.api(timeout=60.0) as api:
        yield api
    assert server.stop() == 0
    assert "Traceback" not in server.said()


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not ARCHIVE.exists(), reason="the corpus is not here")
def test_every_definition_is_accepted_and_becomes_established(own: Api) -> None:
    names = []
    for one in definitions():
        answer = own.post(DEFINITIONS, one)
        assert answer.status == 201, (one["metadata"]["name"], answer.text[:2000])
        names.append(one["metadata"]["name"])
    assert len(names) >= FEWEST

    def all_established() -> bool:
        listed = own.get(DEFINITIONS).json()["items"]
        states = {one["metadata"]["name"]: conditions(one) for one in listed}
        assert not [name for name in names if states[name].get("NonStructuralSchema") == "True"]
        return all(states[name].get("Established") == "True" for name in names)

    assert eventually(all_established, 60.0, 0.5)
    groups = {group["name"] for group in own.get("/apis").json()["groups"]}
    assert {name.partition(".")[2] for name in names} <= groups
    assert own.get("/openapi/v2").status == 200
    assert own.get("/openapi/v3").status == 200
