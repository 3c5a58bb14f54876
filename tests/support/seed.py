"""Puts many objects into a store before its server starts: faster than asking for each."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from pilothouse.storage.engines.sqlite import SqliteEngine

_AT_ONCE = 2000


def config_map(namespace: str, name: str, number: int, size: int) -> bytes:
    """As the store holds it: `size` characters of data; label half is a or b, label number is its own."""
    document = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"00000000-0000-4000-8000-{number:012x}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"half": "ab"[number % 2], "number": str(number)},
        },
        "data": {"text": "x" * size},
    }
    return json.dumps(document, separators=(",", ":")).encode()


def seed(data: Path, namespace: str, count: int, size: int) -> None:
    """`count` ConfigMaps named c-0, c-1, ... of `size` characters each, into the store below `data`. No server runs."""
    asyncio.run(_seed(data, namespace, count, size))


async def _seed(data: Path, namespace: str, count: int, size: int) -> None:
    engine = await SqliteEngine.open(str(data / "store.db"))
    engine.start()
    try:
        for start in range(0, count, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, count))
            puts = [
                engine.put_if(
                    f"/registry/configmaps/{namespace}/c-{number}",
                    config_map(namespace, f"c-{number}", number, size),
                    0,
                )
                for number in numbers
            ]
            assert all(outcome.succeeded for outcome in await asyncio.gather(*puts))
    finally:
        await engine.close()
