"""What a kind's own file may say about it; everything left out follows the table of facts and the generic store.

The generic store asks these functions at fixed points of a write (docs/architecture.md, "A write, step by step"):
defaults on decode, prepare before admission, validate after it. All work on the hub version's JSON form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from pilothouse.kit.record import record
from pilothouse.machinery.errors import Cause

Object = dict[str, Any]


def _unheard(text: str) -> None:
    """Nobody listens to warnings."""


@record
class Context:
    """What a decision may know of the request beside the objects. `allow_privileged` and the like are server
    settings. `warn` tells the client something that is no reason to refuse.
    """

    namespace: str
    name: str
    subresource: str
    user: str
    groups: tuple[str, ...]
    now: datetime
    dry_run: bool
    allow_privileged: bool = True
    uid: str = ""  # of the user
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    service_families: tuple[str, ...] = ("IPv4",)  # of the cluster's addresses, its own first
    version: str = ""  # of the request
    empty: frozenset[str] = frozenset()  # see Behaviour.heeds_empty
    big: bool = False  # what is written is so long that it hardly ever comes again
    warn: Callable[[str], None] = _unheard


Defaults = Callable[[Object], None]  # in place
Prepare = Callable[[Object, "Object | None", Context], None]  # (new, old or None on create), in place
Validate = Callable[[Object, "Object | None", Context], Sequence[Cause]]  # (new, old or None on create)
Warn = Callable[[Object, "Object | None"], Sequence[str]]


@record
class Part:
    """A subresource that writes a part of the object (status, ephemeralcontainers, resize, approval, ...).

    `prepare` must put back all that this subresource does not write (the generic store already keeps metadata as the
    table of facts says).
    """

    prepare: Prepare | None = None
    validate: Validate | None = None
    warn: Warn | None = None


@record
class Behaviour:
    """`prepare` resets what a client may not set (status on create, dropped fields of closed gates), after the
    generic metadata rules.

    `validate` runs after the generic check of metadata. `generation` says whether an update raises the generation;
    None leaves it to the table of facts (spec changed). `heeds_empty`: paths of lists of which the rules want to know
    whether they were sent as `[]`, which no decoded object tells; the context has those that were. `effort` says how
    many bytes of usual JSON are as much work as validation of an object of so many bytes. `default_grace` and
    `orphan_by_default` are for deletes; `grace` computes a pod's.
    """

    defaults: Defaults | None = None
    prepare: Prepare | None = None
    validate: Validate | None = None
    warn: Warn | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)
    generation: Callable[[Object, Object], bool] | None = None
    heeds_empty: tuple[str, ...] = ()
    effort: Callable[[int], int] | None = None
