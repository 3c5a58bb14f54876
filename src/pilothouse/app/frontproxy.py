"""Wires the trust in a front before us: who may name callers by headers, and the ConfigMap that tells others of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from pilothouse.aggregator.authinfo import AuthInfo, authentication_info
from pilothouse.app.settings import Settings
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.requestheader import FrontProxy, HeaderNames
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks


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


def keep_authentication_info(
    settings: Settings, client_ca: bytes, configmaps: GenericStore, hooks: Hooks, now: Callable[[], datetime]
) -> None:
    """Keep ConfigMap extension-apiserver-authentication as long as the server runs."""
    authority = settings.requestheader_client_ca_file
    lists = {
        "requestheader-allowed-names": settings.requestheader_allowed_names,
        "requestheader-extra-headers-prefix": settings.requestheader_extra_headers_prefix,
        "requestheader-group-headers": settings.requestheader_group_headers,
        "requestheader-username-headers": settings.requestheader_username_headers,
    }
    if settings.requestheader_uid_headers:
        lists["requestheader-uid-headers"] = settings.requestheader_uid_headers
    front_ca = authority.read_bytes() if authority is not None else b""
    info = AuthInfo(configmaps, authentication_info(client_ca, front_ca, lists), now)
    tasks: list[asyncio.Task[None]] = []

    async def start() -> None:
        await hooks.done("start-system-namespaces-controller")
        await info.ensure()
        tasks.append(asyncio.get_running_loop().create_task(info.run(), name="authentication info"))

    async def stop() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    hooks.add("start-cluster-authentication-info-controller", start)
    hooks.at_end(stop)
