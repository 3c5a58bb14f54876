"""Entries of metadata.managedFields: reading, ordering, capping and writing them.

An entry that does not change is passed through as the dict it came in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.typed import fieldsv1
from pilothouse.machinery.typed.fieldset import Node, union, union_of

APPLY: Final = "Apply"
UPDATE: Final = "Update"
MAX_UPDATERS: Final = 10
ANCIENT: Final = "ancient-changes"  # who gets the fields of the oldest updaters when there are too many


@record
class Entry:
    """One manager's fields. `time`: RFC 3339 in whole seconds, or "" for none. `raw`: the entry as it came, while it
    is true.
    """

    manager: str
    operation: str
    api_version: str
    subresource: str
    time: str
    fields: Node
    raw: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Who it is: an applier is the same in every version, an updater is not."""
        return (self.manager, self.operation, self.subresource, "" if self.operation == APPLY else self.api_version)

    def owning(self, fields: Node) -> Entry:
        """The entry with other fields, at the same time."""
        if fields is self.fields:
            return self
        return Entry(self.manager, self.operation, self.api_version, self.subresource, self.time, fields)

    def render(self) -> dict[str, Any]:
        """As it stands in metadata.managedFields, fields in the original's order."""
        if self.raw is not None:
            return self.raw
        shown: dict[str, Any] = {"manager": self.manager} if self.manager else {}
        shown["operation"] = self.operation
        shown["apiVersion"] = self.api_version
        if self.time:
            shown["time"] = self.time
        shown["fieldsType"] = "FieldsV1"
        shown["fieldsV1"] = self.fields
        if self.subresource:
            shown["subresource"] = self.subresource
        return shown


def read(entries: Any, *, trusted: bool) -> list[Entry]:
    """The entries of a managedFields list. `trusted`: this server wrote them, so their fields are taken as they are.

    Raises ValueError when one of them makes no sense: then all of them are worth nothing.
    """
    found: dict[tuple[str, str, str, str], Entry] = {}
    for raw in entries or ():
        operation, version = raw.get("operation"), raw.get("apiVersion")
        if operation not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not version:
            raise ValueError("apiVersion must not be empty")
        if raw.get("fieldsType") != "FieldsV1":
            raise ValueError("invalid fieldsType")
        value = raw.get("fieldsV1")
        fields = (value or {}) if trusted else fieldsv1.read(value)
        entry = Entry(
            raw.get("manager") or "",
            operation,
            version,
            raw.get("subresource") or "",
            raw.get("time") or "",
            fields,
            raw if trusted else None,
        )
        found[entry.key] = entry
    return list(found.values())


def is_reset(entries: Any) -> bool:
    """`[]` and `[{}]` say: forget who owns what."""
    return isinstance(entries, list) and (not entries or (len(entries) == 1 and not entries[0]))


def _order(entry: Entry) -> tuple[str, str, str, str, str]:
    return (entry.operation, entry.time, entry.manager, entry.api_version, entry.subresource)


def write(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The list to store: appliers before updaters, then by time, manager, version and subresource; nothing that owns
    nothing.
    """
    return [entry.render() for entry in sorted([entry for entry in entries if entry.fields], key=_order)]


def capped(entries: list[Entry], limit: int = MAX_UPDATERS) -> list[Entry]:
    """At most `limit` updaters: the oldest of a version are merged into one entry, `ancient-changes`, with the time of
    the last of them. As in the original, an older updater stays beside that entry where there is one already, and the
    entry goes when it is its turn to be merged.
    """
    updaters = [entry for entry in entries if entry.operation == UPDATE]
    too_many = len(updaters) - limit
    if too_many <= 0:
        return entries
    updaters.sort(key=lambda entry: (entry.time, f'{entry.manager}"', entry.api_version, entry.subresource))
    buckets = {entry.api_version: entry for entry in updaters if entry.manager == ANCIENT and not entry.subresource}
    first: dict[str, Entry] = {}  # the oldest entry of each version
    gone: set[int] = set()
    merged: dict[str, Entry] = {}
    sets: dict[str, list[Node]] = {}  # what each of these is made of
    for entry in updaters:
        if too_many <= 0:
            break
        version = entry.api_version
        if version not in first:
            first[version] = entry
            continue
        bucket = buckets.pop(version, first[version])
        gone.add(id(entry))
        too_many -= 1
        if bucket is not entry:
            gone.add(id(bucket))
            sets.setdefault(version, [bucket.fields]).append(entry.fields)
            buckets[version] = merged[version] = Entry(ANCIENT, UPDATE, version, "", entry.time, {})
    ancient = [entry.owning(union_of(sets[version])) for version, entry in merged.items()]
    return [entry for entry in entries if id(entry) not in gone] + ancient


def joined(entries: list[Entry], mine: Entry) -> list[Entry]:
    """The entries with `mine`, which takes the fields of its own earlier entry along."""
    rest = []
    for entry in entries:
        if entry.key == mine.key:
            mine = mine.owning(union(entry.fields, mine.fields))
        else:
            rest.append(entry)
    rest.append(mine)
    return rest
