"""The objects of one prefix in memory, in the order of their keys, and how pages are cut out of them. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from sortedcontainers import SortedList

from pilothouse.storage.api import Change, EngineEvent, KeyValue, ListRequest, Page, StoredObject, prefix_end


class Contents:
    """`objects` by key. All of them as a list is made once and shared by all readers until something changes."""

    __slots__ = ("_all", "_folders", "_keys", "_prefix", "objects")

    def __init__(self, prefix: str, items: Sequence[KeyValue]) -> None:
        self._prefix = prefix
        self.objects = {item.key: StoredObject(item.key, item.value, item.revision) for item in items}
        self._keys: SortedList[str] = SortedList(self.objects)
        self._all: list[StoredObject] | None = None

    def __len__(self) -> int:
        return len(self.objects)

    def take(self, event: EngineEvent) -> Change:
        """Apply an event; the change that it made."""
        key = event.key
        previous = self.objects.get(key)
        self._all = None
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
        return Change(key, current, previous, event.revision)

    def page(self, request: ListRequest, revision: int) -> Page:
        """A page of the present state, which is that of `revision`."""
        if request.prefix == self._prefix and not request.after:
            items = self._everything()
        else:
            items = self._slice(request.prefix, request.after)
        return cut_page(items, request, revision)

    def past_page(self, request: ListRequest, revision: int, undone: dict[str, StoredObject | None]) -> Page:
        """A page of the state at `revision`, where `undone` is what stood there for all keys that changed since."""
        start, end = max(request.prefix, request.after or ""), prefix_end(request.prefix)
        items = [item for item in self._slice(request.prefix, request.after) if item.key not in undone]
        items.extend(item for key, item in undone.items() if item is not None and start <= key < end)
        items.sort(key=_key)
        return cut_page(items, request, revision)

    def _everything(self) -> list[StoredObject]:
        if self._all is None:
            objects = self.objects
            self._all = [objects[key] for key in self._keys]
        return self._all

    def _slice(self, prefix: str, after: str | None) -> list[StoredObject]:
        objects = self.objects
        start = max(prefix, after or "")
        return [objects[key] for key in self._keys.irange(start, prefix_end(prefix), (True, False))]


def _key(item: StoredObject) -> str:
    return item.key


def cut_page(items: Sequence[StoredObject], request: ListRequest, revision: int) -> Page:
    """The page of `items`, which are all that the request's range holds."""
    accept, limit = request.accept, request.limit
    if accept is None:
        if not limit or len(items) <= limit:
            return Page(items, revision)
        return Page(items[:limit], revision, items[limit - 1].key + "\0", len(items) - limit)
    if not limit:
        return Page([item for item in items if accept(item)], revision)
    chosen: list[StoredObject] = []
    for position, item in enumerate(items, 1):
        if accept(item):
            chosen.append(item)
            if len(chosen) == limit:
                more = position < len(items)
                return Page(chosen, revision, item.key + "\0" if more else None)
    return Page(chosen, revision)
