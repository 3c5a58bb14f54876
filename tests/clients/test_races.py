"""Several clients at the same object at the same moment: each is told how its own request ended."""

from __future__ import annotations

import concurrent.futures
import threading
from collections import Counter
from collections.abc import Callable

from support.api import Answer, Api
from support.server import Server

CLIENTS = 4
ROUNDS = 15


def at_once(server: Server, ask: Callable[[Api, int], Answer]) -> list[Counter[int]]:
    """What CLIENTS clients are answered who ask together; a counter of codes for each round."""
    together = threading.Barrier(CLIENTS)

    def client(_: int) -> list[int]:
        with server.api() as api:
            return [(together.wait(20), ask(api, number).status)[1] for number in range(ROUNDS)]

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return [Counter(codes) for codes in zip(*pool.map(client, range(CLIENTS)), strict=True)]


def made(api: Api, namespace: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for number in range(ROUNDS):
        assert api.post(path, {"metadata": {"name": f"c{number}"}, "data": {}}).status == 201
    return path


def test_one_delete_is_the_one(server: Server, api: Api, namespace: str) -> None:
    path = made(api, namespace)
    codes = at_once(server, lambda client, number: client.delete(f"{path}/c{number}"))
    assert codes == [Counter({200: 1, 404: CLIENTS - 1})] * ROUNDS


def test_one_create_is_the_one(server: Server, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    codes = at_once(server, lambda client, number: client.post(path, {"metadata": {"name": f"c{number}"}}))
    assert codes == [Counter({201: 1, 409: CLIENTS - 1})] * ROUNDS


def test_one_update_of_a_version_is_the_one(server: Server, api: Api, namespace: str) -> None:
    path = made(api, namespace)
    versions = [api.get(f"{path}/c{number}").json() for number in range(ROUNDS)]

    def ask(client: Api, number: int) -> Answer:
        return client.put(f"{path}/c{number}", {**versions[number], "data": {"by": str(id(client))}})

    assert at_once(server, ask) == [Counter({200: 1, 409: CLIENTS - 1})] * ROUNDS


def test_no_patch_without_a_version_is_lost(server: Server, api: Api, namespace: str) -> None:
    path = made(api, namespace)

    def ask(client: Api, number: int) -> Answer:
        return client.patch(f"{path}/c{number}", {"data": {f"key-{id(client)}": "x"}})

    assert at_once(server, ask) == [Counter({200: CLIENTS})] * ROUNDS
    assert all(len(api.get(f"{path}/c{number}").json()["data"]) == CLIENTS for number in range(ROUNDS))


def test_an_object_that_waits_for_finalizers_goes_once(server: Server, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for number in range(ROUNDS):
        api.post(path, {"metadata": {"name": f"c{number}", "finalizers": ["example.com/wait"]}})
        assert api.delete(f"{path}/c{number}").status == 200

    def ask(client: Api, number: int) -> Answer:
        return client.patch(f"{path}/c{number}", {"metadata": {"finalizers": None}})

    codes = at_once(server, ask)
    assert all(set(one) <= {200, 404} and one[200] >= 1 for one in codes), codes
    assert api.get(path).json()["items"] == []


def test_pods_with_grace_are_deleted_by_many(server: Server, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    spec = {"containers": [{"name": "c", "image": "nginx"}]}
    for number in range(ROUNDS):
        assert api.post(path, {"metadata": {"name": f"c{number}"}, "spec": spec}).status == 201
    codes = at_once(server, lambda client, number: client.delete(f"{path}/c{number}"))
    assert all(set(one) <= {200, 404} and one[200] >= 1 for one in codes), codes
    assert api.get(path).json()["items"] == []
