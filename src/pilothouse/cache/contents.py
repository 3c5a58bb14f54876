"""The objects of one prefix in memory, in the order of their keys, and how pages are cut out of them. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from sortedcontainers import SortedList

from pilothouse.storage.api import Change, EngineEvent, KeyValue, ListRequest, Page, StoredObject, prefix_end

FOLDERS = 64  # lists of folders that are kept; beyond that all of them are made anew


class Contents:
    """`objects` by key; `size`: bytes of all of them. A whole list, once made, is shared by all readers until something
    in it changes.
    """

    __slots__ = ("_keys", "_lists", "_prefix", "objects", "size")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.objects: dict[str, StoredObject] = {}
        self.size = 0
        self._keys: SortedList[str] = SortedList()
        self._lists: dict[str, list[StoredObject]] = {}  # of the prefix and of folders (namespaces) in it

    def add(self, items: Sequence[KeyValue]) -> None:
        """More objects, while loading."""
        self.objects.update((item.key, StoredObject(item.key, item.value, item.revision)) for item in items)
        self._keys.update(item.key for item in items)
        self.size += sum(len(item.value) for item in items)

    def __len__(self) -> int:
        return len(self.objects)

    def take(self, event: EngineEvent) -> Change:
        """Apply an event; the change that it made."""
        key = event.key
        previous = self.objects.get(key)
        self._forget_lists(key)
        if previous is not None:
            self.size -= len(previous.value)
        if event.value is None:
            current = None
            if previous is not None:
                del self.objects[key]
                self._keys.remove(key)
        else:
            current = StoredObject(key, event.value, event.revision)
            if previous is None:
                self._keys.add(key)
            self.objects[key] = current
            self.size += len(event.value)
        return Change(key, current, previous, event.revision)

    def within(self, request: ListRequest) -> list[StoredObject]:
        """All that the request's range holds, accepted or not; not to be changed."""
        if request.after and request.after > request.prefix:
            return self._slice(request.prefix, request.after)
        return self._whole(request.prefix)

    def past(self, request: ListRequest, undone: dict[str, StoredObject | None]) -> list[StoredObject]:
        """The same in a past state, where `undone` is what stood there for all keys that changed since."""
        start, end = max(request.prefix, request.after or ""), prefix_end(request.prefix)
        items = [item for item in self._slice(request.prefix, request.after) if item.key not in undone]
        items.extend(item for key, item in undone.items() if item is not None and start <= key < end)
        items.sort(key=_key)
        return items

    def _whole(self, prefix: str) -> list[StoredObject]:
        items = self._lists.get(prefix)
        if items is None:
            items = self._slice(prefix, None)
            if prefix == self._prefix or prefix == self._folder(prefix):
                if len(self._lists) > FOLDERS:
                    self._lists.clear()
                self._lists[prefix] = items
        return items

    def _forget_lists(self, key: str) -> None:
        if self._lists:
            self._lists.pop(self._prefix, None)
            self._lists.pop(self._folder(key), None)

    def _folder(self, key: str) -> str:
        """The folder right below the prefix in which `key` lies; "" where it lies in the prefix itself."""
        return key[: key.find("/", len(self._prefix)) + 1]

    def _slice(self, prefix: str, after: str | None) -> list[StoredObject]:
        objects = self.objects
        start = max(prefix, after or "")
        return [objects[key] for key in self._keys.irange(start, prefix_end(prefix), (True, False))]


def _key(item: StoredObject) -> str:
    return item.key


def cut_page(items: Sequence[StoredObject], limit: int, revision: int) -> Page:
    """The first `limit` (0: all) of the objects of a range."""
    if not limit or len(items) <= limit:
        return Page(items, revision)
    return Page(items[:limit], revision, items[limit - 1].key + "\0", len(items) - limit)
