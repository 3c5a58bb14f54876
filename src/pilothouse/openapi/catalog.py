"""The documents that are served, by path; each is made when somebody asks, kept small, and forgotten when its source
changes.

Making one is plain blocking work (up to a tenth of a second): callers do it in a thread. Two that ask for the same one
at once share the work.
"""

from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from pilothouse.openapi import text

Document = dict[str, Any]
Fragment = Mapping[str, Any]
"""What one source adds to the Swagger document: `paths`, `definitions`, `parameters`, and perhaps its head."""

_SMALL: Final = 16384
INDEX_PREFIX: Final = "/openapi/v3/"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a v3 document comes from. `make` gives its JSON; `etag` is its digest where that is known beforehand."""

    make: Callable[[], bytes]
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """A document that was made. `modified`: seconds since the epoch."""

    etag: str
    modified: float
    packed: bytes
    size: int

    def read(self) -> bytes:
        """The JSON."""
        return self.packed if len(self.packed) == self.size else zlib.decompress(self.packed, wbits=47)


class Catalog:
    """All sources. `openapi/handlers.py` serves them."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds since the epoch."""
        self._now = now
        self._lock = threading.RLock()
        self._sources: dict[str, Source] = {}
        self._made: dict[str, Content] = {}
        self._index: Content | None = None
        self._fragments: dict[str, Callable[[], Fragment]] = {}
        self._swagger: Content | None = None

    def set(self, path: str, source: Source) -> None:
        """Serve (or replace) the v3 document `path` ("apis/apps/v1")."""
        with self._lock:
            self._sources[path] = source
            self._made.pop(path, None)
            self._index = None

    def remove(self, path: str) -> None:
        """Serve it no longer. Nothing happens if it is not there."""
        with self._lock:
            if self._sources.pop(path, None) is not None:
                self._made.pop(path, None)
                self._index = None

    def set_swagger(self, name: str, make: Callable[[], Fragment]) -> None:
        """Add (or replace) what the source `name` gives to the Swagger document. The first one set gives its head."""
        with self._lock:
            self._fragments[name] = make
            self._swagger = None

    def remove_swagger(self, name: str) -> None:
        with self._lock:
            if self._fragments.pop(name, None) is not None:
                self._swagger = None

    def paths(self) -> list[str]:
        """The v3 documents, sorted."""
        return sorted(self._sources)

    def document(self, path: str) -> Content | None:
        """A v3 document, None if there is no such one. Blocks while it is made; raises what its source raises."""
        made = self._made.get(path)
        if made is not None:
            return made
        with self._lock:
            source = self._sources.get(path)
            if source is None:
                return None
            if path not in self._made:
                data = source.make()
                self._made[path] = self._content(data, source.etag or text.digest(data))
            return self._made[path]

    def made(self, path: str) -> Content | None:
        """A v3 document if it need not be made first."""
        return self._made.get(path)

    def index(self) -> Content:
        """The list of v3 documents with their digests. Blocks while documents of unknown digest are made."""
        made = self._index
        if made is not None:
            return made
        with self._lock:
            if self._index is None:
                shown = {path: {"serverRelativeURL": self._link(path)} for path in self.paths()}
                data = text.dumps({"paths": shown})
                self._index = self._content(data, text.digest(data))
            return self._index

    def made_index(self) -> Content | None:
        return self._index

    def _link(self, path: str) -> str:
        source = self._sources[path]
        etag = source.etag
        if not etag:
            made = self.document(path)
            etag = made.etag if made is not None else ""
        return f"{INDEX_PREFIX}{path}?hash={etag}"

    def swagger(self) -> Content:
        """The Swagger document. Blocks while it is made."""
        made = self._swagger
        if made is not None:
            return made
        with self._lock:
            if self._swagger is None:
                data = orjson.dumps(merge([make() for make in self._fragments.values()]))
                packed = gzip.compress(data, compresslevel=6, mtime=0)
                self._swagger = Content(text.digest(data), self._now(), packed, len(data))
            return self._swagger

    def made_swagger(self) -> Content | None:
        return self._swagger

    def _content(self, data: bytes, etag: str) -> Content:
        packed = zlib.compress(data, 6) if len(data) > _SMALL else data
        return Content(etag, self._now(), packed, len(data))


def merge(fragments: list[Fragment]) -> Document:
    """One Swagger document of several fragments. What two of them have is taken from the first."""
    if not fragments:
        return {"swagger": "2.0", "paths": {}}
    merged: Document = dict(fragments[0])
    for part in ("paths", "definitions", "parameters"):
        found: Document = {}
        for fragment in reversed(fragments):
            found.update(fragment.get(part, {}))
        if found:
            merged[part] = dict(sorted(found.items())) if len(fragments) > 1 else found
    return merged
