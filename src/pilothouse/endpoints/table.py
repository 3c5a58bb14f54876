"""Tables and metadata-only forms: what `kubectl get` prints is made by the server, as a meta.k8s.io Table.

A row is made once for each version of an object (`Row`): its bytes are kept, cut where a cell tells an age, and each
request only fills the ages in. Nothing here does I/O or knows a kind; the built-in ones are in builtin/columns/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.times import human_duration
from pilothouse.registry.codec import with_revision_behind_uid

Object = dict[str, Any]

# What a row carries of its object (?includeObject=).
NONE: Final = "None"
METADATA: Final = "Metadata"
OBJECT: Final = "Object"

_MARK: Final = "\0"  # stands for an age in a row that is being made; no valid text of an object holds it
_MARK_JSON: Final = b"\\u0000"
_INVALID: Final = b"\\u003cinvalid\\u003e"


class Age:
    """A cell that says how long ago something was: `before`, the time since `moment` in kubectl's short form, `after`.

    `moment`: seconds since 1970.
    """

    __slots__ = ("after", "before", "moment")

    def __init__(self, moment: float, before: str = "", after: str = "") -> None:
        self.moment = moment
        self.before = before
        self.after = after

    def text(self, now: float) -> str:
        """What the cell shows at `now` (seconds since 1970)."""
        return f"{self.before}{human_duration(now - self.moment)}{self.after}"


def no_conditions(obj: Object) -> list[dict[str, str]] | None:
    """Most kinds say nothing about a whole row."""
    return None


@record
class Columns:
    """How objects of one kind become rows.

    `definitions`: name, type, format, description and priority of each column, in this order. `template`: the cells of
    an object in the hub version's JSON form, with an `Age` where a cell depends on the time. `conditions`: those of the
    row, None for none. `shown`: the object whose metadata the row carries, where some of it is left out. `rank`: by
    what the rows of a list are sorted, None for the order of the list.
    """

    definitions: tuple[dict[str, Any], ...]
    template: Callable[[Object], list[Any]]
    conditions: Callable[[Object], list[dict[str, str]] | None] = no_conditions
    shown: Callable[[Object], Object] | None = None
    rank: Callable[[Object], Any] | None = None
    header: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", dumps(list(self.definitions)))

    def cells(self, obj: Object, now: float) -> list[Any]:
        """The cells as they are shown at `now` (seconds since 1970)."""
        return [cell.text(now) if isinstance(cell, Age) else cell for cell in self.template(obj)]


class Row:
    """One row, encoded but for its ages. Immutable: keep it as long as the object it was made from."""

    __slots__ = ("metadata", "moments", "pieces")

    def __init__(self, pieces: tuple[bytes, ...], moments: tuple[float, ...], metadata: bytes) -> None:
        """`pieces`: one more than `moments` (seconds since 1970), which stand between them. `metadata`: as JSON; empty
        where it is not kept with the row.
        """
        self.pieces = pieces
        self.moments = moments
        self.metadata = metadata

    def json(self, now: float, include: str = METADATA, body: bytes = b"", version: str = "v1") -> bytes:
        """The row at `now`, in a Table of `version`. `body`: the object as served for `OBJECT`; its metadata for
        `METADATA`, where the row has none of its own.
        """
        pieces = self.pieces
        moments = self.moments
        if len(moments) == 1:
            cells = pieces[0] + _age(now - moments[0]) + pieces[1]
        else:
            parts = [pieces[0]]
            for index, moment in enumerate(moments, 1):
                parts += (_age(now - moment), pieces[index])
            cells = b"".join(parts)
        if include == METADATA:
            return b"%b%b%b}}" % (cells, _PARTIAL_HEAD[version], self.metadata or body)
        return b"%b%b}" % (cells, body if include == OBJECT else b"null")


def make_row(columns: Columns, obj: Object, with_metadata: bool = True) -> Row:
    """The row of an object in the hub version. Costs a few microseconds; meant to be kept beside the object's bytes."""
    ages: list[Age] = []
    cells: list[Any] = []
    for cell in columns.template(obj):
        if isinstance(cell, Age):
            ages.append(cell)
            cells.append(f"{cell.before}{_MARK}{cell.after}")
        else:
            cells.append(cell)
    pieces = dumps(cells).split(_MARK_JSON) if ages else [dumps(cells)]
    if len(pieces) != len(ages) + 1:  # a cell holds the mark itself
        pieces = _cut_slowly(columns.template(obj))
    conditions = columns.conditions(obj)
    pieces[0] = b'{"cells":' + pieces[0]
    pieces[-1] += b',"conditions":%b,"object":' % dumps(conditions) if conditions else b',"object":'
    metadata = b""
    if with_metadata:
        metadata = metadata_json(obj if columns.shown is None else columns.shown(obj))
    return Row(tuple(pieces), tuple(age.moment for age in ages), metadata)


