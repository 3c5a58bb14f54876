"""The three patches that are not apply: JSON Patch, JSON Merge Patch, Strategic Merge Patch.

Pure functions from decoded JSON to decoded JSON. What a patch does not touch is shared with the object that went in,
so neither may be changed in place. Errors are `APIError`s with the original's codes and texts.
"""

from __future__ import annotations

from pilothouse.machinery.errors import APIError, Cause, invalid
from pilothouse.machinery.typed.text import quoted


def undecodable(shown: str, why: str) -> APIError:
    """422: the patched object is not one of its type. `shown` is the whole document, for a strategic merge patch the
    patch.
    """
    return invalid("", "", "", [Cause("FieldValueInvalid", f"Invalid value: {quoted(shown)}: {why}", "patch")])


def rejected() -> APIError:
    """422: what the original answers when a patch cannot be carried out, whatever the reason."""
    return APIError(422, "Invalid", "the server rejected our request due to an error in our request", {})
