"""What discovery has to tell, whoever serves it: built-in kinds, custom resources and extension servers all become
these.

The types are frozen and know nothing of how they are shown; `documents.py` makes the documents of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.endpoints.negotiation import Form
from pilothouse.kit.record import record

CURRENT: Final = "Current"
STALE: Final = "Stale"  # the extension server did not answer; what is shown is from before

Document = dict[str, Any]
Encode = Callable[[str, Document, Form], bytes]
"""(kind, document, form) -> bytes. The document has apiVersion and kind only where the original shows them."""


@record
class Subresource:
    """One subresource; `name` is what stands behind the slash.

    `kind_group`, `kind_version`: of the kind of its body, both "" where that is the parent's group and version and the
    server that answers does not say so (built-in kinds).
    """

    name: str
    kind: str
    verbs: tuple[str, ...]
    kind_group: str = ""
    kind_version: str = ""


@record
class Resource:
    """One resource of a version, with its subresources in the order they shall be shown.

    For `kind_group` see Subresource.
    """

    name: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage_version_hash: str = ""
    subresources: tuple[Subresource, ...] = ()
    kind_group: str = ""
    kind_version: str = ""


@record
class Version:
    """One served version of a group. `has_page` False: it is listed, but its own document is not ours to show."""

    name: str
    resources: tuple[Resource, ...]
    freshness: str = CURRENT
    has_page: bool = True


@record
class Group:
    """A group with its served versions, the preferred one first. The core group has the name ""."""

    name: str
    versions: tuple[Version, ...]
