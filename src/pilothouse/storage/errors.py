"""What can go wrong in a store, in words that know nothing of HTTP or Kubernetes. `registry/` translates them."""

from __future__ import annotations


class StorageError(Exception):
    """Base of all errors that a store raises."""


class NotFound(StorageError):
    def __init__(self, key: str) -> None:
        super().__init__(f"{key}: not found")
        self.key = key


class Exists(StorageError):
    def __init__(self, key: str) -> None:
        super().__init__(f"{key}: exists already")
        self.key = key


class Conflict(StorageError):
    """Other writers came first, again and again."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key}: changed by another writer")
        self.key = key


class Compacted(StorageError):
    """History no longer reaches back to the revision that was asked for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"revision {asked} is compacted, the oldest is {oldest}")
        self.asked = asked
        self.oldest = oldest


class TooLarge(StorageError):
    """The revision that was asked for did not come in time."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(f"revision {asked} is in the future, the newest is {current}")
        self.asked = asked
        self.current = current


class ValueTooLarge(StorageError):
    """The value exceeds what the database takes."""


class Unavailable(StorageError):
    """The database did not answer, or its disk is full; nothing was written. Trying again may help."""


class Corrupt(StorageError):
    """What is stored can't be read, or the file is not ours."""
