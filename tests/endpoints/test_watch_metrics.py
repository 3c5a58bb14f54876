"""What lists and watches do to the numbers of their kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from endpoints.served import Collected
from pilothouse.endpoints.watch import MAX_BUFFERED
from pilothouse.serving.http import Stream
from support.measured import Measured, measured

MAPS = "/api/v1/namespaces/here/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OF_MAPS = {"group": "", "resource": "configmaps"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("watches")) as server:
        server.make("/api/v1/namespaces", {"metadata": {"name": "here"}})
        for name in ("a", "b", "c"):
            server.make(MAPS, {"metadata": {"name": name, "labels": {"name": name}}})
        yield server


def test_a_list_tells_what_it_read_and_returned(server: Measured) -> None:
    labels = {**OF_MAPS, "storage": "watchcache"}
    with (
        server.grows("apiserver_storage_list_total", index="", **labels),
        server.grows("apiserver_storage_list_fetched_objects_total", 3, index="", **labels),
        server.grows("apiserver_storage_list_evaluated_objects_total", 3, **labels),
        server.grows("apiserver_storage_list_returned_objects_total", 1, **labels),
        server.grows("apiserver_watch_cache_consistent_read_total", success="true", fallback="false", **OF_MAPS),
    ):
        server.ask(f"GET {MAPS}?labelSelector=name%3Db")
    with (
        server.grows("apiserver_storage_list_total", **labels),
        server.grows("apiserver_storage_list_returned_objects_total", 3, **labels),
        server.grows("apiserver_watch_cache_consistent_read_total", 0, **OF_MAPS),
    ):
        server.ask(f"GET {MAPS}?resourceVersion=0")


def test_a_cache_is_filled_once(server: Measured) -> None:
    scrape = server.scrape()
    assert scrape.value("apiserver_watch_cache_initializations_total", **OF_MAPS) == 1
    assert scrape.value("apiserver_watch_cache_initialization_duration_seconds_count", **OF_MAPS) == 1
    assert scrape.value("apiserver_storage_list_duration_seconds_count", streamed="false", **OF_MAPS) == 1
    assert scrape.value("apiserver_storage_list_total", storage="etcd", **OF_MAPS) == 1
    assert scrape.value("watch_cache_capacity", **OF_MAPS) == 4096


def test_what_a_cache_holds(server: Measured) -> None:
    before = server.scrape().value("apiserver_resource_size_estimate_bytes", **OF_MAPS)
    with (
        server.grows("apiserver_resource_objects", **OF_MAPS),
        server.grows("apiserver_watch_cache_events_received_total", **OF_MAPS),
        server.grows("apiserver_watch_cache_events_dispatched_total", **OF_MAPS),
        server.grows("apiserver_storage_events_received_total", **OF_MAPS),
        server.grows("apiserver_watch_events_dispatch_duration_seconds_count", stage="total", **OF_MAPS),
    ):
        server.make(MAPS, {"metadata": {"name": "d"}})
    revision = server.scrape().value("apiserver_watch_cache_resource_version", **OF_MAPS)
    assert f'"resourceVersion":"{revision:.0f}"'.encode() in bytes(server.ask(f"GET {MAPS}/d").body)
    size = len(server.ask(f"GET {MAPS}/d").body)
    after = server.scrape().value("apiserver_resource_size_estimate_bytes", **OF_MAPS)
    assert size / 2 < after - before <= size
    server.ask(f"DELETE {MAPS}/d")
    assert server.scrape().value("apiserver_resource_size_estimate_bytes", **OF_MAPS) == before


class Far:
    """A watch and what came of it."""

    def __init__(self, server: Measured, path: str) -> None:
        self.server = server
        self.writer = Collected()
        self.path = path
        self.task: asyncio.Future[Any] | None = None

    async def begin(self, lines: int) -> None:
        answer = await self.server.answer(f"GET {self.path}")
        assert isinstance(answer, Stream)
        self.task = asyncio.ensure_future(answer.run(self.writer))
        await self.writer.until(lambda data: data.count(b"\n") >= lines)

    async def end(self) -> None:
        assert self.task is not None
        self.writer.leave()
        await self.task


def test_events_are_counted_with_their_sizes(server: Measured) -> None:
    labels = {**OF_MAPS, "version": "v1"}
    far = Far(
        server, f"{MAPS}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    )
    sums = "apiserver_watch_events_sizes_sum"
    before = server.scrape().value(sums, **labels)
    with (
        server.grows("apiserver_watch_events_total", 4, **labels),  # and the bookmark
        server.grows("apiserver_watch_events_sizes_count", 4, **labels),
        server.grows("apiserver_init_events_total", 3, **OF_MAPS),
        server.grows("apiserver_watch_list_duration_seconds_count", scope="namespace", **labels),
    ):
        server.run(far.begin(4))
    with server.grows("apiserver_watch_events_total", **labels):
        server.make(MAPS, {"metadata": {"name": "e"}})
        server.run(far.writer.until(lambda data: data.count(b"\n") >= 5))  # type: ignore[arg-type]
    server.run(far.end())
    assert server.scrape().value(sums, **labels) - before == len(far.writer.data)
    server.ask(f"DELETE {MAPS}/e")


def test_a_reader_that_lags_is_counted_when_its_watch_is_ended(server: Measured) -> None:
    class Slow(Collected):
        @property
        def buffered(self) -> int:
            return MAX_BUFFERED + 1

    far = Far(server, f"{MAPS}?watch=1&resourceVersion=0")
    far.writer = Slow()
    with server.grows("apiserver_terminated_watchers_total", **OF_MAPS):
        server.run(far.begin(3))
        server.make(MAPS, {"metadata": {"name": "f"}})
        server.run(far.end())
    server.ask(f"DELETE {MAPS}/f")


def test_custom_resources_have_caches_of_their_own(server: Measured) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "deprecated": True}
    names = {"plural": "robots", "singular": "robot", "kind": "Robot", "listKind": "RobotList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    server.make(DEFINITIONS, {"metadata": {"name": "robots.example.com"}, "spec": spec})
    path = "/apis/example.com/v1/namespaces/here/robots"
    for _ in range(1000):
        if server.ask(f"GET {path}").status == 200:
            break
        server.run(asyncio.sleep(0.005))
    kind = {"group": "example.com", "resource": "robots"}
    with (
        server.grows("apiserver_resource_objects", **kind),
        server.grows("apiserver_watch_cache_events_received_total", **kind),
    ):
        server.make(path, {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "a"}})
    used = server.scrape().value("apiserver_requested_deprecated_apis", version="v1", removed_release="", **kind)
    assert used == 1


def test_deprecated_versions_tell_when_they_go(server: Measured) -> None:
    name = "apiserver_requested_deprecated_apis"
    assert server.scrape().value(name, resource="endpoints") == 0
    for _ in range(2):
        server.ask("GET /api/v1/endpoints")
    labels = {"group": "", "version": "v1", "subresource": "", "removed_release": ""}
    assert server.scrape().value(name, resource="endpoints", **labels) == 1


def test_buckets_are_those_of_the_original(server: Measured) -> None:
    scrape = server.scrape()
    sizes = {"1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072", "+Inf"}
    assert scrape.labels("apiserver_watch_events_sizes_bucket", "le") == sizes
    sent = {
        "0.0001",
        "0.0005",
        "0.001",
        "0.005",
        "0.01",
        "0.025",
        "0.05",
        "0.1",
        "0.25",
        "0.5",
        "1",
        "2.5",
        "5",
        "+Inf",
    }
    assert scrape.labels("apiserver_watch_events_dispatch_duration_seconds_bucket", "le") == sent
    filled = {"0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60", "180", "600", "+Inf"}
    assert scrape.labels("apiserver_watch_cache_initialization_duration_seconds_bucket", "le") == filled
