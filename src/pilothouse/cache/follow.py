"""Follows what a store holds: all that is there, then each change, in this process and without HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.storage.api import Change, ListRequest, Storage, StoredObject
from pilothouse.storage.errors import StorageError

Changed = Callable[[str, StoredObject | None], None]  # key, None: it is gone
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0
_log = logging.getLogger(__name__)


class Follower:
    """Tells `changed` of every object of a storage. `run` never ends by itself."""

    def __init__(self, storage: Storage, changed: Changed) -> None:
        self._storage = storage
        self._changed = changed
        self._known: set[str] = set()
        self.synced = asyncio.Event()  # all that was there was told

    async def run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._follow()
                pause = _FIRST_PAUSE
            except StorageError as error:
                _log.warning("%s cannot be followed, next try in %.2f s: %s", self._storage.prefix, pause, error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _follow(self) -> None:
        """List, then pass on changes until the watch ends. Raises StorageError."""
        ended: asyncio.Future[StorageError | None] = asyncio.get_running_loop().create_future()

        def end(error: StorageError | None) -> None:
            if not ended.done():
                ended.set_result(error)

        page = await self._storage.list(ListRequest(self._storage.prefix))
        found = {item.key: item for item in page.items}
        for key in self._known - found.keys():
            self._tell(key, None)
        for key, item in found.items():
            self._tell(key, item)
        subscription = await self._storage.watch(self._storage.prefix, page.revision, self._deliver, end)
        self.synced.set()
        try:
            error = await ended
        finally:
            subscription.close()
        if error is not None:
            raise error

    def _deliver(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._tell(change.key, change.object)

    def _tell(self, key: str, item: StoredObject | None) -> None:
        if item is None:
            self._known.discard(key)
        else:
            self._known.add(key)
        self._changed(key, item)
