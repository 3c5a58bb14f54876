"""Who owns the fields of a big changed object is found out when the object is known to be good.

That takes as long as to decode it, and what is refused needs no owners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pilothouse.endpoints.body import written
from pilothouse.endpoints.scope import Scope
from pilothouse.kit.aside import HEAVY
from pilothouse.machinery import jsonpieces
from pilothouse.registry.managed.objects import managed_fields, with_entries
from pilothouse.registry.managed.tracker import Applied
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.storage.api import StoredObject

Make = Callable[[Object], Object]  # the present object -> the changed one, both in the request's version


def _may_wait(scope: Scope, write: Write, operation: str) -> bool:
    """Whether nobody asks for owners before the object is known to be good."""
    return scope.version == scope.resource.hub and not scope.store.services.admission.judges(operation, write)


class Owners:
    """Of the objects that one write makes, again and again where it conflicts with others.

    Nobody may ask for owners before: they are found out later only where no admission looks at the object.
    """

    def __init__(self, scope: Scope, write: Write, make: Make) -> None:
        self._scope = scope
        self._write = write
        self._make = make
        self._last: tuple[Object, Object, bytes] | None = None  # before, after, and how that was written
        self._later = _may_wait(scope, write, "UPDATE")
        self._new: bytes | None = None  # how an object was written that is new

    def created(self, obj: Object) -> Object:
        """The hub object of one that was sent and finds none of its name, with its owners or for now without."""
        scope, write = self._scope, self._write
        self._new = write.load.text if _may_wait(scope, write, "CREATE") else None
        return scope.body.to_hub(scope.owner.created(obj, write) if self._new is None else with_entries(obj, []))

    def changed(self, old: Object) -> Object:
        """The hub object that the write makes of `old`, with its owners; or for now with those of `old`."""
        scope, write = self._scope, self._write
        before = scope.body.from_hub(old)
        obj = self._make(before)
        entries = managed_fields(before)
        sent = managed_fields(obj)  # none leave those that are there
        later = self._later and write.load.size >= HEAVY and (sent is None or sent == entries)
        text = written(obj) if later else None
        if text is None:
            self._last = None
            return scope.body.to_hub(scope.owner.updated(obj, before, write))
        self._last = before, obj, text
        own = {**obj, "metadata": dict(obj["metadata"])}
        return scope.body.to_hub(with_entries(own, entries or []))

    def found(self, current: StoredObject | None) -> list[dict[str, Any]] | None:
        """managedFields of the last object; None where it has them already. `current`: what it was made of."""
        if current is None and self._new is not None:
            return managed_fields(self._scope.owner.created(jsonpieces.loads(self._new), self._write)) or []
        if self._last is None or current is None:
            return None
        before, obj, text = self._last
        if written(obj) != text:  # parts of it were changed since
            before = self._scope.body.from_hub(self._scope.store.codec.decode(current))
            obj = self._make(before)
        return managed_fields(self._scope.owner.updated(obj, before, self._write)) or []


class AppliedOwners:
    """Of the objects that one apply makes, as `Owners` are of those of another write."""

    def __init__(self, scope: Scope, write: Write) -> None:
        self._scope = scope
        self._write = write
        self._last: tuple[Applied, Object, bytes] | None = None  # the configuration, and how it was written

    def changed(self, found: Applied, config: Object, make: Make, *, new: bool) -> Object:
        """The hub object that comes of a configuration, with its owners, or for now without.

        `make` makes the object of what was merged, and may refuse it. `new`: there was none before.
        """
        scope, write = self._scope, self._write
        text = written(config) if write.load.size >= HEAVY else None
        entries = found.owners(config) if text is None else None  # small, or too deep to have owners
        obj = make(found.obj)
        self._last = None if text is None else (found, config, text)
        if scope.store.services.admission.judges("CREATE" if new else "UPDATE", write):
            entries, self._last = entries or self.found(), None
        return scope.body.to_hub(with_entries(obj, entries or []))

    def found(self, current: StoredObject | None = None) -> list[dict[str, Any]] | None:
        """managedFields of the last object; None where it has them already."""
        if self._last is None:
            return None
        found, config, text = self._last
        # The object shares parts with the configuration, and they may have been changed since.
        return found.owners(config if written(config) == text else jsonpieces.loads(text))
