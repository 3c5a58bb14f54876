"""Wires the trust in a front before us: who may name callers by headers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pilothouse.app.settings import Settings
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.requestheader import FrontProxy, HeaderNames


def build_front_proxy(settings: Settings, now: Callable[[], datetime]) -> FrontProxy | None:
    """None where no front is trusted."""
    authority = settings.requestheader_client_ca_file
    if authority is None:
        return None
    names = HeaderNames(
        settings.requestheader_username_headers,
        settings.requestheader_uid_headers,
        settings.requestheader_group_headers,
        settings.requestheader_extra_headers_prefix,
    )
    return FrontProxy(ClientAuthority(authority.read_bytes()), settings.requestheader_allowed_names, names, now)
