"""The one translator from the store's errors to API errors: nothing above the registry sees a StorageError."""

from __future__ import annotations

from pilothouse.machinery import errors as api
from pilothouse.machinery import names
from pilothouse.machinery.goquote import quote
from pilothouse.registry.resource import Resource
from pilothouse.storage import errors as store


def translate(error: store.StorageError, resource: Resource, name: str = "") -> api.APIError:
    """The API error that a client shall see for what the store raised about `name`."""
    group, plural = resource.group, resource.plural
    match error:
        case store.NotFound():
            return missing(resource, name)
        case store.Exists():
            return api.already_exists(group, plural, name)
        case store.Conflict():
            return api.modified(group, plural, name)
        case store.Compacted():
            return expired(error.asked, error.oldest)
        case store.TooLarge():
            return too_large_revision(error.asked, error.current)
        case store.ValueTooLarge():
            return api.bare_internal("etcdserver: request is too large")
        case store.Corrupt():
            return api.internal(str(error))
        case _:
            return api.APIError(
                500, "InternalError", f"Internal error occurred: {error}", {"causes": [{"message": str(error)}]}
            )


def missing(resource: Resource, name: str) -> api.APIError:
    """404; or 400 for a name that nothing could have."""
    whys = names.path_segment(name)
    if whys:
        return api.bad_request(f"Name parameter invalid: {quote(name)}: {';'.join(whys)}")
    return api.not_found(resource.group, resource.plural, name)


def expired(asked: int, oldest: int) -> api.APIError:
    return api.gone(f"too old resource version: {asked} ({oldest})")


def too_large_revision(asked: int, current: int) -> api.APIError:
    """504: the client is ahead of this server and may try again in a second."""
    message = f"Too large resource version: {asked}, current: {current}"
    details = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    return api.APIError(504, "Timeout", message, details, retry_after=1)
