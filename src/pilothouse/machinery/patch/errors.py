"""The two 422s of patches."""

from __future__ import annotations

from pilothouse.machinery.errors import APIError, Cause, invalid
from pilothouse.machinery.goquote import quote


def undecodable(shown: str, why: str) -> APIError:
    """The patched object is not one of its type. `shown` is the document, for a strategic merge patch the patch."""
    return invalid("", "", "", [Cause("FieldValueInvalid", f"Invalid value: {quote(shown)}: {why}", "patch")])


def rejected() -> APIError:
    """What the original answers when a patch cannot be carried out, whatever the reason."""
    return APIError(422, "Invalid", "the server rejected our request due to an error in our request", {})
