"""What custom resources add to discovery and to the OpenAPI documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

import orjson

from pilothouse.discovery import model
from pilothouse.extensions.definition import ESTABLISHED, TERMINATING, Definition, Served, Version, version_rank
from pilothouse.extensions.serving import PART_VERBS, VERBS
from pilothouse.openapi import custom, text
from pilothouse.openapi.catalog import Catalog, Source
from pilothouse.openapi.custom import CustomKind
from pilothouse.openapi.model import CUSTOM, Definitions, Schema, Style

_VERBS_AT_THE_END: Final = ("delete", "deletecollection", "get", "list", "watch")


def served(definitions: Iterable[Definition]) -> Served:
    """By group and version, what is served of them; sorted."""
    found: Served = {}
    for definition in sorted(definitions, key=lambda one: one.name):
        if definition.is_true(ESTABLISHED):
            for version in definition.served:
                found.setdefault((definition.group, version.name), []).append((definition, version))
    return found


def groups(found: Served) -> list[model.Group]:
    """Sorted by name, the preferred version first."""
    versions: dict[str, list[str]] = {}
    for group, version in found:
        versions.setdefault(group, []).append(version)
    return [
        model.Group(
            group,
            tuple(
                model.Version(name, tuple(_resource(*one) for one in found[group, name]))
                for name in sorted(versions[group], key=version_rank, reverse=True)
            ),
        )
        for group in sorted(versions)
    ]


def _resource(definition: Definition, version: Version) -> model.Resource:
    names = definition.names
    here = (definition.group, version.name)
    parts: list[model.Subresource] = []
    if version.status:
        parts.append(model.Subresource("status", names.kind, PART_VERBS, *here))
    if version.scale is not None:
        parts.append(model.Subresource("scale", "Scale", PART_VERBS, "autoscaling", "v1"))
    return model.Resource(
        name=names.plural,
        singular=names.singular,
        kind=names.kind,
        namespaced=definition.namespaced,
        verbs=_VERBS_AT_THE_END if definition.is_true(TERMINATING) else VERBS,
        short_names=names.short_names,
        categories=names.categories,
        subresources=tuple(parts),
        kind_group=here[0],
        kind_version=here[1],
    )


class Remembered:
    """The few built-in definitions that documents of custom resources need, kept as JSON.

    `make` reads all of them, which takes a while and much memory; what it made is let go after each document.
    """

    def __init__(self, make: Callable[[], Definitions]) -> None:
        self._make = make
        self._known: dict[str, bytes] = {}
        self._all: Definitions | None = None

    def schema(self, name: str) -> Schema:
        """Raises KeyError."""
        data = self._known.get(name)
        if data is None:
            if self._all is None:
                self._all = self._make()
            data = self._known[name] = orjson.dumps(self._all.schema(name))
        made: Schema = orjson.loads(data)
        return made

    def rest(self) -> None:
        """A document is made."""
        self._all = None


class Documents:
    """Keeps the OpenAPI documents of custom resources in a catalog. `base` makes the built-in definitions;
    `style` tells the media types.

    The catalog makes one document at a time.
    """

    def __init__(self, catalog: Catalog, base: Callable[[], Definitions], style: Style = CUSTOM) -> None:
        self._catalog = catalog
        self._style = style
        self._base = Remembered(base)
        self._shown: dict[tuple[str, str], tuple[CustomKind, ...]] = {}

    def show(self, found: Served) -> None:
        """From now on the documents tell of these; those of other groups and versions go."""
        wanted = {key: tuple(_kind(*one) for one in entries) for key, entries in found.items()}
        for key in self._shown.keys() - wanted.keys():
            self._catalog.remove(_path(*key))
            self._catalog.remove_swagger("/".join(key))
        for (group, version), kinds in wanted.items():
            if self._shown.get((group, version)) != kinds:
                document = partial(self._document, group, version, kinds)
                self._catalog.set(_path(group, version), Source(document))
                self._catalog.set_swagger(f"{group}/{version}", partial(self._fragment, group, version, kinds))
        self._shown = wanted

    def _document(self, group: str, version: str, kinds: Sequence[CustomKind]) -> bytes:
        try:
            return text.dumps(custom.document(group, version, kinds, self._base, self._style))
        finally:
            self._base.rest()

    def _fragment(self, group: str, version: str, kinds: Sequence[CustomKind]) -> dict[str, object]:
        try:
            return custom.fragment(group, version, kinds, self._base, self._style)
        finally:
            self._base.rest()


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}"


def _kind(definition: Definition, version: Version) -> CustomKind:
    names = definition.names
    return CustomKind(
        plural=names.plural,
        kind=names.kind,
        list_kind=names.list_kind,
        namespaced=definition.namespaced,
        verbs=VERBS,
        schema=version.schema or None,
        status=version.status,
        scale=version.scale is not None,
    )
