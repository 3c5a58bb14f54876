"""The loopback client and its identities: through the whole chain, by tokens that nobody can guess."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from pilothouse.auth.authenticators import Credentials, Refused
from pilothouse.controllers import names
from pilothouse.controllers.client import LoopbackClient, RateLimit, Refusal
from pilothouse.controllers.clock import LoopClock
from pilothouse.controllers.identity import LoopbackTokens, service_account
from pilothouse.controllers.reflector import Reflector, Source
from pilothouse.serving.http import Answer, Request, Response, Stream, StreamWriter

from .clocks import ManualClock
from .servers import Object, eventually, run, server

MAPS = "/api/v1/namespaces/default/configmaps"


def tokens() -> LoopbackTokens:
    numbers = itertools.count()
    return LoopbackTokens(lambda size: bytes([next(numbers)]) * size)


def test_a_token_stands_for_the_one_it_was_issued_to() -> None:
    issuer = tokens()
    callers = [service_account("namespace-controller"), service_account("generic-garbage-collector")]
    issued = [issuer.issue(caller) for caller in callers]
    assert [issuer.authenticate(Credentials(token, None)) for token in issued] == callers
    assert callers[0].name == "system:serviceaccount:kube-system:namespace-controller"
    assert "system:serviceaccounts:kube-system" in callers[0].groups


@pytest.mark.parametrize("token", [None, "", "abc", "Loopback.0.x"])
def test_other_credentials_are_left_to_others(token: str | None) -> None:
    assert tokens().authenticate(Credentials(token, None)) is None


@pytest.mark.parametrize("change", ["x", "", "0.", "-1.", "9.", "²."])
def test_a_token_that_is_not_exactly_ours_is_refused(change: str) -> None:
    issuer = tokens()
    token = issuer.issue(service_account("a"))
    wrong = f"loopback.{change}{token.rpartition('.')[2]}" if change.endswith(".") else token + change + "A"
    if wrong == token:
        wrong = token[:-1]
    with pytest.raises(Refused):
        issuer.authenticate(Credentials(wrong, None))


def test_the_server_refuses_a_wrong_token_and_tells_refusals_as_they_are(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            stranger = LoopbackClient(admin._handler, "loopback.0.guess", RateLimit(LoopClock(), 1e3, 10))
            with pytest.raises(Refusal) as refused:
                await stranger.get("/api/v1/namespaces")
            assert (refused.value.code, refused.value.reason) == (401, "Unauthorized")
            with pytest.raises(Refusal) as refused:
                await admin.get("/api/v1/namespaces/nowhere")
            assert refused.value.not_found
            assert str(refused.value) == 'namespaces "nowhere" not found'

    run(story())


def test_what_controllers_write_is_theirs(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            published = await admin.there(f"{MAPS}/kube-root-ca.crt")
            assert [entry["manager"] for entry in published["metadata"]["managedFields"]] == ["kube-controller-manager"]

    run(story())


def test_a_long_list_and_a_watch_come_through(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path, names.SERVICE_ACCOUNT) as admin:
            for number in range(260):
                await admin.make(MAPS, f"m-{number:03}")
            found = await admin.get(MAPS)
            assert len(found["items"]) == 260
            watch = await admin.watch(MAPS, {"resourceVersion": found["metadata"]["resourceVersion"]})
            await admin.remove(f"{MAPS}/m-000")
            await admin.make(MAPS, "new")
            seen: list[tuple[str, str]] = []
            async for events in watch.batches():
                seen += [(event.type, event.object["metadata"]["name"]) for event in events]
                if len(seen) == 2:
                    break
            assert seen == [("DELETED", "m-000"), ("ADDED", "new")]
            await watch.close()

    run(story())


def test_requests_wait_for_their_turn() -> None:
    async def story() -> None:
        clock = ManualClock()
        limit = RateLimit(clock, rate=10, burst=2)
        for _ in range(2):
            await limit.take()
        third = asyncio.create_task(limit.take())
        fourth = asyncio.create_task(limit.take())
        await asyncio.sleep(0)
        assert clock.due() == [pytest.approx(0.1), pytest.approx(0.2)]
        clock.advance(0.1)
        await third
        assert not fourth.done()
        clock.advance(0.1)
        await fourth

    run(story())


class Recorded:
    """A Sink that tells what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self) -> None:
        self.told.append("begin")

    def put(self, obj: Object) -> None:
        self.told.append(f"put {obj['metadata']['name']}")

    def remove(self, obj: Object) -> None:
        self.told.append(f"remove {obj['metadata']['name']}")

    def end(self) -> None:
        self.told.append("end")


