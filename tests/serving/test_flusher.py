"""What a turn read is handed on at its end, then what was written is sent, answers before events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

import pytest

from pilothouse.serving.flusher import Flusher


class Noting:
    """Something that can be flushed and says so."""

    def __init__(self, name: str, told: list[str]) -> None:
        self._name = name
        self._told = told

    def flush(self) -> None:
        self._told.append(self._name)


def test_an_answer_does_not_wait_for_thousands_of_events() -> None:
    told: list[str] = []

    async def scenario() -> None:
        flusher = Flusher(asyncio.get_running_loop())
        for _ in range(3000):
            flusher.add_patient(Noting("event", told))
        await asyncio.sleep(0)
        flusher.add(Noting("answer", told))
        while len(told) < 3001:
            await asyncio.sleep(0)

    asyncio.run(scenario())
    assert told.index("answer") < 300
    assert told.count("event") == 3000


def test_events_get_their_share_among_many_answers() -> None:
    told: list[str] = []

    async def scenario() -> None:
        flusher = Flusher(asyncio.get_running_loop())
        for _ in range(1000):
            flusher.add(Noting("answer", told))
        flusher.add_patient(Noting("event", told))
        while len(told) < 1001:
            await asyncio.sleep(0)

    asyncio.run(scenario())
    assert told.index("event") < 200


class Reader:
    """Something that has read, and hands it on by a call."""

    def __init__(self, deliver: Callable[[], None]) -> None:
        self.deliver = deliver
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


def test_what_was_read_is_handed_on_and_its_answers_leave_in_the_same_turn() -> None:
    told: list[str] = []

    async def scenario() -> None:
        flusher = Flusher(asyncio.get_running_loop())

        def begin(name: str) -> Reader:
            return Reader(lambda: (told.append(f"began {name}"), flusher.add(Noting(f"sent {name}", told)))[0])

        for name in "ab":
            flusher.add_read(begin(name))
        assert not told
        await asyncio.sleep(0)

    asyncio.run(scenario())
    assert told == ["began a", "began b", "sent a", "sent b"]


def test_a_connection_that_fails_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []

    async def scenario() -> None:
        flusher = Flusher(asyncio.get_running_loop())

        def fail() -> None:
            raise ValueError("broken")

        broken = Reader(fail)
        flusher.add_read(broken)
        flusher.add_read(Reader(lambda: told.append("read")))
        flusher.add(Noting("sent", told))
        await asyncio.sleep(0)
        assert broken.aborted
        flusher.add_read(Reader(lambda: told.append("later")))
        await asyncio.sleep(0)

    asyncio.run(scenario())
    assert told == ["read", "sent", "later"]
    assert "could not be handed on" in caplog.text


def test_a_request_does_not_begin_in_the_context_of_who_wrote() -> None:
    where: ContextVar[str] = ContextVar("where", default="")
    seen: list[str] = []

    async def scenario() -> None:
        flusher = Flusher(asyncio.get_running_loop())
        where.set("in a request")
        flusher.add(Noting("sent", []))
        flusher.add_read(Reader(lambda: seen.append(where.get())))
        await asyncio.sleep(0)

    asyncio.run(scenario())
    assert seen == [""]
