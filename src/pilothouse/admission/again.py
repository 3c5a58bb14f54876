"""The second round of what changes objects (Kubernetes documentation, "Dynamic Admission Control", "Reinvocation")."""

from __future__ import annotations

from pilothouse.admission.plugin import Rounds


class Again:
    """Who is asked in the second round: those that want it, if the object was changed after they were asked."""

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}  # asked already, and nothing has changed since
        self._due: set[str] = set()
        self._last = b""

    @classmethod
    def of(cls, rounds: Rounds, name: str) -> Again:
        found = rounds.kept.get(name)
        if not isinstance(found, Again):
            found = rounds.kept[name] = cls()
        return found

    def begin(self, obj: bytes) -> None:
        """The second round. Other plug-ins may have changed the object meanwhile."""
        if obj != self._last:
            self.changed()

    def end(self, obj: bytes) -> None:
        self._last = obj

    def changed(self) -> None:
        self._due.update(self._waiting)
        self._waiting.clear()

    def asked(self, identity: str) -> None:
        self._waiting[identity] = None

    def asks(self, identity: str) -> bool:
        return identity in self._due
