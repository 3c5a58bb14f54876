"""The official Python client, as its users use it, against a running server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client import ApiClient, ApiException

from clients.boats import boat, definition
from support.server import Server, eventually

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    },
}


@pytest.fixture
def api_client(server: Server) -> Iterator[ApiClient]:
    """A client made from the kubeconfig that the server wrote."""
    with config.new_client_from_config(str(server.kubeconfig)) as found:
        yield found


@pytest.fixture
def core(api_client: ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api_client)


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


def test_the_version_is_told(api_client: ApiClient) -> None:
    version = client.VersionApi(api_client).get_code()
    assert (version.major, version.minor) == ("1", "37")


def test_a_config_map_lives_and_dies(core: client.CoreV1Api, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, config_map("sea", depth="10"))
    assert made.metadata.uid
    assert made.metadata.creation_timestamp.tzinfo is not None
    made.data["depth"] = "20"
    replaced = core.replace_namespaced_config_map("sea", namespace, made)
    assert replaced.metadata.resource_version != made.metadata.resource_version
    patched = core.patch_namespaced_config_map("sea", namespace, {"data": {"salt": "yes"}})
    assert patched.data == {"depth": "20", "salt": "yes"}
    assert core.read_namespaced_config_map("sea", namespace).data == patched.data
    gone = core.delete_namespaced_config_map("sea", namespace)
    assert (gone.status if isinstance(gone, client.V1Status) else gone["status"]) == "Success"
    with pytest.raises(ApiException) as caught:
        core.read_namespaced_config_map("sea", namespace)
    assert (caught.value.status, caught.value.reason) == (404, "Not Found")


def test_several_kinds_are_made_and_read(api_client: ApiClient, core: client.CoreV1Api, namespace: str) -> None:
    core.create_namespaced_secret(namespace, client.V1Secret(metadata={"name": "key"}, string_data={"a": "b"}))
    assert core.read_namespaced_secret("key", namespace).data == {"a": "Yg=="}
    port = client.V1ServicePort(port=80)
    spec = client.V1ServiceSpec(selector={"app": "web"}, ports=[port])
    service = core.create_namespaced_service(namespace, client.V1Service(metadata={"name": "web"}, spec=spec))
    assert service.spec.cluster_ip.startswith("10.0.0.")
    assert service.spec.ports[0].target_port == 80
    apps = client.AppsV1Api(api_client)
    made = apps.create_namespaced_deployment(namespace, DEPLOYMENT)
    assert made.spec.replicas == 1
    assert made.spec.strategy.rolling_update.max_surge == "25%"
    scale = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    assert scale.spec.replicas == 3
    status = apps.patch_namespaced_deployment_status("web", namespace, {"status": {"replicas": 2}})
    assert (status.spec.replicas, status.status.replicas) == (3, 2)
    rbac = client.RbacAuthorizationV1Api(api_client)
    rule = client.V1PolicyRule(api_groups=[""], resources=["pods"], verbs=["get"])
    assert rbac.create_namespaced_role(namespace, client.V1Role(metadata={"name": "r"}, rules=[rule])).rules == [
        client.V1PolicyRule(api_groups=[""], resources=["pods"], verbs=["get"])
    ]
    lease = client.V1Lease(metadata={"name": "me"}, spec=client.V1LeaseSpec(holder_identity="x"))
    assert client.CoordinationV1Api(api_client).create_namespaced_lease(namespace, lease).spec.holder_identity == "x"
    core.delete_namespaced_service("web", namespace)


def test_pages_hold_everything_once(core: client.CoreV1Api, namespace: str) -> None:
    names = [f"page-{number:02}" for number in range(23)]
    for name in names:
        core.create_namespaced_config_map(namespace, config_map(name, {"paged": "yes"}))
    found: list[str] = []
    revisions: set[str] = set()
    more: str | None = None
    while more != "":
        page = core.list_namespaced_config_map(namespace, label_selector="paged=yes", limit=5, _continue=more)
        found += [one.metadata.name for one in page.items]
        revisions.add(page.metadata.resource_version)
        more = page.metadata._continue or ""
        core.create_namespaced_config_map(namespace, config_map(f"page-z{len(found)}", {"paged": "yes"}))
    assert found == names
    assert len(revisions) == 1, "all pages are of one moment"


def test_selectors(core: client.CoreV1Api, namespace: str) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        core.create_namespaced_config_map(namespace, config_map(name, {"colour": colour}))
    red = core.list_namespaced_config_map(namespace, label_selector="colour in (red, green)")
    assert [one.metadata.name for one in red.items] == ["a", "c"]
    named = core.list_namespaced_config_map(namespace, field_selector="metadata.name=b")
    assert [one.metadata.name for one in named.items] == ["b"]
    core.delete_collection_namespaced_config_map(namespace, label_selector="colour=red")
    assert [one.metadata.name for one in core.list_namespaced_config_map(namespace).items] == ["b"]


def test_a_watch_goes_on_where_another_ended(core: client.CoreV1Api, namespace: str) -> None:
    start = core.list_namespaced_config_map(namespace).metadata.resource_version
    for name in "abcd":
        core.create_namespaced_config_map(namespace, config_map(name))
    core.delete_namespaced_config_map("a", namespace)
    first = watch.Watch()
    seen = []
    for event in first.stream(core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=20):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 2:
            first.stop()
    second = watch.Watch()
    again = second.stream(
        core.list_namespaced_config_map, namespace, resource_version=first.resource_version, timeout_seconds=20
    )
    for event in again:
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            second.stop()
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c"), ("ADDED", "d"), ("DELETED", "a")]


def test_errors_have_their_codes(core: client.CoreV1Api, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, config_map("one"))
    with pytest.raises(ApiException) as exists:
        core.create_namespaced_config_map(namespace, config_map("one"))
    assert (exists.value.status, '"reason":"AlreadyExists"' in exists.value.body) == (409, True)
    core.patch_namespaced_config_map("one", namespace, {"data": {"a": "b"}})
    with pytest.raises(ApiException) as conflict:
        core.replace_namespaced_config_map("one", namespace, made)
    assert (conflict.value.status, '"reason":"Conflict"' in conflict.value.body) == (409, True)
    with pytest.raises(ApiException) as invalid:
        core.create_namespaced_config_map(namespace, config_map("Not A Name"))
    assert (invalid.value.status, '"reason":"Invalid"' in invalid.value.body) == (422, True)
    with pytest.raises(ApiException) as missing:
        core.delete_namespaced_config_map("none", namespace)
    assert missing.value.status == 404


def test_the_dynamic_client_serves_a_definition_and_its_objects(
    api_client: ApiClient, namespace: str, words: Iterator[str]
) -> None:
    word = next(words)
    dynamics = dynamic.DynamicClient(api_client)
    definitions = dynamics.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    definitions.create(body=definition(word))
    name = f"boats.{word}.example.com"

    def established() -> bool:
        status = definitions.get(name=name).status
        return any(one.type == "Established" and one.status == "True" for one in (status and status.conditions) or ())

    eventually(established)
    dynamics = dynamic.DynamicClient(api_client)
    boats = eventually(lambda: dynamics.resources.search(api_version=f"{word}.example.com/v1", kind="Boat"))[0]
    one = boat(word, "b")
    made = eventually(lambda: _made(boats, one, namespace))
    assert made.spec.size == 3
    patch = {"spec": {"colour": "red"}}
    boats.patch(body=patch, name="b", namespace=namespace, content_type="application/merge-patch+json")
    boats.status.patch(
        body={"status": {"phase": "Afloat"}},
        name="b",
        namespace=namespace,
        content_type="application/merge-patch+json",
    )
    found = boats.get(name="b", namespace=namespace)
    assert (found.spec.to_dict(), found.status.phase) == ({"size": 3, "colour": "red"}, "Afloat")
    assert [one.metadata.name for one in boats.get(namespace=namespace).items] == ["b"]
    with pytest.raises(dynamic.exceptions.UnprocessibleEntityError):
        boats.create(body=boat(word, "c", size=0), namespace=namespace)
    boats.delete(name="b", namespace=namespace)
    with pytest.raises(dynamic.exceptions.NotFoundError):
        boats.get(name="b", namespace=namespace)
    definitions.delete(name=name)


def _made(boats: Any, one: dict[str, Any], namespace: str) -> Any:
    try:
        return boats.create(body=one, namespace=namespace)
    except dynamic.exceptions.NotFoundError:
        return None  # the definition is established, the path comes a moment later


def test_server_side_apply_has_owners(api_client: ApiClient, namespace: str) -> None:
    maps = dynamic.DynamicClient(api_client).resources.get(api_version="v1", kind="ConfigMap")

    def body(**data: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}, "data": data}

    maps.server_side_apply(body=body(a="1", b="1"), namespace=namespace, field_manager="one")
    with pytest.raises(dynamic.exceptions.ConflictError):
        maps.server_side_apply(body=body(a="2"), namespace=namespace, field_manager="two")
    forced = maps.server_side_apply(body=body(a="2"), namespace=namespace, field_manager="two", force_conflicts=True)
    assert forced.data.to_dict() == {"a": "2", "b": "1"}
    without = maps.server_side_apply(body=body(c="1"), namespace=namespace, field_manager="one")
    assert without.data.to_dict() == {"a": "2", "c": "1"}
    owners = {one.manager: one.operation for one in without.metadata.managedFields}
    assert owners == {"one": "Apply", "two": "Apply"}


def test_a_file_of_several_objects_is_created(
    api_client: ApiClient, core: client.CoreV1Api, namespace: str, tmp_path: Path
) -> None:
    things = [
        DEPLOYMENT,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-a-file"}, "data": {"a": "b"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "of-a-file"}},
    ]
    path = tmp_path / "things.yaml"
    path.write_text(yaml.safe_dump_all(things))
    made = utils.create_from_yaml(api_client, str(path), namespace=namespace)
    assert len(made) == 3
    assert core.read_namespaced_config_map("of-a-file", namespace).data == {"a": "b"}
    with pytest.raises(utils.FailToCreateError) as caught:
        utils.create_from_yaml(api_client, str(path), namespace=namespace)
    assert {one.status for one in caught.value.api_exceptions} == {409}
