"""Watch events as bytes: framed once for all watchers of the same form (API concepts, "Efficient detection of
changes").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.endpoints import table as tables
from pilothouse.endpoints.forms import Forms
from pilothouse.endpoints.negotiation import CBOR, PROTOBUF, Form
from pilothouse.machinery import cbor
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.protobuf import watch_frame
from pilothouse.registry.resource import Object
from pilothouse.storage.api import StoredObject

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class Framer:
    """Frames of one watch. The first Table of a watch has the column headers, all others have none."""

    def __init__(
        self, forms: Forms, version: str, form: Form, include: str, empty: Callable[[], Object], *, parted: bool = False
    ) -> None:
        """`parted`: each event of CBOR is to be a message of its own, and has its length before it till then."""
        self._parted = parted
        self._forms = forms
        self._version = version
        self._form = form
        self._include = include
        self._empty = empty  # the kind's zero object, for bookmarks
        self._headers_due = form.form == "Table"
        self._key = ("frame", version, form.media_type, form.form, form.form_version, include, parted)

    def event(self, kind: str, stored: StoredObject) -> bytes:
        """One event of an object. Kept beside the object, but for what depends on the time or on this watch."""
        if self._form.form == "Table":
            return self._table_event(
                kind, self._forms.row_json(stored, self._version, self._form, self._include), stored.revision
            )
        key = (kind, *self._key)
        made: bytes | None = stored.forms.get(key)
        if made is None:
            made = stored.forms[key] = self._frame(kind, stored)
        return made

    def _frame(self, kind: str, stored: StoredObject) -> bytes:
        forms = self._forms
        if self._form.media_type == PROTOBUF and forms.binary is not None:
            if self._form.form:
                return watch_frame(kind, forms.binary.partial(forms.codec.decode(stored), self._form.form_version))
            return forms.binary.event(kind, stored, self._version)
        if self._form.media_type == CBOR:
            if self._form.form:
                return self._item(kind, forms.cbor.partial(forms.metadata(stored), self._form.form_version))
            return self._item(kind, forms.cbor.object(stored, self._version))
        if self._form.form:
            return _json_frame(kind, tables.partial_object(forms.metadata(stored), self._form.form_version))
        return _json_frame(kind, forms.codec.json(stored, self._version))

    def _item(self, kind: str, obj: bytes) -> bytes:
        """An event in CBOR, with its length before it where events are to be parted again."""
        event = cbor.watch_event(kind, obj)
        return len(event).to_bytes(4, "big") + event if self._parted else event

    def _table_event(self, kind: str, row: bytes, revision: int) -> bytes:
        columns = self._forms.columns() if self._headers_due else None
        self._headers_due = False
        body = tables.table(columns, (row,), tables.list_meta(str(revision)), self._form.form_version)
        return _json_frame(kind, body)

    def bookmark(self, revision: int, *, initial_end: bool) -> bytes:
        """Progress without an object: everything up to `revision` has been told."""
        obj = self._empty()
        metadata: Object = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        obj["metadata"] = metadata
        forms = self._forms
        if self._form.form == "Table":
            row = tables.make_row(forms.columns(), obj).json(0.0, self._include, b"null", self._form.form_version)
            return self._table_event("BOOKMARK", row, revision)
        if self._form.media_type == PROTOBUF and forms.binary is not None:
            return forms.binary.bookmark(obj, self._version, self._form)
        if self._form.media_type == CBOR:
            if self._form.form:
                return self._item("BOOKMARK", forms.cbor.partial(dumps(metadata), self._form.form_version))
            return self._item("BOOKMARK", forms.cbor.empty(obj, self._version))
        if self._form.form:
            return _json_frame("BOOKMARK", tables.partial_object(dumps(metadata), self._form.form_version))
        resource = forms.resource
        shown = {
            "kind": resource.versions[self._version].kind,
            "apiVersion": resource.api_version(self._version),
            **obj,
        }
        return _json_frame("BOOKMARK", dumps(shown))

    def error(self, error: APIError) -> bytes:
        """The last event of a watch that fails; a Status in every form."""
        if self._form.media_type == PROTOBUF and self._forms.binary is not None:
            return self._forms.binary.error_event(error.status())
        if self._form.media_type == CBOR:
            return self._item("ERROR", cbor.dumps(error.status()))
        return _json_frame("ERROR", dumps(error.status()))


def _json_frame(kind: str, body: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), body)
