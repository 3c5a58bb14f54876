"""Every request is measured under the names, labels and buckets that dashboards of clusters know."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from filters.asking import PODS, answers, behind, fine, get
from pilothouse.filters.chain import compose
from pilothouse.filters.metrics import RequestMetrics, Terminated, metrics
from pilothouse.kit.metrics import Registry
from pilothouse.serving.http import Answer, Handler, Request, Stream, StreamWriter


class Measured:
    """A server and its numbers. Each look at the clock takes a quarter of a second."""

    def __init__(self, handler: Handler = fine) -> None:
        self.registry = Registry()
        families = RequestMetrics(self.registry)
        ticks = itertools.count(0.0, 0.25)
        self.handler = compose([metrics(families, lambda: next(ticks))], behind(handler=handler))

    def ask(self, request: Request) -> Answer:
        async def main() -> Answer:
            return await self.handler(request)

        return asyncio.run(main())

    def samples(self, name: str) -> list[tuple[Any, ...]]:
        (family,) = [family for family in self.registry.families() if family.name == name]
        return list(family.samples())

    def total(self) -> dict[str, float]:
        return {" ".join(label or "-" for label in labels): number for labels, number in self.samples(TOTAL)}


TOTAL = "apiserver_request_total"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
# verb, dry run, group, version, resource, subresource, scope, component, status
ROWS = [
    ("GET", PODS, "", "LIST - - v1 pods - namespace apiserver 200"),
    ("GET", "/api/v1/pods", "", "LIST - - v1 pods - cluster apiserver 200"),
    ("GET", f"{PODS}/a", "", "GET - - v1 pods - resource apiserver 200"),
    ("POST", DEPLOYMENTS, "dryRun=All", "POST All apps v1 deployments - namespace apiserver 200"),
    ("PUT", f"{DEPLOYMENTS}/a/status", "", "PUT - apps v1 deployments status resource apiserver 200"),
    ("PATCH", f"{DEPLOYMENTS}/a", "", "PATCH - apps v1 deployments - resource apiserver 200"),
    ("DELETE", f"{DEPLOYMENTS}/a", "", "DELETE - apps v1 deployments - resource apiserver 200"),
    ("DELETE", DEPLOYMENTS, "", "DELETECOLLECTION - apps v1 deployments - namespace apiserver 200"),
    ("GET", PODS, "watch=1", "WATCH - - v1 pods - namespace apiserver 200"),
    ("GET", "/healthz", "", "GET - - - - - - apiserver 200"),
]


@pytest.mark.parametrize(("method", "path", "query", "labels"), ROWS)
def test_requests_are_counted_by_what_they_ask_for(method: str, path: str, query: str, labels: str) -> None:
    server = Measured()
    server.ask(get(path, query, method))
    server.ask(get(path, query, method))
    assert server.total() == {labels: 2}


def test_refusals_are_counted_by_status() -> None:
    server = Measured(answers(404))
    server.ask(get(f"{PODS}/a"))
    assert server.total() == {"GET - - v1 pods - resource apiserver 404": 1}


def test_objects_of_one_resource_share_a_series() -> None:
    server = Measured()
    for name in ("a", "b", "c"):
        server.ask(get(f"{PODS}/{name}"))
    assert list(server.total().values()) == [3]


def test_how_long_it_took() -> None:
    server = Measured()
    server.ask(get(f"{PODS}/a"))
    (duration,) = server.samples("apiserver_request_duration_seconds")
    _, counts, total = duration
    assert total == 0.25
    assert counts.index(1) == 5  # over 0.2, up to 0.4


def test_a_watch_is_no_measure_of_speed() -> None:
    server = Measured()
    server.ask(get(PODS, "watch=1"))
    assert server.samples("apiserver_request_sli_duration_seconds") == []


def test_how_large_the_answer_was() -> None:
    server = Measured(answers(200, b"x" * 1500))
    server.ask(get(f"{PODS}/a"))
    ((_, counts, total),) = server.samples("apiserver_response_sizes")
    assert (counts.index(1), total) == (1, 1500)


def test_watches_are_a_gauge_while_they_last() -> None:
    seen: list[list[tuple[Any, ...]]] = []

    async def stream(writer: StreamWriter) -> None:
        seen.append(server.samples("apiserver_longrunning_requests"))

    async def handle(request: Request) -> Answer:
        return Stream(200, [], stream)

    async def main() -> None:
        answer = await server.handler(get(PODS, "watch=1"))
        assert isinstance(answer, Stream)
        await answer.run(Nowhere())

    server = Measured(handle)
    asyncio.run(main())
    labels = ("WATCH", "", "v1", "pods", "", "namespace", "apiserver")
    assert seen == [[(labels, 1)]]
    assert server.samples("apiserver_longrunning_requests") == [(labels, 0)]


class Nowhere:
    """A writer for streams that write nothing."""

    buffered = 0

    def write(self, data: bytes) -> None:
        raise AssertionError(data)

    async def drain(self) -> None: ...

    async def closed(self) -> None: ...


def test_a_client_that_leaves_is_counted() -> None:
    async def main() -> None:
        async def never(request: Request) -> Answer:
            await asyncio.Event().wait()
            raise AssertionError

        server = Measured(never)
        asked = asyncio.ensure_future(server.handler(get(f"{PODS}/a")))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        labels = ("GET", "", "v1", "pods", "", "resource")
        assert server.samples("apiserver_request_aborts_total") == [(labels, 1.0)]

    asyncio.run(main())


def test_requests_that_the_server_ends_are_counted_and_those_that_others_refuse_are_not() -> None:
    async def refused(request: Request) -> Answer:
        if request.query:
            request.attach(Terminated())
        return await answers(429)(request)

    server = Measured(refused)
    server.ask(get(PODS))
    assert server.samples("apiserver_request_terminations_total") == []
    server.ask(get(PODS, "limit=1"))
    labels = ("LIST", "", "v1", "pods", "", "namespace", "apiserver", "429")
    assert server.samples("apiserver_request_terminations_total") == [(labels, 1.0)]


def test_the_sizes_of_bodies_are_told_of_writes_only() -> None:
    server = Measured()
    server.ask(get(PODS, method="POST", content_length="70000"))
    server.ask(get(PODS, content_length="70000"))
    server.ask(get("/healthz", method="POST", content_length="70000"))
    ((labels, *_),) = server.samples("apiserver_request_body_size_bytes")
    assert labels == ("pods", "POST", "")
