"""Pods that wait for a node that does not exist: nobody will ever say that they have stopped.

In a cluster the collector of pods removes them. Here they would hold their namespace for ever, as most servers of this
kind have no nodes at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pilothouse.controllers.client import METADATA, LoopbackClient, Refusal
from pilothouse.controllers.streams import Object
from pilothouse.machinery.times import parse_time


async def remove_abandoned(client: LoopbackClient, collection: str, pods: Iterable[Object], now: datetime) -> bool:
    """Remove those whose time to stop is over. True where there were some. Raises Refusal."""
    nodes: dict[str, bool] = {}
    removed = False
    for pod in pods:
        metadata, node = pod["metadata"], (pod.get("spec") or {}).get("nodeName")
        ends = metadata.get("deletionTimestamp")
        if not node or not ends or parse_time(ends) > now or metadata.get("finalizers"):
            continue
        if node not in nodes:
            nodes[node] = await _exists(client, f"/api/v1/nodes/{node}")
        if not nodes[node]:
            await _remove(client, f"{collection}/{metadata['name']}", metadata["uid"])
            removed = True
    return removed


async def _exists(client: LoopbackClient, path: str) -> bool:
    try:
        await client.get(path, accept=METADATA)
    except Refusal as refusal:
        if refusal.not_found:
            return False
        raise
    return True


async def _remove(client: LoopbackClient, path: str, uid: str) -> None:
    try:
        await client.delete(path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
    except Refusal as refusal:
        if not (refusal.not_found or refusal.conflict):
            raise
