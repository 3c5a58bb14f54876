"""Create, update and delete over an engine's conditional writes, with the retries that conflicts ask for.

Shared by the plain storage and the cache, which differ only in where the first object to try comes from.
"""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.storage.api import Check, Engine, KeyValue, StoredObject, Transform
from pilothouse.storage.errors import Conflict, Exists, NotFound

# Each lost race means that another writer won one, so only a crowd on one key comes near this.
MOST_TRIES = 200

ToObject = Callable[[KeyValue], StoredObject]


async def write_new(engine: Engine, key: str, value: bytes, ttl: float | None) -> int:
    """Create a key that must not exist; its revision. Raises Exists."""
    outcome = await engine.put_if(key, value, 0, ttl=ttl)
    if not outcome.succeeded:
        raise Exists(key)
    return outcome.revision


async def update_object(
    engine: Engine, key: str, current: StoredObject | None, transform: Transform, ttl: float | None, to_object: ToObject
) -> StoredObject:
    """Transform and write, beginning with `current`, until no other writer came between. Raises Conflict."""
    for _ in range(MOST_TRIES):
        value = await transform(current)
        if current is not None and (value is current.value or value == current.value):
            return current
        outcome = await engine.put_if(key, value, 0 if current is None else current.revision, ttl=ttl)
        if outcome.succeeded:
            return StoredObject(key, value, outcome.revision)
        current = None if outcome.current is None else to_object(outcome.current)
    raise Conflict(key)


async def delete_object(
    engine: Engine, key: str, current: StoredObject | None, check: Check | None, to_object: ToObject
) -> tuple[StoredObject, int]:
    """Check and delete, beginning with `current`, until no other writer came between. Raises NotFound, Conflict."""
    for _ in range(MOST_TRIES):
        if current is None:
            raise NotFound(key)
        if check is not None:
            await check(current)
        outcome = await engine.delete_if(key, current.revision)
        if outcome.succeeded:
            return current, outcome.revision
        current = None if outcome.current is None else to_object(outcome.current)
    raise Conflict(key)
