"""Which kinds there are, by group, version and kind, with their schemas. Made when the server is put together;
nothing global.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pilothouse.kit.record import record
from pilothouse.machinery.schema import Schema


def api_version(group: str, version: str) -> str:
    """`apps/v1`; the core group ("") has its version alone: `v1`."""
    return f"{group}/{version}" if group else version


class GroupVersion(NamedTuple):
    """A group ("" is the core group) and a version of it."""

    group: str
    version: str

    def __str__(self) -> str:
        """As `apiVersion` says it: `apps/v1`, `v1`."""
        return api_version(self.group, self.version)

    def kind(self, kind: str) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, kind)

    def resource(self, resource: str) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, resource)


class GroupVersionKind(NamedTuple):
    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return api_version(self.group, self.version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    def __str__(self) -> str:
        """As the original prints it in messages: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`."""
        return f"{self.group}/{self.version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        return api_version(self.group, self.version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Resource={self.resource}"


def parse_group_version(text: str) -> GroupVersion:
    """`apps/v1` or `v1`. Raises ValueError with the original's text."""
    if text in ("", "/"):
        return GroupVersion("", "")
    group, slash, version = text.partition("/")
    if not slash:
        return GroupVersion("", text)
    if "/" in version:
        raise ValueError(f"unexpected GroupVersion string: {text}")
    return GroupVersion(group, version)


def group_version_kind(api_version: str, kind: str) -> GroupVersionKind:
    """Raises ValueError for an apiVersion with two slashes."""
    group, version = parse_group_version(api_version)
    return GroupVersionKind(group, version, kind)


@record
class Kind:
    """A kind that the scheme knows. `list_of`: for a list kind, the kind of its items."""

    gvk: GroupVersionKind
    schema: Schema
    list_of: GroupVersionKind | None = None


class UnknownKind(LookupError):
    """The text is what clients of the original see."""


class Scheme:
    """The kinds of one server.

    `name`: how the original's messages call the scheme (`no kind "X" is registered for version "v1" in scheme "..."`).
    """

    def __init__(self, name: str = "pkg/runtime/scheme.go:111") -> None:
        self.name = name
        self._kinds: dict[GroupVersionKind, Kind] = {}
        self._versions: dict[str, list[str]] = {}
        self._lists: dict[GroupVersionKind, GroupVersionKind] = {}

    def add(self, gvk: GroupVersionKind, schema: Schema, list_of: GroupVersionKind | None = None) -> None:
        """Register a kind; the first version of a group that is seen is its hub until `prioritize` says otherwise.

        Raises ValueError when the kind is there already with another schema.
        """
        known = self._kinds.get(gvk)
        if known is not None and known.schema is not schema:
            raise ValueError(f"{gvk} is registered twice")
        self._kinds[gvk] = Kind(gvk, schema, list_of)
        if list_of is not None:
            self._lists[list_of] = gvk
        versions = self._versions.setdefault(gvk.group, [])
        if gvk.version not in versions:
            versions.append(gvk.version)

    def prioritize(self, group: str, versions: Iterable[str]) -> None:
        """Set the order of a group's versions, best first; the first is the hub that conversions go through."""
        wanted = list(versions)
        rest = [version for version in self._versions.get(group, ()) if version not in wanted]
        self._versions[group] = wanted + rest

    def versions(self, group: str) -> tuple[str, ...]:
        """All versions of a group, best first."""
        return tuple(self._versions.get(group, ()))

    def hub(self, group: str) -> str:
        """The version that conversions of a group go through. Raises UnknownKind for an unknown group."""
        versions = self._versions.get(group)
        if not versions:
            raise UnknownKind(f"group {group} has not been registered")
        return versions[0]

    def find(self, gvk: GroupVersionKind) -> Kind | None:
        return self._kinds.get(gvk)

    def get(self, gvk: GroupVersionKind) -> Kind:
        """Raises UnknownKind with the original's text."""
        known = self._kinds.get(gvk)
        if known is None:
            shown = str(gvk.group_version)
            raise UnknownKind(f'no kind "{gvk.kind}" is registered for version "{shown}" in scheme "{self.name}"')
        return known

    def knows(self, gvk: GroupVersionKind) -> bool:
        return gvk in self._kinds

    def has_version(self, group: str, version: str) -> bool:
        return version in self._versions.get(group, ())

    def list_kind(self, gvk: GroupVersionKind) -> GroupVersionKind | None:
        """The kind of lists of a kind."""
        return self._lists.get(gvk)

    def kinds_of(self, group: str, kind: str) -> list[Kind]:
        """A kind in all versions of its group that have it, best first."""
        found = (self._kinds.get(GroupVersionKind(group, version, kind)) for version in self.versions(group))
        return [known for known in found if known is not None]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)
