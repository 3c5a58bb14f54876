"""The whole contract of the store: what the registry may ask (`Storage`) and what a database must offer (`Engine`).

Everything is keys, bytes and one increasing revision. Nothing here knows what the bytes mean.
Errors are those of `pilothouse.storage.errors`, and no others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from enum import Enum
from typing import Any, Protocol

from pilothouse.kit.record import record
from pilothouse.storage.errors import StorageError

# That of an empty store, and the oldest that can be read. The first write gets the next one. It is not 1, because
# clients use 1 for "long ago" and expect to hear that this is forgotten.
FIRST_REVISION = 2


class StoredObject:
    """One version of one object: its key, its bytes and the revision at which they were written.

    Immutable but for `forms`, a scratch table in which upper rooms keep what they derived from the bytes (an index
    of labels, an encoded Table row), so that a form is made once and shared by every request and watcher.
    """

    __slots__ = ("forms", "key", "revision", "value")

    def __init__(self, key: str, value: bytes, revision: int) -> None:
        self.key = key
        self.value = value
        self.revision = revision
        self.forms: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"StoredObject({self.key!r}, {len(self.value)} bytes, revision={self.revision})"


class Change:
    """One write: `object` is the new version (None when deleted), `previous` the one before (None when created).

    `revision` is that of the write itself. `forms` is shared scratch, as in StoredObject (frames of watch events).
    """

    __slots__ = ("forms", "key", "object", "previous", "revision")

    def __init__(self, key: str, object: StoredObject | None, previous: StoredObject | None, revision: int) -> None:
        self.key = key
        self.object = object
        self.previous = previous
        self.revision = revision
        self.forms: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"Change({self.key!r}, revision={self.revision}, deleted={self.object is None})"


class Read(Enum):
    """How fresh a read must be (API concepts, "Resource versions")."""

    LATEST = "latest"  # linearizable
    ANY = "any"  # whatever is at hand
    AT_LEAST = "at least"  # not older than `revision`
    EXACT = "exact"  # the state at `revision`


@record
class ListRequest:
    """A list of the keys under `prefix` (which ends in "/"), in the order of the keys' bytes.

    `after`: continue with keys greater than or equal to this one. `limit`: 0 is no limit. `accept` is asked for each
    object, and what it refuses neither counts nor is returned. With a limit and no `accept` the page says how many
    objects remain. `same`: requests of one prefix with the same text here accept the same objects; "" says nothing.
    """

    prefix: str
    read: Read = Read.LATEST
    revision: int = 0
    after: str | None = None
    limit: int = 0
    accept: Callable[[StoredObject], bool] | None = None
    same: str = ""


@record
class Page:
    """`next_key`: where the next page starts (None at the end). `remaining`: None where it is not known. `looked`: how
    many objects were asked whether they are accepted.
    """

    items: Sequence[StoredObject]
    revision: int
    next_key: str | None = None
    remaining: int | None = None
    looked: int = 0


# (current object or None) -> new bytes. Runs again on every conflict, so it must be pure but for what it reads.
# Returning the current object's own bytes means "no change": nothing is written. It may raise; the error passes on.
Transform = Callable[[StoredObject | None], Awaitable[bytes]]
# Asked with the current object before a delete, again after each conflict. It may raise.
Check = Callable[[StoredObject], Awaitable[None]]
Deliver = Callable[[Sequence[Change]], None]
Ended = Callable[[StorageError | None], None]


class Subscription(Protocol):
    """A running watch. `close` may be called at any time, more than once; nothing is delivered after it."""

    @property
    def revision(self) -> int:
        """Every change up to this revision has been delivered (what a bookmark may say)."""
        ...

    def close(self) -> None: ...


class Storage(Protocol):
    """The objects under one prefix (`/registry/pods/`). All keys are full keys."""

    @property
    def prefix(self) -> str: ...

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        """Raises NotFound; TooLarge for AT_LEAST a revision that does not come in time."""
        ...

    async def list(self, request: ListRequest) -> Page:
        """Raises Compacted for a revision that history no longer holds, TooLarge for one that does not come in time."""
        ...

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        """Write a key that must not exist; durable once it returns. `ttl` in seconds. Raises Exists."""
        ...

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        """Read, transform and write until no other writer came between. A transform given None creates the key.

        Where the transform returns the bytes that are stored, the current object is returned and nothing is written.
        """
        ...

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        """Remove the key; the object as it was last, and the revision of the delete. Raises NotFound."""
        ...

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        """Deliver every change under `prefix` with a revision greater than `since`, in order, none twice.

        `prefix` is a folder (it ends in "/") or one whole key. `deliver` runs on the loop and must not block; what
        history holds may be delivered before this returns. `ended` comes at most once: None when the store closes,
        else why. Raises Compacted where `since` is older than history. A `since` in the future delivers from there on.
        """
        ...

    async def revision(self) -> int:
        """The newest revision of the whole store, linearizable."""
        ...


@record
class KeyValue:
    key: str
    value: bytes
    revision: int


@record
class Range:
    """`count`: how many keys the whole range holds, whatever the limit. `revision`: of the whole store at the read."""

    items: Sequence[KeyValue]
    count: int
    revision: int


@record
class Outcome:
    """Of a conditional write. `current`: where it did not succeed, what stood there (None: nothing).

    Where a delete succeeded, `current` is what it removed.
    """

    succeeded: bool
    revision: int
    current: KeyValue | None = None


@record
class EngineEvent:
    """`value` None: deleted. `previous`: the version before, None where there was none."""

    key: str
    value: bytes | None
    previous: KeyValue | None
    revision: int


DeliverEvents = Callable[[Sequence[EngineEvent]], None]


class EngineSubscription(Subscription, Protocol):
    """A running watch of an engine, which can also be waited for."""

    async def reach(self, revision: int) -> None:
        """Return once every change up to `revision` has been delivered, however long that takes."""
        ...


class Engine(Protocol):
    """All that a database must offer. An acknowledged write is durable."""

    @property
    def shared(self) -> bool:
        """Whether other processes write here too, so that events may come later than `revision()` tells of them."""
        ...

    async def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0) -> Range:
        """Keys in [start, end) in byte order, at `revision` (0: now, linearizable). Raises Compacted, TooLarge."""
        ...

    async def put_if(self, key: str, value: bytes, expected: int, *, ttl: float | None = None) -> Outcome:
        """Write if the key's revision is `expected` (0: it must not exist)."""
        ...

    async def delete_if(self, key: str, expected: int) -> Outcome:
        """Remove if the key's revision is `expected`."""
        ...

    async def watch(
        self, start: str, end: str, since: int, deliver: DeliverEvents, ended: Ended, *, previous: bool = True
    ) -> EngineSubscription:
        """As Storage.watch, over a range of keys. Events of a write are delivered before that write is acknowledged.

        A reader that knows what was there before (a cache) says `previous=False`: its events may lack `previous`.
        What history holds may be delivered before this returns.
        """
        ...

    async def revision(self) -> int: ...

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`: reads and watches from below it raise Compacted."""
        ...

    async def close(self) -> None: ...


def prefix_end(prefix: str) -> str:
    """The first key after all keys that begin with `prefix` (which ends in "/", so "0" follows)."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
