"""API errors and the Status they are shown as (API concepts, "Status"; api-conventions, "Response Status Kind").

Every refusal that a client sees is made here, so the texts stand in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.goquote import quote


@record
class Cause:
    """One StatusCause: which field, why in a word, why in a sentence."""

    reason: str
    message: str
    field: str = ""

    def render(self) -> dict[str, str]:
        shown = {"reason": self.reason, "message": self.message}
        if self.field:
            shown["field"] = self.field
        return shown


class APIError(Exception):
    """An error that renders as a Status with kind, code and reason.

    `details`: None leaves them out, {} shows an empty object, as the original does for a few.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        retry_after: int = 0,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.headers: list[tuple[bytes, bytes]] = []  # travel with the answer (Warning)
        self.metadata = metadata or {}  # of the Status: {"continue": token} of an expired list

    def status(self) -> dict[str, Any]:
        """The Status object, fields in the order of the original."""
        shown: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata, "status": "Failure"}
        if self.message:
            shown["message"] = self.message
        if self.reason:
            shown["reason"] = self.reason
        if self.details is not None:
            shown["details"] = self.details
        shown["code"] = self.code
        return shown


def qualified(group: str, resource: str) -> str:
    """`deployments.apps`; the core group has no suffix."""
    return f"{resource}.{group}" if group else resource


def _details(group: str, kind: str, name: str = "") -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if name:
        shown["name"] = name
    if group:
        shown["group"] = group
    if kind:
        shown["kind"] = kind
    return shown


def not_found(group: str, resource: str, name: str) -> APIError:
    return APIError(
        404, "NotFound", f"{qualified(group, resource)} {quote(name)} not found", _details(group, resource, name)
    )


def path_not_found() -> APIError:
    return APIError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> APIError:
    return APIError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def verb_not_supported(group: str, resource: str, verb: str) -> APIError:
    message = f'{verb} is not supported on resources of kind "{qualified(group, resource)}"'
    return APIError(405, "MethodNotAllowed", message, _details(group, resource))


def already_exists(group: str, resource: str, name: str) -> APIError:
    return APIError(
        409,
        "AlreadyExists",
        f"{qualified(group, resource)} {quote(name)} already exists",
        _details(group, resource, name),
    )


def generate_name_conflict(group: str, resource: str, name: str) -> APIError:
    message = (
        f"{qualified(group, resource)} {quote(name)} already exists, "
        "the server was not able to generate a unique name for the object"
    )
    return APIError(
        409, "AlreadyExists", message, {**_details(group, resource, name), "retryAfterSeconds": 1}, retry_after=1
    )


def conflict(group: str, resource: str, name: str, why: str) -> APIError:
    message = f"Operation cannot be fulfilled on {qualified(group, resource)} {quote(name)}: {why}"
    return APIError(409, "Conflict", message, _details(group, resource, name))


def modified(group: str, resource: str, name: str) -> APIError:
    return conflict(
        group,
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def forbidden(group: str, resource: str, name: str, why: str) -> APIError:
    shown = (
        f"{qualified(group, resource)} {quote(name)} is forbidden: {why}"
        if name
        else f"{qualified(group, resource)} is forbidden: {why}"
    )
    return APIError(403, "Forbidden", shown, _details(group, resource, name))


def unauthorized() -> APIError:
    return APIError(401, "Unauthorized", "Unauthorized")


def bad_request(message: str) -> APIError:
    return APIError(400, "BadRequest", message)


def internal(message: str) -> APIError:
    """500 with reason InternalError: the original prefixes the text and repeats it as a cause."""
    return APIError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def bare_internal(message: str) -> APIError:
    """500 without a reason: what the original answers for errors it has no words for."""
    return APIError(500, "", message)


MOST_CAUSES: Final = 1000  # what is wrong beyond that is not told: half a million causes would hurt whoever reads them


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> APIError:
    """422: one cause is shown alone, several as `[a, b]`, each once."""
    causes = causes[:MOST_CAUSES]
    shown = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    text = shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
    details = {**_details(group, kind, name), "causes": [cause.render() for cause in causes]}
    if not shown:
        return APIError(
            422, "Invalid", f"{qualified(group, kind)} {quote(name)} is invalid", _details(group, kind, name)
        )
    return APIError(422, "Invalid", f"{qualified(group, kind)} {quote(name)} is invalid: {text}", details)


def gone(message: str) -> APIError:
    return APIError(410, "Expired", message)


def not_acceptable(accepted: Sequence[str]) -> APIError:
    return APIError(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(accepted)}")


def unsupported_media_type(accepted: Sequence[str]) -> APIError:
    shown = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return APIError(415, "UnsupportedMediaType", shown)


def too_large(limit: int) -> APIError:
    return APIError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def too_many_requests(seconds: int = 1) -> APIError:
    message = "Too many requests, please try again later."
    return APIError(429, "TooManyRequests", message, {"retryAfterSeconds": seconds}, retry_after=seconds)


def timeout(message: str, seconds: int = 0) -> APIError:
    return APIError(
        504, "Timeout", f"Timeout: {message}", {"retryAfterSeconds": seconds} if seconds else {}, retry_after=seconds
    )


def unavailable(message: str) -> APIError:
    return APIError(503, "ServiceUnavailable", message)
