"""Watches in great number, and watchers that do not read."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack

import pytest

from support.canary import unharmed
from support.server import Server, eventually
from support.wire import Wire, head

MEGABYTE = 1 << 20
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def idle_watches(target: Server, number: int) -> None:
    """Many watches wait, one write reaches all, and nobody else had to wait for that."""
    before = target.memory()
    wires: list[Wire] = []
    try:
        for _ in range(number):  # each asks at once: the server does not wait for a head for as long as all take
            wires.append(Wire(target))
            wires[-1].send(head(f"GET {CONFIG_MAPS}?watch=1&resourceVersion=0 HTTP/1.1"))
        for wire in wires:
            assert b"200 OK" in wire.until(b"\r\n\r\n")
        assert target.memory() - before < number * 150_000

        names = iter(range(10))

        def attack() -> None:
            name = f"wake-{number}-{next(names)}-up"
            with target.api() as api:
                assert api.post(CONFIG_MAPS, {"metadata": {"name": name}}).status == 201
            for wire in wires:
                assert name.encode() in wire.until(name.encode())

        unharmed(target, attack)
    finally:
        for wire in wires:
            wire.close()
    eventually(lambda: target.memory() - before < number * 100_000 + 32 * MEGABYTE)


def test_hundreds_of_idle_watches(target: Server) -> None:
    idle_watches(target, 400)


@pytest.mark.slow
def test_thousands_of_idle_watches(target: Server) -> None:
    idle_watches(target, 5000)


def test_a_watcher_that_never_reads_is_ended_and_others_see_everything(target: Server) -> None:
    before = target.memory()
    writes = 120
    text = "x" * 300_000  # all together more than the server keeps for one reader
    with target.api() as api:
        assert api.post(CONFIG_MAPS, {"metadata": {"name": "loud"}}).status == 201
        deaf = [Wire(target) for _ in range(5)]
        for wire in deaf:
            wire.send(head(f"GET {CONFIG_MAPS}?watch=1 HTTP/1.1"))
        watch = api.watch(f"{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=loud")
        seen: list[str] = []

        def listen() -> None:
            for event in watch:
                seen.append(event["object"].get("data", {}).get("number", ""))
                if seen[-1] == str(writes - 1):
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        worst = 0

        def attack() -> None:
            nonlocal worst
            with target.api() as writer:
                for number in range(writes):
                    body = {"data": {"text": text, "number": str(number)}}
                    assert writer.patch(f"{CONFIG_MAPS}/loud", body).status == 200
                    worst = max(worst, target.memory())

        unharmed(target, attack, tries=1)
        listener.join(20.0)
        assert [number for number in seen if number] == [str(number) for number in range(writes)]
        watch.close()
        assert worst - before < 150 * MEGABYTE
        for wire in deaf:
            wire.close()
        api.delete(f"{CONFIG_MAPS}/loud")


def test_lists_that_nobody_reads_take_bounded_memory(target: Server) -> None:
    with target.api() as api:
        for number in range(60):
            api.post(CONFIG_MAPS, {"metadata": {"name": f"wide-{number}"}, "data": {"text": "x" * 400_000}})
        before = target.memory()
        with ExitStack() as open_wires:

            def attack() -> None:
                for _ in range(30):
                    wire = open_wires.enter_context(Wire(target))
                    wire.send(head(f"GET {CONFIG_MAPS} HTTP/1.1"))
                    assert wire.some()
                assert target.memory() - before < 150 * MEGABYTE  # 30 lists of 24 MB each

            unharmed(target, attack)
        for number in range(60):
            api.delete(f"{CONFIG_MAPS}/wide-{number}")


def test_watches_that_begin_far_back(target: Server) -> None:
    """Many clients resume at once, each thousands of changes behind."""
    with target.api() as api:
        first = json.loads(api.post(CONFIG_MAPS, {"metadata": {"name": "busy"}}).body)
        for number in range(1500):
            api.patch(f"{CONFIG_MAPS}/busy", {"data": {"a": str(number)}})
        since = first["metadata"]["resourceVersion"]

        def attack() -> None:
            wires = [Wire(target) for _ in range(30)]
            for wire in wires:
                wire.send(head(f"GET {CONFIG_MAPS}?watch=1&resourceVersion={since} HTTP/1.1"))
            for wire in wires:
                assert b'"1499"' in wire.until(b'"a":"1499"')
                wire.close()

        unharmed(target, attack)
