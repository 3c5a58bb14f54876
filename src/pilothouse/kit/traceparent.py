"""Which trace the running code works for: for calls that leave this process deep inside of a request.

A context variable, as such calls are made where no request is known, some of them in tasks of their own.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

TRACEPARENT: Final[ContextVar[bytes]] = ContextVar("traceparent", default=b"")
"""The value of the header `traceparent` (W3C Trace Context); b"" where nothing is traced."""
