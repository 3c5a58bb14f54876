"""What extension servers say of themselves, from JSON that nobody checked: resources of one version of a group.

The aggregated form is preferred; older servers have only the plain list.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from pilothouse.discovery.model import CURRENT, STALE, Resource, Subresource, Version

AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)
MOST_RESOURCES: Final = 5000  # of one version


class Unreadable(Exception):
    """Not the document that it should be."""


def is_aggregated(media_type: str) -> bool:
    return "as=APIGroupDiscoveryList" in media_type.replace(" ", "")


def from_aggregated(body: bytes, group: str, version: str) -> Version | None:
    """The version of a group in an APIGroupDiscoveryList, None where it is not in it. Raises Unreadable."""
    for item in _list(_load(body).get("items")):
        if _text(_dict(item.get("metadata")).get("name")) != group:
            continue
        for found in _list(item.get("versions")):
            if _text(found.get("version")) == version:
                listed = _list(found.get("resources"))[:MOST_RESOURCES]
                stale = found.get("freshness") == STALE
                return Version(version, tuple(map(_resource, listed)), STALE if stale else CURRENT, has_page=False)
    return None


def _resource(row: dict[str, Any]) -> Resource:
    kind = _dict(row.get("responseKind"))
    return Resource(
        name=_text(row.get("resource")),
        singular=_text(row.get("singularResource")),
        kind=_text(kind.get("kind")),
        namespaced=row.get("scope") == "Namespaced",
        verbs=_texts(row.get("verbs")),
        short_names=_texts(row.get("shortNames")),
        categories=_texts(row.get("categories")),
        subresources=tuple(_part(part) for part in _list(row.get("subresources"))),
        kind_group=_text(kind.get("group")),
        kind_version=_text(kind.get("version")),
    )


def _part(row: dict[str, Any]) -> Subresource:
    kind = _dict(row.get("responseKind"))
    return Subresource(
        _text(row.get("subresource")),
        _text(kind.get("kind")),
        _texts(row.get("verbs")),
        _text(kind.get("group")),
        _text(kind.get("version")),
    )


def from_plain(body: bytes, version: str) -> Version:
    """The version of an APIResourceList. Raises Unreadable."""
    document = _load(body)
    if document.get("kind") != "APIResourceList":
        raise Unreadable(f"an APIResourceList was expected, not {document.get('kind')!r}")
    parents: dict[str, dict[str, Any]] = {}
    parts: dict[str, list[Subresource]] = {}
    for row in _list(document.get("resources"))[:MOST_RESOURCES]:
        name, slash, part = _text(row.get("name")).partition("/")
        if slash:
            kind_group, kind_version = _text(row.get("group")), _text(row.get("version"))
            shown = Subresource(part, _text(row.get("kind")), _texts(row.get("verbs")), kind_group, kind_version)
            parts.setdefault(name, []).append(shown)
        else:
            parents[name] = row
    found = tuple(_plain(name, row, tuple(parts.get(name, ()))) for name, row in parents.items())
    return Version(version, found, has_page=False)


def _plain(name: str, row: dict[str, Any], parts: tuple[Subresource, ...]) -> Resource:
    return Resource(
        name=name,
        singular=_text(row.get("singularName")),
        kind=_text(row.get("kind")),
        namespaced=row.get("namespaced") is True,
        verbs=_texts(row.get("verbs")),
        short_names=_texts(row.get("shortNames")),
        categories=_texts(row.get("categories")),
        subresources=parts,
        kind_group=_text(row.get("group")),
        kind_version=_text(row.get("version")),
    )


def _load(body: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Unreadable("not an object")
    return document


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
