"""What a client is told that may not: who can't do what to which, and the authorizers' reasons."""

from __future__ import annotations

from typing import Final

from pilothouse.auth.attributes import Attributes
from pilothouse.machinery.errors import APIError, forbidden
from pilothouse.machinery.goquote import quote

# No browser shall take a refusal for a page.
_HARMLESS: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


_NOT_A_PAGE: Final = (b"X-Content-Type-Options", b"nosniff")


def refusal_at_the_door(attributes: Attributes, reason: str) -> APIError:
    """As `refusal`, before a handler is asked: browsers are told as well."""
    error = refusal(attributes, reason)
    error.headers.append(_NOT_A_PAGE)
    return error


def refusal(attributes: Attributes, reason: str) -> APIError:
    """403 with what was asked for in words."""
    user = f"User {quote(attributes.caller.name)} cannot {attributes.verb}"
    end = f": {reason}" if reason else ""
    if not attributes.is_resource:
        why = f"{user} path {quote(attributes.path)}".translate(_HARMLESS)
        return APIError(403, "Forbidden", f"forbidden: {why}{end}", {})
    resource = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
    where = f"in the namespace {quote(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    why = f"{user} resource {quote(resource)} in API group {quote(attributes.group)} {where}"
    return forbidden(attributes.group, attributes.resource, attributes.name, why.translate(_HARMLESS) + end)
