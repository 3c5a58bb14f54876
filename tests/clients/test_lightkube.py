"""lightkube, a client of typed models, as its users use it, against a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.apiextensions_v1 import CustomResourceDefinitionSpec
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import PatchType

from clients.boats import definition
from support.server import Server, eventually


@pytest.fixture
def client(server: Server, namespace: str) -> Iterator[Client]:
    config = KubeConfig.from_file(server.kubeconfig)
    with Client(config=config, namespace=namespace, field_manager="lightkube") as found:
        yield found


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels), data=data)


def test_a_config_map_lives_and_dies(client: Client) -> None:
    made = client.create(config_map("sea", depth="10"))
    assert made.metadata is not None
    made.data = {"depth": "20"}
    replaced = client.replace(made)
    assert replaced.metadata is not None
    assert replaced.metadata.resourceVersion != made.metadata.resourceVersion
    assert client.patch(ConfigMap, "sea", {"data": {"salt": "yes"}}).data == {"depth": "20", "salt": "yes"}
    change = [{"op": "remove", "path": "/data/salt"}]
    assert client.patch(ConfigMap, "sea", change, patch_type=PatchType.JSON).data == {"depth": "20"}
    with pytest.raises(ApiError) as conflict:
        client.replace(made)
    assert (conflict.value.status.code, conflict.value.status.reason) == (409, "Conflict")
    client.delete(ConfigMap, "sea")
    with pytest.raises(ApiError) as gone:
        client.get(ConfigMap, "sea")
    assert (gone.value.status.code, gone.value.status.reason) == (404, "NotFound")
    with pytest.raises(ApiError) as invalid:
        client.create(config_map("Not A Name"))
    assert (invalid.value.status.code, invalid.value.status.reason) == (422, "Invalid")


def test_lists_come_in_chunks(client: Client) -> None:
    names = [f"page-{number:02}" for number in range(12)]
    for name in names:
        client.create(config_map(name, {"paged": "yes"}))
    listed = client.list(ConfigMap, chunk_size=5, labels={"paged": "yes"})
    assert [one.metadata.name for one in listed if one.metadata] == names
    client.deletecollection(ConfigMap)
    assert list(client.list(ConfigMap)) == []


def test_a_watch_tells_what_happens(client: Client) -> None:
    first = client.create(config_map("first"))
    assert first.metadata is not None
    client.create(config_map("second"))
    client.patch(ConfigMap, "first", {"data": {"a": "b"}})
    client.delete(ConfigMap, "second")
    seen = []
    for event, thing in client.watch(ConfigMap, resource_version=first.metadata.resourceVersion):
        assert thing.metadata is not None
        seen.append((event, thing.metadata.name))
        if event == "DELETED":
            break
    assert seen == [("ADDED", "second"), ("MODIFIED", "first"), ("DELETED", "second")]


def test_waiting_ends_when_the_condition_is_there(client: Client) -> None:
    container = Container(name="c", image="nginx")
    client.create(Pod(metadata=ObjectMeta(name="p"), spec=PodSpec(containers=[container])))
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    client.patch(Pod.Status, "p", ready)
    assert client.wait(Pod, "p", for_conditions=["Ready"]).status is not None


def test_applied_fields_have_an_owner(client: Client) -> None:
    def applied(**data: str) -> ConfigMap:
        one = config_map("shared", **data)
        one.apiVersion, one.kind = "v1", "ConfigMap"
        return one

    client.apply(applied(a="1", b="1"), field_manager="one")
    with pytest.raises(ApiError) as conflict:
        client.apply(applied(a="2"), field_manager="two")
    assert conflict.value.status.code == 409
    assert client.apply(applied(a="2"), field_manager="two", force=True).data == {"a": "2", "b": "1"}
    assert client.apply(applied(c="1"), field_manager="one").data == {"a": "2", "c": "1"}


def test_objects_of_a_definition(client: Client, words: Iterator[str]) -> None:
    word = next(words)
    spec = CustomResourceDefinitionSpec.from_dict(definition(word)["spec"])
    name = f"boats.{word}.example.com"
    client.create(CustomResourceDefinition(metadata=ObjectMeta(name=name), spec=spec))
    client.wait(CustomResourceDefinition, name, for_conditions=["Established"])
    boats = create_namespaced_resource(f"{word}.example.com", "v1", "Boat", "boats")

    def made() -> Any:
        try:
            return client.create(boats(metadata=ObjectMeta(name="b"), spec={"size": 3}))
        except ApiError as error:
            assert error.status.code == 404 or error.response.status_code == 404
            return None  # the path comes a moment behind the condition

    assert eventually(made).spec == {"size": 3}
    assert client.patch(boats, "b", {"spec": {"colour": "red"}}, patch_type=PatchType.MERGE).spec == {
        "size": 3,
        "colour": "red",
    }
    assert [one.metadata.name for one in client.list(boats) if one.metadata] == ["b"]
    client.delete(CustomResourceDefinition, name)
