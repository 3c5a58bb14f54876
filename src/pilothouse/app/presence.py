"""Wires what the server says of itself in its own store, and keeps saying as long as it runs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime

from pilothouse.app.poststart import STORAGE_VERSIONS
from pilothouse.app.settings import Settings
from pilothouse.builtin import enablement, facts
from pilothouse.builtin.presence.authinfo import AuthInfo, authentication_info
from pilothouse.builtin.presence.leases import IdentityLease, LeaseCleaner, Presence
from pilothouse.builtin.presence.storageversions import StorageVersions
from pilothouse.builtin.presence.storageversions import kept as kept_resources
from pilothouse.builtin.presence.tokentracking import ensure_token_tracking
from pilothouse.registry.store import GenericStore
from pilothouse.serving.hooks import Hooks

_STORAGE_VERSIONS = "internal.apiserver.k8s.io", "storageversions"
_NAMESPACES = "start-system-namespaces-controller"


def tells_storage_versions(settings: Settings, stores: Collection[tuple[str, str]]) -> bool:
    """Is it wanted that others are told how kinds are kept? The feature and the API must both be on."""
    return enablement.gates(settings.feature_gates)["StorageVersionAPI"] and _STORAGE_VERSIONS in stores


def keep_presence(
    settings: Settings,
    client_ca: bytes,
    stores: dict[tuple[str, str], GenericStore],
    hooks: Hooks,
    now: Callable[[], datetime],
    new_uid: Callable[[], str],
) -> None:
    """Add the hooks: the ConfigMaps, the Lease of this server and the end of those of others."""
    configmaps, leases = stores["", "configmaps"], stores["coordination.k8s.io", "leases"]
    presence = Presence(socket.gethostname(), new_uid(), f"{settings.host}:{settings.port}")
    info = AuthInfo(configmaps, _authentication(settings, client_ca), now)
    lease, cleaner = IdentityLease(leases, presence, now), LeaseCleaner(leases, now)
    tasks: list[asyncio.Task[None]] = []

    def kept(
        first: Callable[[], Awaitable[object]], run: Callable[[], Awaitable[None]]
    ) -> Callable[[], Awaitable[None]]:
        async def start() -> None:
            await hooks.done(_NAMESPACES)
            await first()
            tasks.append(asyncio.ensure_future(run()))

        return start

    async def track() -> None:
        await hooks.done(_NAMESPACES)
        await ensure_token_tracking(configmaps, now)

    async def stop() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    hooks.add("start-cluster-authentication-info-controller", kept(info.ensure, info.run))
    hooks.add("start-kube-apiserver-identity-lease-controller", kept(lease.renew, lease.run))
    hooks.add("start-kube-apiserver-identity-lease-garbage-collector", kept(cleaner.clean, cleaner.run))
    hooks.add("start-legacy-token-tracking-controller", track)
    versions = stores.get(_STORAGE_VERSIONS)
    if tells_storage_versions(settings, stores) and versions is not None:
        told = StorageVersions(versions, presence.name, now)
        served = enablement.served(settings.runtime_config, settings.feature_gates)

        async def tell() -> None:
            await told.tell(kept_resources(facts.load(), served))

        hooks.add(STORAGE_VERSIONS, tell)
    hooks.at_end(stop)


def _authentication(settings: Settings, client_ca: bytes) -> dict[str, str]:
    authority = settings.requestheader_client_ca_file
    lists = {
        "requestheader-allowed-names": settings.requestheader_allowed_names,
        "requestheader-extra-headers-prefix": settings.requestheader_extra_headers_prefix,
        "requestheader-group-headers": settings.requestheader_group_headers,
        "requestheader-username-headers": settings.requestheader_username_headers,
    }
    if settings.requestheader_uid_headers:
        lists["requestheader-uid-headers"] = settings.requestheader_uid_headers
    return authentication_info(client_ca, authority.read_bytes() if authority is not None else b"", lists)
