"""The objects of priority and fairness: those that every server has, and the conditions of flow schemas."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.builtin.flowcontrol.bootstrap import LEVELS, PERIOD, SCHEMAS, ensure_flow_control
from pilothouse.builtin.flowcontrol.dangling import DanglingKeeper
from pilothouse.machinery.errors import APIError
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks

_PRODUCER: Final = "priority-and-fairness-config-producer"
_CONSUMER: Final = "priority-and-fairness-config-consumer"
_PAUSE: Final = 1.0  # seconds until a condition is written again
_log = logging.getLogger(__name__)


def flow_control(
    stores: Mapping[tuple[str, str], GenericStore],
    hooks: Hooks,
    tasks: list[asyncio.Task[None]],
    now: Callable[[], datetime],
) -> None:
    """Add the hooks, where the kinds are served. `tasks`: those of the server."""
    if not {LEVELS, SCHEMAS} <= stores.keys():
        return

    async def keep() -> None:
        while True:
            await asyncio.sleep(PERIOD)
            try:
                await ensure_flow_control(stores, now)
            except APIError as error:
                _log.warning("flow schemas and priority levels could not be kept: %s", error)

    def begin(work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        tasks.append(asyncio.get_running_loop().create_task(work(), name=name))

    async def produce() -> None:
        await ensure_flow_control(stores, now)
        begin(keep, "flow schemas and priority levels")

    async def consume() -> None:
        begin(DanglingKeeper(stores, now, lambda: asyncio.sleep(_PAUSE)).run, "conditions of flow schemas")

    hooks.add(_PRODUCER, produce)
    hooks.add(_CONSUMER, consume)
