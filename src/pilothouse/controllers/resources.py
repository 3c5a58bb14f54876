"""What the server serves, as its aggregated discovery tells: resources, and the paths of their objects.

Asking again costs next to nothing while nothing changed (the documents have ETags).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from pilothouse.controllers.client import LoopbackClient
from pilothouse.controllers.clock import Clock
from pilothouse.controllers.streams import Object
from pilothouse.kit.record import record
from pilothouse.machinery.groupversion import api_version

_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ROOTS: Final = ("/api", "/apis")
_STALE: Final = "Stale"
_RECENT: Final = 1.0  # seconds


@record
class Served:
    """One resource in one version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def api_version(self) -> str:
        return api_version(self.group, self.version)

    def path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """Of the collection (in all namespaces without one), of an object, of a subresource."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        below = f"/namespaces/{quote(namespace)}" if self.namespaced and namespace else ""
        end = "".join(f"/{quote(segment, safe='')}" for segment in (name, part) if segment)
        return f"{root}{below}/{self.plural}{end}"


@record
class Catalog:
    """All that is served at one moment. `failed`: group versions whose server does not answer, with what is wrong."""

    kinds: dict[tuple[str, str], Served]  # by apiVersion and kind
    preferred: tuple[Served, ...]  # each resource once, in the version that its group prefers
    failed: tuple[tuple[str, str], ...] = ()

    def find(self, api_version: str, kind: str) -> Served | None:
        return self.kinds.get((api_version, kind))

    def able(self, *verbs: str) -> list[Served]:
        """The resources that can do all of these."""
        return [served for served in self.preferred if served.verbs.issuperset(verbs)]


@record
class _Part:
    """What one document told: every resource in every version, the preferred version of a group first."""

    etag: str
    served: tuple[Served, ...]
    failed: tuple[tuple[str, str], ...]


class Discovery:
    """Keeps the catalog."""

    def __init__(self, client: LoopbackClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._asked = 0.0
        self._parts: dict[str, _Part] = {}
        self._catalog: Catalog | None = None

    async def catalog(self, max_age: float = 0.0) -> Catalog:
        """What is served, or was so many seconds ago: the same object where nothing changed. Raises Refusal."""
        now = self._clock.now()
        if self._catalog is not None and now - self._asked < max_age:
            return self._catalog
        changed = self._catalog is None
        for root in _ROOTS:
            known = self._parts.get(root)
            document, etag = await self._client.get_unless(root, known.etag if known else "", _AGGREGATED)
            if document is not None:
                self._parts[root] = read_part(document, etag)
                changed = True
        self._asked = now
        if changed or self._catalog is None:
            self._catalog = _joined([self._parts[root] for root in _ROOTS])
        return self._catalog

    async def find(self, api_version: str, kind: str) -> Served | None:
        """A kind by its names; looked for anew where it was not served a moment ago. Raises Refusal."""
        found = (await self.catalog(_RECENT)).find(api_version, kind)
        return found or (await self.catalog()).find(api_version, kind)


def read_part(document: Object, etag: str = "") -> _Part:
    """From an aggregated discovery document (apidiscovery.k8s.io/v2)."""
    found: list[Served] = []
    failed: list[tuple[str, str]] = []
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name") or ""
        for version in group.get("versions") or ():
            number = version["version"]
            text = f"{name}/{number}" if name else number
            if version.get("freshness") == _STALE:
                failed.append((text, f"stale GroupVersion discovery: {text}"))
                continue
            found.extend(_served(name, number, entry) for entry in version.get("resources") or ())
    return _Part(etag, tuple(found), tuple(failed))


def _served(group: str, version: str, entry: Object) -> Served:
    kind = (entry.get("responseKind") or {}).get("kind") or ""
    verbs = frozenset(entry.get("verbs") or ())
    return Served(group, version, entry["resource"], kind, entry.get("scope") == "Namespaced", verbs)


def _joined(parts: Sequence[_Part]) -> Catalog:
    kinds: dict[tuple[str, str], Served] = {}
    preferred: dict[tuple[str, str], Served] = {}
    for part in parts:
        for served in part.served:
            kinds.setdefault((served.api_version, served.kind), served)
            preferred.setdefault((served.group, served.plural), served)
    return Catalog(kinds, tuple(preferred.values()), tuple(fail for part in parts for fail in part.failed))
