"""What controllers know of the resources that are served: asked by ETag, each resource in its preferred version."""

from __future__ import annotations

import json
from typing import Any

from pilothouse.controllers.client import LoopbackClient, RateLimit
from pilothouse.controllers.resources import Discovery
from pilothouse.serving.http import Answer, Request, Response

from .clocks import ManualClock
from .servers import run


def resource(plural: str, kind: str, *verbs: str, namespaced: bool = True) -> dict[str, Any]:
    scope = "Namespaced" if namespaced else "Cluster"
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": list(verbs)}


def group(name: str, **versions: Any) -> dict[str, Any]:
    shown = [
        {"version": version, "resources": found, "freshness": "Current"}
        if found is not None
        else {"version": version, "freshness": "Stale"}
        for version, found in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": shown}


class Documents:
    """/api and /apis with ETags."""

    def __init__(self) -> None:
        self.items = {"/api": [group("", v1=[resource("pods", "Pod", "list", "delete")])], "/apis": []}
        self.answers: list[int] = []

    async def __call__(self, request: Request) -> Answer:
        body = json.dumps({"items": self.items[request.path]}).encode()
        tag = str(hash(body)).encode()
        if request.header(b"if-none-match") == tag.decode():
            self.answers.append(304)
            return Response(304, [])
        self.answers.append(200)
        return Response(200, [(b"Etag", tag)], body)


def test_nothing_is_read_again_that_did_not_change() -> None:
    async def story() -> None:
        documents, clock = Documents(), ManualClock()
        discovery = Discovery(LoopbackClient(documents, "t", RateLimit(clock, 1e6, 1000)), clock)
        first = await discovery.catalog()
        assert await discovery.catalog() is first
        assert documents.answers == [200, 200, 304, 304]
        assert await discovery.catalog(max_age=1) is first
        assert len(documents.answers) == 4, "what is young enough is not asked for"
        documents.items["/apis"].append(group("example.com", v1=[resource("things", "Thing", "list")]))
        assert await discovery.find("example.com/v1", "Thing") is not None
        assert documents.answers[4:] == [304, 200]

    run(story())


def test_a_resource_is_taken_in_the_version_its_group_prefers() -> None:
    async def story() -> None:
        documents, clock = Documents(), ManualClock()
        both = [resource("things", "Thing", "list", "watch", "delete")]
        old = [*both, resource("relics", "Relic", "list", namespaced=False)]
        documents.items["/apis"] = [group("example.com", v2=both, v1=old), group("away.example.com", v1=None)]
        discovery = Discovery(LoopbackClient(documents, "t", RateLimit(clock, 1e6, 1000)), clock)
        catalog = await discovery.catalog()
        paths = [served.path("ns" if served.namespaced else "", "a/b") for served in catalog.able("list")]
        assert paths == [
            "/api/v1/namespaces/ns/pods/a%2Fb",
            "/apis/example.com/v2/namespaces/ns/things/a%2Fb",
            "/apis/example.com/v1/relics/a%2Fb",
        ]
        assert [served.plural for served in catalog.able("list", "watch")] == ["things"]
        assert catalog.find("example.com/v1", "Thing") is not None, "other versions are served too"
        assert catalog.failed == (("away.example.com/v1", "stale GroupVersion discovery: away.example.com/v1"),)

    run(story())
