"""The watches of one cache: who is told of which change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from pilothouse.storage.api import Change, Deliver, Ended, prefix_end
from pilothouse.storage.dispatch import Dispatch
from pilothouse.storage.errors import StorageError

log = logging.getLogger("pilothouse.cache")


def watch_end(prefix: str) -> str:
    """The end of the range that a watch of a folder, or of one key, is about."""
    return prefix_end(prefix) if prefix.endswith("/") else prefix + "\0"


class CacheSubscription:
    """One watch. `since`: only later changes are delivered."""

    __slots__ = ("_closed", "_deliver", "_ended", "_since", "_watchers", "end", "start")

    def __init__(self, watchers: Watchers, prefix: str, since: int, deliver: Deliver, ended: Ended) -> None:
        self.start = prefix
        self.end = watch_end(prefix)
        self._since = since
        self._deliver = deliver
        self._ended = ended
        self._watchers = watchers
        self._closed = False

    @property
    def revision(self) -> int:
        return max(self._since, self._watchers.revision())

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._watchers.remove(self)

    def receive(self, changes: Sequence[Change]) -> None:
        if self._closed:
            return
        if changes[0].revision <= self._since:
            changes = [change for change in changes if change.revision > self._since]
            if not changes:
                return
        try:
            self._deliver(changes)
        except Exception:
            # A reader's bug must neither stop the writer nor be forgotten: this watch ends, the others go on.
            log.exception("a watch of %s failed to take its changes", self.start)
            self.finish(StorageError("the watch could not take its changes"))

    def finish(self, error: StorageError | None) -> None:
        if not self._closed:
            self.close()
            self._ended(error)


class Watchers:
    """`revision()`: how far the cache is."""

    __slots__ = ("_dispatch", "revision")

    def __init__(self, revision: Callable[[], int]) -> None:
        self.revision = revision
        self._dispatch: Dispatch[CacheSubscription] = Dispatch()

    def add(self, subscription: CacheSubscription) -> None:
        self._dispatch.add(subscription.start, subscription.end, subscription)

    def remove(self, subscription: CacheSubscription) -> None:
        self._dispatch.remove(subscription.start, subscription.end, subscription)

    def send(self, changes: Sequence[Change]) -> None:
        self._dispatch.send(changes, CacheSubscription.receive)

    def finish(self, error: StorageError | None) -> None:
        for subscription in self._dispatch.all():
            subscription.finish(error)

    def __len__(self) -> int:
        return len(self._dispatch.all())
