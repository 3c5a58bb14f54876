"""The documents that are served: each is made when somebody asks, kept small, and forgotten when its source changes.

Making one is plain blocking work (up to a tenth of a second): callers do it in a thread. Two that ask for the same one
at once share the work.
"""

from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from pilothouse.kit.record import record
from pilothouse.openapi import text

Document = dict[str, Any]
Fragment = Mapping[str, Any]
"""What one source adds to the Swagger document: `paths`, `definitions`, `parameters`, and perhaps its head."""

_SMALL: Final = 16384
_ANY_HEADER: Final = 47  # zlib or gzip
INDEX_PREFIX: Final = "/openapi/v3/"


@record
class Source:
    """Where a v3 document comes from. `make` gives its JSON; `etag` is its digest where that is known beforehand."""

    make: Callable[[], bytes]
    etag: str = ""


@record
class Content:
    """A document that was made.

    `modified`: seconds since the epoch. `size`: bytes of the document, which `packed` may hold compressed.
    """

    etag: str
    modified: float
    packed: bytes
    size: int
    compressed: bool

    def read(self) -> bytes:
        """The JSON."""
        return zlib.decompress(self.packed, wbits=_ANY_HEADER) if self.compressed else self.packed


class Catalog:
    """All sources. `openapi/handlers.py` serves them.

    Two locks: one guards the tables and is never held for long, so that sources can be changed on the event loop; the
    other lets one document be made at a time. What was made of a source that changed meanwhile is not kept.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds since the epoch."""
        self._now = now
        self._tables = threading.Lock()
        self._making = threading.RLock()
        self._sources: dict[str, Source] = {}
        self._made: dict[str, Content] = {}
        self._index: Content | None = None
        self._fragments: dict[str, Callable[[], Fragment]] = {}
        self._swagger: Content | None = None
        self._changes = 0

    def set(self, path: str, source: Source) -> None:
        """Serve (or replace) the v3 document `path` ("apis/apps/v1")."""
        with self._tables:
            self._sources[path] = source
            self._forget(path)

    def remove(self, path: str) -> None:
        """Serve it no longer. Nothing happens if it is not there."""
        with self._tables:
            if self._sources.pop(path, None) is not None:
                self._forget(path)

    def _forget(self, path: str) -> None:
        self._made.pop(path, None)
        self._index = None
        self._changes += 1

    def set_swagger(self, name: str, make: Callable[[], Fragment]) -> None:
        """Add (or replace) what the source `name` gives to the Swagger document. The first one set gives its head."""
        with self._tables:
            self._fragments[name] = make
            self._swagger = None
            self._changes += 1

    def remove_swagger(self, name: str) -> None:
        """Take it out again. Nothing happens if it is not there."""
        with self._tables:
            if self._fragments.pop(name, None) is not None:
                self._swagger = None
                self._changes += 1

    def paths(self) -> list[str]:
        """The v3 documents, sorted."""
        with self._tables:
            return sorted(self._sources)

    def made(self, path: str) -> Content | None:
        """A v3 document if it need not be made first."""
        return self._made.get(path)

    def document(self, path: str) -> Content | None:
        """A v3 document, None if there is no such one. Blocks while it is made; raises what its source raises."""
        made = self._made.get(path)
        if made is not None:
            return made
        with self._making:
            made = self._made.get(path)
            source = self._sources.get(path)
            if made is not None or source is None:
                return made
            data = source.make()
            content = self._content(data, source.etag or text.digest(data))
            with self._tables:
                if self._sources.get(path) is source:
                    self._made[path] = content
            return content

    def made_index(self) -> Content | None:
        """The index if it need not be made first."""
        return self._index

    def index(self) -> Content:
        """The list of v3 documents with their digests. Blocks while documents of unknown digest are made."""
        with self._making:
            if self._index is not None:
                return self._index
            with self._tables:
                sources, changes = dict(sorted(self._sources.items())), self._changes
            shown = {path: {"serverRelativeURL": self._link(path, source)} for path, source in sources.items()}
            data = text.dumps({"paths": shown})
            content = self._content(data, text.digest(data))
            with self._tables:
                if self._changes == changes:
                    self._index = content
            return content

    def _link(self, path: str, source: Source) -> str:
        etag = source.etag
        if not etag:
            made = self.document(path)
            etag = made.etag if made is not None else ""
        return f"{INDEX_PREFIX}{path}?hash={etag}"

    def made_swagger(self) -> Content | None:
        """The Swagger document if it need not be made first."""
        return self._swagger

    def swagger(self) -> Content:
        """The Swagger document, kept as gzip. Blocks while it is made."""
        with self._making:
            if self._swagger is not None:
                return self._swagger
            with self._tables:
                makers, changes = list(self._fragments.values()), self._changes
            data = orjson.dumps(merge([make() for make in makers]))
            packed = gzip.compress(data, compresslevel=6, mtime=0)
            content = Content(text.digest(data), self._now(), packed, len(data), compressed=True)
            with self._tables:
                if self._changes == changes:
                    self._swagger = content
            return content

    def _content(self, data: bytes, etag: str) -> Content:
        if len(data) <= _SMALL:
            return Content(etag, self._now(), data, len(data), compressed=False)
        return Content(etag, self._now(), zlib.compress(data, 6), len(data), compressed=True)


def merge(fragments: list[Fragment]) -> Document:
    """One Swagger document of several fragments.

    Of paths and parameters that two of them have, the first is taken. Definitions of one name that differ are both
    kept: the later one is called NAME_v2 (or _v3, ...), also where it is referred to.
    """
    if not fragments:
        return {"swagger": "2.0", "paths": {}}
    merged: Document = dict(fragments[0])
    for fragment in fragments[1:]:
        fragment = _apart(merged.get("definitions", {}), fragment)
        for part in ("paths", "definitions", "parameters"):
            if fragment.get(part):
                merged[part] = {**fragment[part], **merged.get(part, {})}
    for part in ("paths", "definitions", "parameters"):
        if len(fragments) > 1 and part in merged:
            merged[part] = dict(sorted(merged[part].items()))
    return merged


def _apart(taken: Mapping[str, Any], fragment: Fragment) -> Fragment:
    """The fragment with those of its definitions renamed whose names stand for something else already."""
    definitions = fragment.get("definitions") or {}
    names: dict[str, str] = {}
    for name, value in definitions.items():
        if name in taken and taken[name] != value:
            number = 2
            while f"{name}_v{number}" in taken or f"{name}_v{number}" in definitions:
                number += 1
            names[name] = f"{name}_v{number}"
    if not names:
        return fragment
    renamed = {names.get(name, name): value for name, value in definitions.items()}
    references = {f"#/definitions/{old}": f"#/definitions/{new}" for old, new in names.items()}
    return {
        **fragment,
        "paths": _referring(fragment.get("paths", {}), references),
        "definitions": _referring(renamed, references),
    }


def _referring(value: Any, references: Mapping[str, str]) -> Any:
    """A copy in which references go to other names."""
    if isinstance(value, dict):
        return {
            name: references.get(inner, inner)
            if name == "$ref" and isinstance(inner, str)
            else _referring(inner, references)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_referring(item, references) for item in value]
    return value
