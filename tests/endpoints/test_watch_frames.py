"""Watches: what a client is told, in which form, and how a watch ends."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import JSON, PROTOBUF, YAML, Served, config_map

META = "g=meta.k8s.io;v=v1"
TABLE = {"Accept": f"{JSON};as=Table;{META}"}
METADATA = {"Accept": f"{JSON};as=PartialObjectMetadata;{META}"}


async def now(served: Served, path: str) -> str:
    """The version of a collection: a watch from there on tells what comes next."""
    return str((await served.send(f"GET {path}")).json()["metadata"]["resourceVersion"])


def told(events: list[dict[str, Any]]) -> list[str]:
    return [f"{event['type']} {event['object']['metadata'].get('name', '')}".strip() for event in events]


def test_a_life(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        watch = await served.watch(f"{path}?watch=1&resourceVersion={await now(served, path)}")
        assert (watch.status, watch.headers["Content-Type"]) == (200, JSON)
        await served.send(f"POST {path}", config_map("a"))
        await served.send(f"PATCH {path}/a", {"data": {"k": "v"}}, "application/merge-patch+json")
        await served.send(f"PATCH {path}/a", {"data": {"k": "v"}}, "application/merge-patch+json")  # changes nothing
        await served.send(f"DELETE {path}/a")
        events = await watch.events(3)
        assert told(events) == ["ADDED a", "MODIFIED a", "DELETED a"]
        assert events[1]["object"]["data"] == {"k": "v"}
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        assert versions == sorted(set(versions))
        await watch.leave()

    served.run(story())


def test_without_a_version_it_begins_with_what_is_there(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        for name in "ab":
            await served.send(f"POST {path}", config_map(name))
        watch = await served.watch(f"{path}?watch=1")
        assert told(await watch.events(2)) == ["ADDED a", "ADDED b"]
        await watch.leave()

    served.run(story())


def test_with_a_version_it_tells_what_came_after(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        made = [(await served.send(f"POST {path}", config_map(name))).json() for name in "abc"]
        watch = await served.watch(f"{path}?watch=1&resourceVersion={made[0]['metadata']['resourceVersion']}")
        assert told(await watch.events(2)) == ["ADDED b", "ADDED c"]
        await watch.leave()

    served.run(story())


def test_objects_come_and_go_as_the_selector_takes_them(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        watch = await served.watch(f"{path}?watch=1&labelSelector=on%3Dyes&resourceVersion={await now(served, path)}")
        await served.send(f"POST {path}", config_map("a"))
        for value in ("yes", "no"):
            change = {"metadata": {"labels": {"on": value}}}
            await served.send(f"PATCH {path}/a", change, "application/merge-patch+json")
        assert told(await watch.events(2)) == ["ADDED a", "DELETED a"]
        await watch.leave()

    served.run(story())


def test_a_streamed_list_ends_with_a_mark(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        await served.send(f"POST {path}", config_map("a"))
        query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        watch = await served.watch(f"{path}?{query}")
        events = await watch.events(2)
        assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
        mark = events[1]["object"]
        assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert int(mark["metadata"]["resourceVersion"]) >= int(events[0]["object"]["metadata"]["resourceVersion"])
        await watch.leave()

    served.run(story())


def test_only_the_first_table_has_columns(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        for name in "ab":
            await served.send(f"POST {path}", config_map(name))
        watch = await served.watch(f"{path}?watch=1", TABLE)
        first, second = await watch.events(2)
        assert first["object"]["kind"] == second["object"]["kind"] == "Table"
        assert [column["name"] for column in first["object"]["columnDefinitions"]] == ["Name", "Data", "Age"]
        assert second["object"]["columnDefinitions"] is None
        assert second["object"]["rows"][0]["cells"][0] == "b"
        await watch.leave()

    served.run(story())


def test_metadata_alone(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        await served.send(f"POST {path}", config_map("a", k="v"))
        watch = await served.watch(f"{path}?watch=1", METADATA)
        (event,) = await watch.events(1)
        assert event["object"]["kind"] == "PartialObjectMetadata"
        assert "data" not in event["object"]
        await watch.leave()

    served.run(story())


def test_frames_of_protobuf_say_how_long_they_are(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        await served.send(f"POST {path}", config_map("a"))
        watch = await served.watch(f"{path}?watch=1", {"Accept": PROTOBUF})
        assert watch.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
        data = await watch.writer.until(lambda data: len(data) > 4 and len(data) >= 4 + int.from_bytes(data[:4]))
        assert len(data) == 4 + int.from_bytes(data[:4])
        assert data[4:].startswith(b"\x0a\x05ADDED") and b"k8s\0" in data
        await watch.leave()

    served.run(story())


@pytest.mark.parametrize("accept", [YAML, "application/cbor", "text/event-stream"])
def test_other_forms_are_not_streamed(served: Served, place: str, accept: str) -> None:
    found = served.ask(f"GET {place}/configmaps?watch=1", headers={"Accept": accept})
    assert found.status == 406
    assert b"NotAcceptable" in found.body  # in YAML, for who asks for YAML


def test_it_ends_when_its_time_is_over(served: Served, place: str) -> None:
    async def story() -> None:
        watch = await served.watch(f"{place}/configmaps?watch=1&timeoutSeconds=1")
        assert await watch.to_the_end() == b""

    served.run(story())


def test_a_version_that_is_forgotten_is_an_event(served: Served, place: str) -> None:
    async def story() -> None:
        watch = await served.watch(f"{place}/configmaps?watch=1&resourceVersion=1")
        (event,) = await watch.events(1)
        assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
        await watch.to_the_end()

    served.run(story())


def test_a_time_below_nothing_is_an_event(served: Served, place: str) -> None:
    async def story() -> None:
        watch = await served.watch(f"{place}/configmaps?watch=1&timeoutSeconds=-1")
        (event,) = await watch.events(1)
        assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
        await watch.to_the_end()

    served.run(story())


def test_a_client_that_goes_leaves_nothing_behind(served: Served, place: str) -> None:
    async def story() -> None:
        before = served.application.running.running
        watch = await served.watch(f"{place}/configmaps?watch=1")
        await watch.leave()
        assert served.application.running.running == before

    served.run(story())


def test_watchers_of_one_form_share_their_frames(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        watches = [await served.watch(f"{path}?watch=1") for _ in range(3)]
        await served.send(f"POST {path}", config_map("a"))
        for watch in watches:
            await watch.events(1)
        assert len({watch.writer.data for watch in watches}) == 1
        for watch in watches:
            await watch.leave()

    served.run(story())
