"""What a change means to a watcher of a selection: an object that enters it is ADDED, one that leaves it is DELETED
(API concepts, "Efficient detection of changes"). Shared between all watchers of the same selection.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.registry.reader import Selection
from pilothouse.storage.api import Change, StoredObject

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
Event = tuple[str, StoredObject]
_NOTHING: Final[Any] = object()


def event_of(change: Change, selection: Selection) -> Event | None:
    """The event that watchers of `selection` see, None where they see nothing."""
    if selection.accept is None:
        if change.object is None:
            return DELETED, _last_state(change)
        return (MODIFIED if change.previous is not None else ADDED), change.object
    known: Event | None = change.forms.get(selection.text, _NOTHING)
    if known is _NOTHING:
        known = change.forms[selection.text] = _filtered(change, selection)
    return known


def _filtered(change: Change, selection: Selection) -> Event | None:
    accept = selection.accept
    assert accept is not None
    new, old = change.object, change.previous
    is_in = new is not None and accept(new)
    was_in = old is not None and accept(old)
    if is_in:
        assert new is not None
        return (MODIFIED if was_in else ADDED), new
    return (DELETED, _last_state(change)) if was_in else None


def _last_state(change: Change) -> StoredObject:
    """The object as it was before, with the revision of the change that ended it for the watcher."""
    gone: StoredObject | None = change.forms.get("gone")
    if gone is None:
        assert change.previous is not None
        gone = change.forms["gone"] = StoredObject(change.key, change.previous.value, change.revision)
    return gone
