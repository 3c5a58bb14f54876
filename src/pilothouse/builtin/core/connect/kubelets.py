"""How to reach the kubelet of a node (Kubernetes documentation, "Communication between Nodes and the Control
Plane").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pilothouse.builtin.core.connect.metrics import LogMetrics
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bare_internal, not_found
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.serving.client import Client, Destination
from pilothouse.serving.dialing import ClientTLS, client_tls

PREFERRED: Final = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
PORT: Final = 10250  # of a kubelet that says no other


class Outgoing:
    """Connections to what runs in the cluster, made at first use: a server without nodes never pays for them.

    `authority`: PEM of who signed the certificates of kubelets, b"" believes any. `certificate`: chain and key that
    kubelets are shown. `preferred`: types of addresses of nodes, the best first.
    """

    def __init__(
        self,
        authority: bytes = b"",
        certificate: tuple[Path, Path] | None = None,
        preferred: Sequence[str] = PREFERRED,
        logs: LogMetrics | None = None,
    ) -> None:
        self.logs = logs or LogMetrics()
        self._authority = authority
        self._certificate = certificate
        self._trusted: dict[str, ClientTLS] = {}
        self._client: Client | None = None
        self.preferred = preferred

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = Client()
        return self._client

    @cached_property
    def careless(self) -> ClientTLS:
        """Whoever answers will do."""
        return client_tls("", careless=True, certificate=self._certificate)

    def tls(self, host: str) -> ClientTLS:
        """How to speak to the kubelet on a host."""
        if not self._authority:
            return self.careless
        made = self._trusted.get(host)
        if made is None:
            made = self._trusted[host] = client_tls(host, authorities=self._authority, certificate=self._certificate)
        return made

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


@record
class Kubelet:
    """`host` as the node tells it."""

    host: str
    port: int

    def destination(self, outgoing: Outgoing, *, careless: bool = False) -> Destination:
        return Destination(self.host, self.port, outgoing.careless if careless else outgoing.tls(self.host))


async def kubelet_of(nodes: GenericStore, name: str, preferred: Sequence[str]) -> Kubelet:
    """The kubelet of a pod's node. Raises NotFound (which the original tells as that of a pod), an internal error."""
    try:
        stored = await nodes.get("", name)
    except APIError as error:
        if error.code != 404:
            raise
        raise not_found("", "pods", name) from error
    return address_of(nodes.codec.decode(stored), preferred)


def address_of(node: Object, preferred: Sequence[str]) -> Kubelet:
    """Raises an internal error for a node without an address of a preferred type."""
    status: dict[str, Any] = node.get("status") or {}
    addresses = status.get("addresses") or []
    for kind in preferred:
        for address in addresses:
            if address.get("type") == kind:
                return Kubelet(address.get("address", ""), _port(status))
    known = " ".join(f"{{{one.get('type', '')} {one.get('address', '')}}}" for one in addresses)
    raise bare_internal(f"no preferred addresses found; known addresses: [{known}]")


def _port(status: dict[str, Any]) -> int:
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    port: int = endpoint.get("Port") or PORT
    return port
