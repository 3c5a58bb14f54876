"""The recent changes of one prefix: enough to begin a watch, or to read the state, at a revision not long ago."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from pilothouse.kit.record import record
from pilothouse.storage.api import Change, StoredObject

OVERHEAD = 600  # bytes that a change costs beside the old version's value


@record
class HistoryLimits:
    """How much is kept: at least `fewest` changes, more while younger than `seconds`; never beyond the other two."""

    seconds: float = 100.0
    fewest: int = 100
    most: int = 4096
    most_bytes: int = 8 << 20
    fresh: int = 200  # changes whose shared forms (frames) are kept for watchers that are a little behind


class History:
    """Changes in order. `floor`: every change after this revision is held."""

    __slots__ = ("_changes", "_fresh", "_limits", "_size", "floor", "now")

    def __init__(self, floor: int, limits: HistoryLimits, now: Callable[[], float]) -> None:
        self.floor = floor
        self._limits = limits
        self.now = now
        self._changes: deque[tuple[Change, float, int]] = deque()
        self._fresh: deque[Change] = deque()
        self._size = 0

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def size(self) -> int:
        """Bytes held, about: the new versions are the cache's own anyway, so old values count."""
        return self._size

    def add(self, changes: Sequence[Change]) -> float:
        """When they came, by the clock."""
        now = self.now()
        append, fresh = self._changes.append, self._fresh
        for change in changes:
            previous = change.previous
            size = OVERHEAD if previous is None else OVERHEAD + len(previous.value)
            self._size += size
            append((change, now, size))
            fresh.append(change)
        while len(fresh) > self._limits.fresh:
            _drop_forms(fresh.popleft())
        self._trim(now)
        return now

    def _trim(self, now: float) -> None:
        limits, changes = self._limits, self._changes
        oldest = now - limits.seconds
        while changes and (
            len(changes) > limits.most
            or self._size > limits.most_bytes
            or (len(changes) > limits.fewest and changes[0][1] < oldest)
        ):
            change, _, size = changes.popleft()
            self._size -= size
            self.floor = change.revision

    def after(self, revision: int) -> list[Change]:
        """The changes after `revision`, which must not be below the floor; oldest first."""
        found = []
        for change, _, _ in reversed(self._changes):
            if change.revision <= revision:
                break
            found.append(change)
        found.reverse()
        return found

    def undone(self, revision: int) -> dict[str, StoredObject | None]:
        """What stood at `revision` for each key that has changed since (None: nothing)."""
        state: dict[str, StoredObject | None] = {}
        for change, _, _ in reversed(self._changes):
            if change.revision <= revision:
                break
            state[change.key] = change.previous
        return state


def _drop_forms(change: Change) -> None:
    """Forget encodings that hardly anyone will ask for again; they can be made anew from the bytes."""
    change.forms.clear()
    if change.previous is not None:
        change.previous.forms.clear()
