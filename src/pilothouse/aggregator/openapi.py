"""OpenAPI documents of extension servers: what of them belongs to one version of a group, ready for the catalog.

Nothing of another group gets in: paths are taken only below /apis/GROUP/VERSION/ (and the group's own document).
Parsing is plain blocking work; callers do it in a thread.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

import orjson

from pilothouse.openapi.upgrade import upgrade

Fragment = dict[str, Any]
INDEX: Final = "/openapi/v3"
SWAGGER: Final = "/openapi/v2"
_REFERENCE: Final = "#/definitions/"


class Unreadable(Exception):
    """Not a document of the kind that was asked for."""


def link_of(body: bytes, group: str, version: str) -> str:
    """Where the document of one group version is, by the index; "" where it has none. Raises Unreadable."""
    paths = _load(body).get("paths")
    if not isinstance(paths, dict):
        raise Unreadable("an index of documents was expected")
    entry = paths.get(f"apis/{group}/{version}")
    link = entry.get("serverRelativeURL") if isinstance(entry, dict) else None
    return link if isinstance(link, str) and link.startswith(f"{INDEX}/") else ""


def check_v3(body: bytes) -> None:
    """Raises Unreadable for what is no version 3 document."""
    if not str(_load(body).get("openapi", "")).startswith("3."):
        raise Unreadable("an OpenAPI v3 document was expected")


def swagger_part(body: bytes, group: str, version: str) -> bytes:
    """What a Swagger document has of one group version, as packed JSON for `unpack`. Raises Unreadable."""
    return zlib.compress(orjson.dumps(_part(_load(body), group, version)), 6)


def upgraded(body: bytes, group: str, version: str) -> bytes:
    """The v3 document of one group version made of a Swagger document; b"" if that has no path of it.

    Raises Unreadable.
    """
    document = _load(body)
    part = _part(document, group, version)
    if not part["paths"]:
        return b""
    head: Fragment = {name: document[name] for name in ("info", "consumes", "produces") if name in document}
    try:
        return orjson.dumps(upgrade({**head, **part}))
    except orjson.JSONEncodeError as error:
        raise Unreadable(f"cannot be told as version 3: {error}") from error


def _part(document: Fragment, group: str, version: str) -> Fragment:
    paths, definitions = document.get("paths"), document.get("definitions")
    if document.get("swagger") != "2.0" or not isinstance(paths, dict):
        raise Unreadable("a Swagger document was expected")
    own = {path: value for path, value in paths.items() if _belongs(path, group, version)}
    found = definitions if isinstance(definitions, dict) else {}
    if len(own) < len(paths):
        found = _used(own, found)
    fragment = {"paths": own, "definitions": found}
    parameters = document.get("parameters")
    if isinstance(parameters, dict):
        fragment["parameters"] = parameters
    return fragment


def unpack(packed: bytes) -> Fragment:
    fragment: Fragment = orjson.loads(zlib.decompress(packed))
    return fragment


def _belongs(path: str, group: str, version: str) -> bool:
    return path.startswith(f"/apis/{group}/{version}/") or path in (f"/apis/{group}/", f"/apis/{group}/{version}")


def _used(paths: Fragment, definitions: Fragment) -> Fragment:
    """The definitions that paths refer to, directly or by others, in their order."""
    wanted: set[str] = set()
    waiting: list[Any] = [paths]
    while waiting:
        for name in references(waiting.pop()):
            if name not in wanted and name in definitions:
                wanted.add(name)
                waiting.append(definitions[name])
    return {name: value for name, value in definitions.items() if name in wanted}


def references(value: Any) -> Iterator[str]:
    """The names of definitions that a piece of a document refers to."""
    waiting = [value]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, dict):
            reference = piece.get("$ref")
            if isinstance(reference, str) and reference.startswith(_REFERENCE):
                yield reference[len(_REFERENCE) :]
            waiting.extend(piece.values())
        elif isinstance(piece, list):
            waiting.extend(piece)


def _load(body: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Unreadable("not an object")
    return document
