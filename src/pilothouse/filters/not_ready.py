"""Until all paths are installed, what is not found may only be not there yet: 503 with Retry-After instead of 404."""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.machinery.errors import APIError
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response

_MESSAGE = "the request has been made before all known HTTP paths have been installed, please try again"
RETRY_SECONDS = 5


def not_ready(installed: Callable[[], bool]) -> Filter:
    """`installed` becomes true once and stays so."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            if installed():
                return await inner(request)
            try:
                answer = await inner(request)
            except APIError as error:
                if error.code == 404 and error.details == {}:
                    raise _refusal() from error
                raise
            if isinstance(answer, Response) and answer.status == 404 and answer.body == b"404 page not found\n":
                raise _refusal()
            return answer

        return handle

    return build


def _refusal() -> APIError:
    return APIError(
        503, "ServiceUnavailable", _MESSAGE, {"retryAfterSeconds": RETRY_SECONDS}, retry_after=RETRY_SECONDS
    )
