"""How a plug-in says no: 403 for the object at hand, named as well as it can be before it has a name."""

from __future__ import annotations

from collections.abc import Iterable

from pilothouse.admission.plugin import Attributes
from pilothouse.machinery.errors import APIError, forbidden

NAMELESS = "Unknown"


def subject(attributes: Attributes) -> str:
    """The name of what is written: of the request, of the object, or what its name will begin with. What is one of many
    that are deleted has none.
    """
    if attributes.write.name and not attributes.write.collection:
        return attributes.write.name
    metadata = (attributes.obj or {}).get("metadata") or {}
    return metadata.get("name") or metadata.get("generateName") or NAMELESS


def refuse(attributes: Attributes, why: str) -> APIError:
    """403 with the reason Forbidden."""
    return forbidden(attributes.resource.group, attributes.resource.plural, subject(attributes), why)


def together(reasons: Iterable[str]) -> str:
    """Several reasons as one text, each once: alone as it is, more as `[a, b]`. "" for none."""
    kept = list(dict.fromkeys(reasons))
    return kept[0] if len(kept) == 1 else f"[{', '.join(kept)}]" if kept else ""
