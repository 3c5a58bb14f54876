"""Rules that may need an object in another version: generators that ask for it, and who answers them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from pilothouse.machinery.errors import APIError, bad_request

Object = dict[str, Any]
Convert = tuple[Object, str]  # asks for an object in another apiVersion
T = TypeVar("T")
Steps = Generator[Convert, Object, T]


def run(steps: Steps[T], convert: Callable[[Object, str], Object]) -> T:
    """Carries the steps out with a conversion that answers at once."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(convert(*wanted))
    except StopIteration as done:
        result: T = done.value
        return result
    except RecursionError:
        raise too_deep() from None


async def drive(steps: Steps[T], convert: Callable[[Object, str], Awaitable[Object]]) -> T:
    """Carries the steps out with a conversion that must be waited for."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(await convert(*wanted))
    except StopIteration as done:
        result: T = done.value
        return result
    except RecursionError:
        raise too_deep() from None


def too_deep() -> APIError:
    return bad_request("exceeded max depth")
