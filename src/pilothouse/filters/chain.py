"""The filter chain, outermost first: the front page of the server. A test pins this order.

Filters run once, before all delegates. Each is a file of its own here; what they decide is decided in auth/ and kit/.
"""

from __future__ import annotations

from collections.abc import Sequence

from pilothouse.serving.http import Filter, Handler

ORDER = (
    "recovery",
    "audit_id",
    "metrics",
    "cache_control",
    "errors",
    "not_ready",
    "wait_group",
    "cors",
    "warnings",
    "request_info",
    "deadline",
    "authentication",
    "impersonation",
    "in_flight",
    "authorization",
    "tracing",
    "compression",
)
OPTIONAL = frozenset({"tracing"})  # only there where it was asked for: without, no request pays for it


def compose(filters: Sequence[Filter], handler: Handler) -> Handler:
    """`handler` inside of all `filters`, the first outermost."""
    for build in reversed(filters):
        handler = build(handler)
    return handler
