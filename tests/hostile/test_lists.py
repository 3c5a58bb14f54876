"""Lists of very many objects, in every form: nobody else waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.canary import unharmed
from support.seed import seed
from support.server import CONFORMANCE_FLAGS, Server

CONFIG_MAPS = "/api/v1/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"
# path, Accept, how often one object is in the answer, part of all objects that are
LISTS = {
    "one": ("?limit=1", "application/json"),
    "all": ("", "application/json"),
    "selected": ("?labelSelector=half=a", "application/json"),
    "selected by a field": ("?fieldSelector=metadata.namespace!=default", "application/json"),
    "one of many": ("?labelSelector=number=77&limit=5", "application/json"),
    "table": ("", TABLE),
    "metadata": ("", f"application/json;{PARTIAL}"),
    "protobuf": ("", PROTOBUF),
    "metadata in protobuf": ("", f"{PROTOBUF};{PARTIAL}"),
    "pretty": ("?pretty=1", "application/json"),
    "yaml": ("?limit=2000", "application/yaml"),
    "long selector": (
        f"?labelSelector={','.join(f'k{number}+notin+(a)' for number in range(5000))}",
        "application/json",
    ),
}


def filled(folder_of: pytest.TempPathFactory, count: int) -> Iterator[Server]:
    server = Server(folder_of.mktemp("many"), *CONFORMANCE_FLAGS)
    server.stop()
    seed(server.data, "default", count, 1000)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from filled(tmp_path_factory, 10_000)


@pytest.fixture(scope="module")
def very_many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from filled(tmp_path_factory, 50_000)


@pytest.mark.parametrize("name", LISTS)
def test_a_long_list_holds_up_nobody(many: Server, name: str) -> None:
    hold_up_nobody(many, *LISTS[name], 10_000 if name == "all" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_a_very_long_list_holds_up_nobody(very_many: Server, name: str) -> None:
    hold_up_nobody(very_many, *LISTS[name], 50_000 if name == "all" else 0)


def hold_up_nobody(server: Server, query: str, accept: str, least: int) -> None:
    """`least`: how many objects are in the answer, or more."""

    def attack() -> None:
        with server.api(timeout=60.0) as api:
            answer = api.request("GET", CONFIG_MAPS + query, headers={"Accept": accept})
            assert answer.status == 200, answer.text[:300]
            assert answer.body.count(b'"name":"c-') >= least

    unharmed(server, attack)


@pytest.mark.slow
def test_a_very_long_list_of_the_past_holds_up_nobody(very_many: Server) -> None:
    """Older than what the cache knows: all of it comes from the file."""
    with very_many.api(timeout=60.0) as api:
        then = api.get(f"{CONFIG_MAPS}?limit=1").json()["metadata"]["resourceVersion"]
    past = f"?resourceVersion={int(then) - 100}&resourceVersionMatch=Exact"
    hold_up_nobody(very_many, past, "application/json", 49_000)


def test_a_watch_of_many_objects_holds_up_nobody(many: Server) -> None:
    def attack() -> None:
        with many.api(timeout=60.0) as api, api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
            assert len(watch.take(10_000)) == 10_000

    unharmed(many, attack)


def test_deleting_a_collection_holds_up_nobody(many: Server) -> None:
    def attack() -> None:
        with many.api(timeout=60.0) as api:
            selector = ",".join(str(number) for number in range(1000))
            answer = api.delete(f"/api/v1/namespaces/default/configmaps?labelSelector=number+in+({selector})")
            assert answer.status == 200

    unharmed(many, attack)
