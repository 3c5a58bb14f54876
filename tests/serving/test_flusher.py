"""What a turn wrote is sent at its end, answers before events."""

from __future__ import annotations

import asyncio

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