def _named(name: str, version: int) -> Object:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def _listing(version: int, *objects: str, more: str = "") -> Answer:
    metadata = {"resourceVersion": str(version), **({"continue": more} if more else {})}
    body = {"metadata": metadata, "items": [_named(name, version) for name in objects]}
    return Response(200, [], json.dumps(body).encode())


def _events(*events: tuple[str, Any], split: int = 0) -> Answer:
    lines = b"".join(json.dumps({"type": kind, "object": obj}).encode() + b"\n" for kind, obj in events)

    async def tell(writer: StreamWriter) -> None:
        if split:
            writer.write(lines[:split])
            await asyncio.sleep(0)
        writer.write(lines[split:])

    return Stream(200, [], tell)


def test_a_reflector_pages_resumes_and_lists_anew_only_when_it_must() -> None:
    expired = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    answers = [
        _listing(5, "a", more="next"),
        _listing(5, "b"),
        _events(("ADDED", _named("c", 6)), ("BOOKMARK", {"metadata": {"resourceVersion": "9"}}), split=20),
        Response(503, [], b'{"kind":"Status","code":503,"message":"later"}'),
        _events(("DELETED", _named("a", 10)), ("ERROR", expired)),
        _listing(20, "b"),
    ]
    queries: list[str] = []

    async def handler(request: Request) -> Answer:
        queries.append(request.query)
        if not answers:
            await asyncio.get_running_loop().create_future()
        return answers.pop(0)

    async def story() -> None:
        clock, sink = ManualClock(), Recorded()
        client = LoopbackClient(handler, "t", RateLimit(clock, 1e6, 1_000_000))
        source = Source("/api/v1/things", "metadata.name!=x")
        reflector = Reflector(client, source, sink, clock, lambda: 0.5)
        task = asyncio.create_task(reflector.run())

        async def over() -> bool:
            clock.advance(0.5)
            return len(queries) == 7

        await eventually(over, "the second watch of the second list")
        task.cancel()
        assert sink.told == [
            "begin", "put a", "put b", "end", "put c", "remove a", "begin", "put b", "end",
        ]  # fmt: skip

    run(story())
    selector = "fieldSelector=metadata.name%21%3Dx"
    follow = "allowWatchBookmarks=true&timeoutSeconds=450&watch=true"
    assert queries == [
        f"{selector}&limit=500",
        f"{selector}&limit=500&continue=next",
        f"{selector}&resourceVersion=5&{follow}",
        f"{selector}&resourceVersion=9&{follow}",
        f"{selector}&resourceVersion=9&{follow}",
        f"{selector}&limit=500",
        f"{selector}&resourceVersion=20&{follow}",
    ]


def test_the_setting_chooses_among_the_controllers() -> None:
    assert names.choose(["*"]) == names.NAMES
    assert names.choose(["none"]) == ()
    assert names.choose([names.ROOT_CA, names.NAMESPACE]) == (names.NAMESPACE, names.ROOT_CA)
    assert names.SERVICE_ACCOUNT not in names.choose(["*", f"-{names.SERVICE_ACCOUNT}"])
    with pytest.raises(ValueError, match="there is no controller 'deployments'; there are: "):
        names.choose(["deployments"])
