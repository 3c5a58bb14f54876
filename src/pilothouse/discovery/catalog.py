"""All that is served at one moment, and its documents as bytes, each made once until something changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from pilothouse.discovery import documents
from pilothouse.discovery.model import Document, Encode, Group
from pilothouse.endpoints.negotiation import Form
from pilothouse.kit.record import record
from pilothouse.machinery.groupversion import api_version


@record
class Page:
    """One document of a catalog.

    `any_method`: it answers whatever the method. `routed`: a route with media types of its own, which refuses others in
    other words. `aggregated`: path of the page that is its aggregated form.
    """

    path: str
    kind: str
    make: Callable[[], Document]
    any_method: bool
    routed: bool
    aggregated: str = ""


AGGREGATED_CORE: Final = "aggregated /api"
AGGREGATED_GROUPS: Final = "aggregated /apis"


class Catalog:
    """The served groups. Replace them whole with `serve`; readers in between see the one or the other."""

    def __init__(self, encode: Encode, server_address: Callable[[], str]) -> None:
        """`server_address` gives `host:port` for /api (known only once the server listens)."""
        self._encode = encode
        self._server_address = server_address
        self._groups: tuple[Group, ...] = ()
        self._pages: dict[str, Page] = {}
        self._bytes: dict[tuple[str, Form], bytes] = {}
        self._etags: dict[str, str] = {}

    @property
    def groups(self) -> tuple[Group, ...]:
        """The core group (name "") first, the others in the order of /apis."""
        return self._groups

    def serve(self, groups: Sequence[Group], *, aggregated_order: Sequence[str] | None = None) -> None:
        """From now on these are served: the core group first, the others in the order of /apis.

        `aggregated_order`: names of the groups in the order of the aggregated document, where it differs (the original
        breaks ties of priority differently there).
        """
        if not groups or groups[0].name:
            raise ValueError("the core group comes first")
        core, named = groups[0], tuple(groups[1:])
        by_name = {group.name: group for group in named}
        listed = named if aggregated_order is None else tuple(by_name[name] for name in aggregated_order)
        pages = [
            Page("/api", "APIVersions", lambda: documents.api_versions(core, self._server_address()), False, True,
                 AGGREGATED_CORE),
            Page("/apis", "APIGroupList", lambda: documents.group_list(named), True, False, AGGREGATED_GROUPS),
            Page(AGGREGATED_CORE, documents.AGGREGATED_KIND, lambda: documents.aggregated([core]), False, False),
            Page(AGGREGATED_GROUPS, documents.AGGREGATED_KIND, lambda: documents.aggregated(listed), True, False),
            *(page for group in groups for page in _group_pages(group)),
        ]  # fmt: skip
        self._groups = tuple(groups)
        self._pages = {page.path: page for page in pages}
        self._bytes, self._etags = {}, {}

    def page(self, path: str) -> Page | None:
        """The document at a path (a slash at its end does not matter)."""
        return self._pages.get(path) or self._pages.get(path.removesuffix("/"))

    def render(self, page: Page, form: Form) -> bytes:
        """The bytes of a page in a form; they are kept until the catalog changes."""
        key = (page.path, form)
        made = self._bytes.get(key)
        if made is None:
            made = self._bytes[key] = self._encode(page.kind, page.make(), form)
        return made

    def etag(self, page: Page) -> str:
        """Of an aggregated page."""
        made = self._etags.get(page.path)
        if made is None:
            made = self._etags[page.path] = documents.etag(page.make())
        return made

    def paths(self) -> list[str]:
        """The paths for the list at `/`."""
        found = [path for path in self._pages if path.startswith("/")]
        return sorted([*found, "/apis/"])


def _group_pages(group: Group) -> list[Page]:
    root = "/api" if not group.name else f"/apis/{group.name}"
    found = [
        Page(
            f"{root}/{version.name}",
            "APIResourceList",
            partial(documents.resource_list, group.name, version),
            any_method=False,
            routed=True,
        )
        for version in group.versions
        if version.has_page
    ]
    if group.name:
        found.append(Page(root, "APIGroup", partial(documents.group_document, group), any_method=True, routed=False))
    return found


def served(groups: Iterable[Group]) -> frozenset[str]:
    """The served group versions (`apps/v1`, `v1`)."""
    return frozenset(api_version(group.name, version.name) for group in groups for version in group.versions)
