"""The options of reads and writes as small frozen types, parsed once at the edge (API reference, "Operations").

`Write` is what every step of a create, update or delete knows of its request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from pilothouse.kit.memo import RARE
from pilothouse.kit.record import record
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.unordered import Unordered, put_all_in_order
from pilothouse.registry.behaviour import Context

Object = dict[str, Any]


@record
class Caller:
    """Who asks, as authentication found."""

    name: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(slots=True)
class Load:
    """How many bytes a write works on: its body's, or the stored object's where that is bigger. Big ones go aside.

    `empty`: lists that the body had as `[]`, of those that the kind heeds. `floats`: members of a custom object in
    which whole numbers came as floats (`3.0`). `text`: the JSON of a big object as it was read, with its defaults.
    `unordered`: long maps that are not by key so far; they are to be put in order if the object is good.
    """

    size: int = 0
    empty: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    text: bytes | None = None
    unordered: Unordered = field(default_factory=list)

    def put_in_order(self, obj: Object) -> None:
        """What is kept or shown has its maps in order."""
        if self.unordered:
            self.unordered.clear()
            put_all_in_order(obj)

    def at_least(self, size: int) -> None:
        if size > self.size:
            self.size = size


Decode = Callable[[Object], Object]
"""The object of a type that a value is. Raises DecodeError."""


def _nothing_sent() -> Object:
    return {}


def _unheard(name: str, value: str) -> None:
    """Nobody keeps notes of this write."""


@record
class Write:
    """One write. `version` is that of the request; `manager` owns what it changes; `warn` collects Warning headers.

    `sent` gives the members of the options as they were sent, for who is told of them. `note` keeps a name and a text
    for the audit log. `judged`: webhooks and policies have seen it already, in the shape of the subresource.
    `collection`: one of many that a request deletes. `verb`: as authorizers know it.
    """

    namespace: str
    name: str
    version: str
    now: datetime
    warn: Callable[[str], None]
    subresource: str = ""
    caller: Caller = field(default_factory=Caller)
    manager: str = ""
    dry_run: bool = False
    allow_privileged: bool = True
    field_validation: str = "Warn"
    load: Load = field(default_factory=Load)
    service_families: tuple[str, ...] = ("IPv4",)
    sent: Callable[[], Object] = _nothing_sent
    note: Callable[[str, str], None] = _unheard
    judged: bool = False
    collection: bool = False
    verb: str = "update"

    def context(self) -> Context:
        return Context(
            self.namespace,
            self.name,
            self.subresource,
            self.caller.name,
            self.caller.groups,
            self.now,
            self.dry_run,
            self.allow_privileged,
            self.caller.uid,
            self.caller.extra,
            self.service_families,
            self.version,
            self.load.empty,
            self.load.size >= RARE,
            self.warn,
        )


@record
class ListOptions:
    """`resource_version` None: not given. `continue_token`, `limit` as the API concepts page defines;
    `match` is resourceVersionMatch.
    """

    label_selector: str = ""
    field_selector: str = ""
    resource_version: int | None = None
    match: str = ""
    limit: int = 0
    continue_token: str = ""
    name: str = ""


@record
class DeleteOptions:
    """`grace_seconds` None: the kind's own. `policy` of Orphan, Background, Foreground or "" for the kind's own."""

    grace_seconds: int | None = None
    policy: str = ""
    orphan_dependents: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False
    ignore_read_errors: bool = False


class Admission(Protocol):
    """The plug-in chain as the store sees it. `operation` is CREATE, UPDATE or DELETE; both may raise an APIError."""

    async def mutate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        """May change `obj` in place."""
        ...

    async def validate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None: ...

    def judges(self, operation: str, write: Write) -> bool:
        """Whether `mutate_part` or `validate_part` have anything to do."""
        ...

    def asks_elsewhere(self, operation: str, write: Write) -> bool:
        """Whether a webhook may be asked about such a write, so that it takes its time."""
        ...

    async def mutate_part(self, operation: str, obj: Object, old: Object | None, write: Write, decode: Decode) -> None:
        """The same for the object of a subresource that has a shape of its own: Scale, Binding, Eviction, a review.

        `decode` makes such an object of what a plug-in made of it.
        """
        ...

    async def validate_part(self, operation: str, obj: Object, old: Object | None, write: Write) -> None: ...


class NoAdmission:
    """Everything is admitted."""

    async def mutate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        return

    async def validate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        return

    def judges(self, operation: str, write: Write) -> bool:
        return False

    def asks_elsewhere(self, operation: str, write: Write) -> bool:
        return False

    async def mutate_part(self, operation: str, obj: Object, old: Object | None, write: Write, decode: Decode) -> None:
        return

    async def validate_part(self, operation: str, obj: Object, old: Object | None, write: Write) -> None:
        return


Causes = list[Cause]
