"""The flow schemas and priority levels that every server has, and the condition Dangling."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pilothouse.builtin.flowcontrol.bootstrap import LEVELS, SCHEMAS, ensure_flow_control
from pilothouse.builtin.flowcontrol.dangling import DanglingKeeper
from pilothouse.registry.request import Write

from .world import World, play

Object = dict[str, Any]


async def _get(world: World, kind: tuple[str, str], name: str) -> Object:
    store = world.stores[kind]
    return store.codec.decode(await store.get("", name))


async def _change(world: World, kind: tuple[str, str], name: str, change: Callable[[Object], None]) -> None:
    async def produce(old: Object | None) -> Object:
        assert old is not None
        change(old)
        return old

    await world.stores[kind].update(name, produce, Write("", name, "v1", world.now(), world.warnings.append))


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + 10
    while not await holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def test_what_nobody_took_over_is_kept_as_it_should_be() -> None:
    async def story(world: World) -> None:
        await ensure_flow_control(world.stores, world.now)
        made = await _get(world, LEVELS, "workload-low")
        assert made["spec"]["limited"]["nominalConcurrencyShares"] == 100
        await _change(world, LEVELS, "workload-low", lambda obj: obj["spec"]["limited"].update(lendablePercent=1))
        await ensure_flow_control(world.stores, world.now)
        assert (await _get(world, LEVELS, "workload-low"))["spec"] == made["spec"]

    play(story)


def test_what_an_administrator_took_over_is_left_alone() -> None:
    async def story(world: World) -> None:
        await ensure_flow_control(world.stores, world.now)

        def take_over(obj: Object) -> None:
            obj["metadata"]["annotations"]["apf.kubernetes.io/autoupdate-spec"] = "false"
            obj["spec"]["limited"]["nominalConcurrencyShares"] = 7

        await _change(world, LEVELS, "workload-low", take_over)
        await _change(world, LEVELS, "exempt", lambda obj: obj["spec"]["exempt"].update(lendablePercent=50))
        await ensure_flow_control(world.stores, world.now)
        assert (await _get(world, LEVELS, "workload-low"))["spec"]["limited"]["nominalConcurrencyShares"] == 7
        assert (await _get(world, LEVELS, "exempt"))["spec"]["exempt"]["lendablePercent"] == 50

    play(story)


@pytest.mark.parametrize(("level", "dangling"), [("workload-low", "False"), ("nowhere", "True")])
def test_a_schema_says_whether_its_level_exists(level: str, dangling: str) -> None:
    async def story(world: World) -> None:
        await ensure_flow_control(world.stores, world.now)
        keeper = asyncio.create_task(DanglingKeeper(world.stores, world.now, world.pause).run())
        await _change(
            world, SCHEMAS, "probes", lambda obj: obj["spec"].update(priorityLevelConfiguration={"name": level})
        )

        async def said() -> bool:
            conditions = (await _get(world, SCHEMAS, "probes")).get("status", {}).get("conditions", [])
            return bool(conditions) and level in conditions[0]["message"]

        await _until(said)
        (condition,) = (await _get(world, SCHEMAS, "probes"))["status"]["conditions"]
        assert (condition["type"], condition["status"]) == ("Dangling", dangling)
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)

    play(story)


def test_a_level_that_comes_later_ends_the_dangling() -> None:
    async def story(world: World) -> None:
        keeper = asyncio.create_task(DanglingKeeper(world.stores, world.now, world.pause).run())
        await ensure_flow_control(world.stores, world.now)

        async def told(status: str) -> bool:
            conditions = (await _get(world, SCHEMAS, "probes")).get("status", {}).get("conditions", [])
            return bool(conditions) and conditions[0]["status"] == status

        await _until(lambda: told("False"))
        store = world.stores[LEVELS]
        await store.storage.delete(store.resource.key("", "exempt"))
        await _until(lambda: told("True"))
        await ensure_flow_control(world.stores, world.now)
        await _until(lambda: told("False"))
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)

    play(story)
