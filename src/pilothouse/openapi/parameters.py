"""Parameters of operations, from `data/parameters.json`, and which operation takes which."""

from __future__ import annotations

import importlib.resources
from functools import cache
from typing import Any, Final

import orjson

from pilothouse.kit.record import record

_LIST: Final = (
    "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
    "resourceVersionMatch", "sendInitialEvents", "shardSelector", "timeoutSeconds", "watch",
)  # fmt: skip
_DELETE: Final = (
    "dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
    "propagationPolicy",
)  # fmt: skip
_NOT_FOR_COLLECTIONS: Final = frozenset({"allowWatchBookmarks", "watch"})
SETS: Final = {
    "list": _LIST,
    "read": ("resourceVersion",),
    "write": ("dryRun", "fieldManager", "fieldValidation"),
    "patch": ("dryRun", "fieldManager/patch", "fieldValidation", "force"),
    "delete": _DELETE,
    "deletecollection": (*_DELETE, *(name for name in _LIST if name not in _NOT_FOR_COLLECTIONS)),
}


@record
class Parameter:
    """One parameter.

    `place`: "query" or "path". `ref`: its name among the shared ones of the Swagger document, or "".
    """

    name: str
    place: str
    type: str
    description: str
    required: bool = False
    ref: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Sorts as the original does, and says which parameters of two operations are the same."""
        return self.name, self.place


def name_of(kind: str) -> Parameter:
    """The `{name}` in a path."""
    return Parameter("name", "path", "string", f"name of the {kind}", required=True)


@record
class Table:
    """`shared` by name, `options` by the kind of connect options, `bodies`: definition -> shared body parameter."""

    shared: dict[str, Parameter]
    options: dict[str, tuple[Parameter, ...]]
    bodies: dict[str, str]

    def set(self, name: str) -> tuple[Parameter, ...]:
        """One of SETS."""
        return tuple(self.shared[parameter] for parameter in SETS[name])


def _parameter(row: dict[str, Any]) -> Parameter:
    return Parameter(
        row["name"], row["in"], row["type"], row["description"], row.get("required", False), row.get("ref", "")
    )


@cache
def table() -> Table:
    """The table, read once (20 kB)."""
    rows = orjson.loads((importlib.resources.files("pilothouse.openapi") / "data/parameters.json").read_bytes())
    return Table(
        shared={name: _parameter(row) for name, row in rows["shared"].items()},
        options={kind: tuple(map(_parameter, found)) for kind, found in rows["options"].items()},
        bodies=rows["bodies"],
    )
