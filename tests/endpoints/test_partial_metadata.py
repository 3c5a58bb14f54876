"""Metadata alone is the metadata of the whole object, whatever stands in it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from .served import Served

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ONE = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
ALL = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
TRICKY = {
    "plain": {"labels": {"a": "b"}},
    "labels named like members": {"labels": {"data": "x", "binaryData": "y", "immutable": "z", "uid": "u"}},
    "JSON in an annotation": {"annotations": {"a": '{"x":1},"data":{"uid":"no"},"immutable":true'}},
    "an end in an annotation": {"annotations": {"a": '"},"data":{', "b": "\\\\", "c": '\\",\\"data\\":'}},
    "nothing": {},
}


@pytest.mark.parametrize("name", TRICKY)
@pytest.mark.parametrize("data", [None, {"metadata": "x", "data": "y"}], ids=["empty", "data"])
def test_it_is_what_the_whole_object_shows(served: Served, name: str, data: dict[str, str] | None) -> None:
    body: dict[str, Any] = {"metadata": {"generateName": "m-", **TRICKY[name]}}
    if data is not None:
        body |= {"data": data, "immutable": True}
    path = f"{CONFIG_MAPS}/{served.make(CONFIG_MAPS, body)['metadata']['name']}"
    whole = orjson.dumps(served.ask(f"GET {path}").json()["metadata"])
    alone = served.ask(f"GET {path}", headers=ONE).json()
    assert list(alone) == ["kind", "apiVersion", "metadata"]
    assert orjson.dumps(alone["metadata"]) == whole
    listed = served.ask(f"GET {CONFIG_MAPS}", headers=ALL).json()["items"]
    assert whole in [orjson.dumps(one["metadata"]) for one in listed]


def test_of_definitions_too(served: Served) -> None:
    names = {"plural": "things", "singular": "thing", "kind": "Thing"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "partial.example.com", "scope": "Cluster", "names": names, "versions": versions}
    served.make(
        DEFINITIONS, {"metadata": {"name": "things.partial.example.com", "labels": {"spec": "s"}}, "spec": spec}
    )
    path = f"{DEFINITIONS}/things.partial.example.com"
    alone = served.ask(f"GET {path}", headers=ONE).json()["metadata"]
    assert alone["labels"] == {"spec": "s"}
    assert alone["uid"] == served.ask(f"GET {path}").json()["metadata"]["uid"]
