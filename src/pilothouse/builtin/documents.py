"""The built-in kinds' OpenAPI documents as sources of the catalog."""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import orjson

from pilothouse.builtin.definitions import BuiltinDefinitions
from pilothouse.builtin.facts import ResourceFacts
from pilothouse.builtin.published import openapi_version
from pilothouse.openapi import roots, text, v2, v3
from pilothouse.openapi.catalog import Catalog, Source
from pilothouse.openapi.model import USUAL, GroupVersion, Style
from pilothouse.openapi.operations import Operations, Path
from pilothouse.openapi.parameters import table

BUILTIN = "builtin"


def publish(catalog: Catalog, resources: Iterable[ResourceFacts], style: Style = USUAL) -> None:
    """Put the documents of all these (served) resources into the catalog. Nothing is made until somebody asks.

    `style`: with CBOR the documents say so.
    """
    versions = _versions(resources)
    etags = known_etags() if style == USUAL else {}
    everything: list[Callable[[], list[Path]]] = []
    for version, usual in versions:
        etag = etags.get(version.path, "") if usual else ""
        catalog.set(version.path, Source(partial(_version_document, version, style), etag))
        everything.append(partial(_version_paths, version, style))
    for path, root in root_paths([version for version, _ in versions], style).items():
        catalog.set(path, Source(partial(_root_document, root), etags.get(path, "")))
        everything.append(partial(_just, root))
    catalog.set_swagger(BUILTIN, lambda: v2.document([p for make in everything for p in make()], BuiltinDefinitions()))


def _versions(resources: Iterable[ResourceFacts]) -> list[tuple[GroupVersion, bool]]:
    """Group versions, and whether each is served by default."""
    found: dict[tuple[str, str], list[ResourceFacts]] = {}
    for resource in resources:
        found.setdefault((resource.group, resource.version), []).append(resource)
    return [(openapi_version(*name, served), all(r.default for r in served)) for name, served in found.items()]


def root_paths(versions: Iterable[GroupVersion], style: Style) -> dict[str, Path]:
    """The documents that belong to no version, by their path in the index."""
    named = dict.fromkeys(version.group for version in versions if version.group)
    return {
        ".well-known/openid-configuration": roots.issuer(),
        "api": roots.core(style),
        "apis": roots.groups(style),
        **{f"apis/{name}": roots.group(name, style) for name in named},
        "openid/v1/jwks": roots.keys(),
        "version": roots.version(),
    }


def known_etags() -> dict[str, str]:
    """Digests of the documents of default groups, so that the index need not make them all. A test keeps them true."""
    found: dict[str, Any] = orjson.loads(
        (importlib.resources.files("pilothouse.builtin") / "data/openapi-etags.json").read_bytes()
    )
    return found


def _version_document(version: GroupVersion, style: Style) -> bytes:
    return text.dumps(v3.group_version_document(version, BuiltinDefinitions(), style))


def _root_document(path: Path) -> bytes:
    return text.dumps(v3.document([path], BuiltinDefinitions()))


def _version_paths(version: GroupVersion, style: Style) -> list[Path]:
    return Operations(version, table(), style).paths()


def _just(path: Path) -> list[Path]:
    return [path]
