"""The four bounds of a limit range, and what is said where one is passed. Each gives "" for what is within."""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.machinery.quantity import Quantity

Check = Callable[[str, str, Quantity, "Quantity | None", "Quantity | None"], str]
"""(type of the limit, resource, bound, request, limit) -> what is wrong."""


def at_least(kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"minimum {name} usage per {kind} is {bound}"
    if request is None:
        return f"{head}.  No request is specified"
    if request < bound:
        return f"{head}, but request is {request}"
    if limit is not None and limit < bound:
        return f"{head}, but limit is {limit}"
    return ""


def at_most(kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"maximum {name} usage per {kind} is {bound}"
    if limit is None:
        return f"{head}.  No limit is specified"
    if limit > bound:
        return f"{head}, but limit is {limit}"
    if request is not None and request > bound:
        return f"{head}, but request is {request}"
    return ""


def requested_at_most(kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"maximum {name} usage per {kind} is {bound}"
    if request is None:
        return f"{head}.  No request is specified"
    return f"{head}, but request is {request}" if request > bound else ""


def within_ratio(kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    head = f"{name} max limit to request ratio per {kind} is {bound}"
    if not request:
        return f"{head}, but no request is specified or request is 0"
    if not limit:
        return f"{head}, but no limit is specified or limit is 0"
    ratio = limit.nanos / request.nanos
    return f"{head}, but provided ratio is {ratio:f}" if limit.nanos * 10**9 > bound.nanos * request.nanos else ""