def row_bytes(
    columns: Columns, obj: Object, object_bytes: bytes, now: float, include: str = METADATA, version: str = "v1"
) -> bytes:
    """A row for one request; who lists often keeps `make_row`'s instead."""
    return make_row(columns, obj).json(now, include, object_bytes, version)


def metadata_json(obj: Object) -> bytes:
    """The metadata of an object as JSON, members in the original's order."""
    metadata = obj.get("metadata")
    if not metadata:
        return b"{}"
    return dumps(with_revision_behind_uid(metadata))


def _age(seconds: float) -> bytes:
    text = human_duration(seconds)
    return _INVALID if text[0] == "<" else text.encode()


def _cut_slowly(cells: list[Any]) -> list[bytes]:
    pieces = [b"["]
    for index, cell in enumerate(cells):
        comma = b"," if index else b""
        if isinstance(cell, Age):
            pieces[-1] += comma + dumps(cell.before)[:-1]
            pieces.append(dumps(cell.after)[1:])
        else:
            pieces[-1] += comma + dumps(cell)
    pieces[-1] += b"]"
    return pieces


def include_of(value: str | None) -> str:
    """What `?includeObject=` asks for; nothing means metadata. Raises APIError (400) for other words than the three."""
    if not value:
        return METADATA
    if value not in (NONE, METADATA, OBJECT):
        raise bad_request(
            f"Unable to convert to Table as requested: includeObject: Invalid value: {quote(value)}: "
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return value


def list_meta(
    resource_version: str = "", continue_token: str = "", remaining: int | None = None, *, custom: bool = False
) -> bytes:
    """The metadata of a list as JSON. Lists of custom resources always tell where to go on."""
    shown: Object = {}
    if resource_version:
        shown["resourceVersion"] = resource_version
    if continue_token or custom:
        shown["continue"] = continue_token
    if remaining is not None:
        shown["remainingItemCount"] = remaining
    return dumps(shown)


def _partial_head(version: str) -> bytes:
    return b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/%b","metadata":' % version.encode()


_PARTIAL_HEAD: Final = {version: _partial_head(version) for version in ("v1", "v1beta1")}


def table_head(columns: Columns | None, meta: bytes, version: str = "v1") -> bytes:
    """A Table up to its first row. Without columns it has no headers: every event of a watch but the first."""
    header = columns.header if columns is not None else b"null"
    start = b'{"kind":"Table","apiVersion":"meta.k8s.io/%b","metadata":%b,"columnDefinitions":%b,"rows":['
    return start % (version.encode(), meta, header)


TABLE_END: Final = b"]}"


def table(columns: Columns | None, rows: Iterable[bytes], meta: bytes, version: str = "v1") -> bytes:
    """A whole Table. `rows` are encoded ones, `meta` is `list_meta`'s."""
    return table_head(columns, meta, version) + b",".join(rows) + TABLE_END


def object_table(columns: Columns | None, obj: Object, row: bytes, version: str = "v1") -> bytes:
    """The Table of one object: a GET, a write, an event of a watch. Its resourceVersion is the object's."""
    revision = (obj.get("metadata") or {}).get("resourceVersion", "")
    return table(columns, (row,), list_meta(revision), version)


def partial_object(metadata: bytes, version: str = "v1") -> bytes:
    """PartialObjectMetadata around the JSON of an object's metadata (`metadata_json`, or a kept row's)."""
    return b"%b%b}" % (_PARTIAL_HEAD[version], metadata)


def partial_parts(version: str) -> tuple[bytes, bytes]:
    """What stands before and behind the metadata in a `partial_object`."""
    return _PARTIAL_HEAD[version], b"}"


def partial_list(items: Iterable[bytes], meta: bytes, version: str = "v1") -> bytes:
    """PartialObjectMetadataList of `partial_object`s; the original shows an empty one as null."""
    joined = b",".join(items)
    start = b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/%b","metadata":%b,"items":'
    return start % (version.encode(), meta) + (b"[%b]}" % joined if joined else b"null}")
