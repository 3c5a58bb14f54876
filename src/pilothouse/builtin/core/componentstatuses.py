"""componentstatuses: a deprecated view of the store and of what usually runs beside an API server, computed when asked
for (API reference, "ComponentStatus").
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from pilothouse.machinery.errors import not_found
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.registry.resource import Object
from pilothouse.storage import errors
from pilothouse.storage.api import ListRequest, Page, Read, Storage, StoredObject

if TYPE_CHECKING:
    from pilothouse.builtin.virtuals import NothingKept, VirtualContext

Probe = Callable[[], Awaitable[str]]
"""Says what a component answered to "are you well". Raises OSError where there is no such answer."""

_PORTS: Final = {"controller-manager": 10257, "scheduler": 10259}  # on this machine
_SECONDS: Final = 5.0  # a probe may take
_LONGEST_ANSWER: Final = 4096  # bytes


def component(name: str, healthy: bool, message: str) -> Object:
    condition = {"type": "Healthy", "status": "True" if healthy else "False", "message": message}
    return {"kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": name}, "conditions": [condition]}


async def _asked(name: str, probe: Probe) -> Object:
    try:
        async with asyncio.timeout(_SECONDS):
            message = await probe()
    except (OSError, errors.StorageError, TimeoutError) as error:
        return component(name, False, str(error) or "timed out")
    return component(name, True, message)


def _local(port: int) -> Probe:
    """Asks a component that serves TLS on this machine; who signed its certificate does not matter here."""

    async def probe() -> str:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        where = f"127.0.0.1:{port}"
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        except ConnectionRefusedError as error:
            raise OSError(f'Get "https://{where}/healthz": dial tcp {where}: connect: connection refused') from error
        try:
            writer.write(f"GET /healthz HTTP/1.0\r\nHost: {where}\r\n\r\n".encode())
            answer = await reader.read(_LONGEST_ANSWER)
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        text = body.decode("utf-8", "replace")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise OSError(text)
        return text

    return probe


def _store(storage: Storage) -> Probe:
    async def probe() -> str:
        await storage.revision()
        return "ok"

    return probe


def computed(base: NothingKept, probes: Mapping[str, Probe]) -> Storage:
    """`base` with one object for each probe."""
    return _Computed(base, probes)


class _Computed:
    """Reads are computed; all else is as `base` has it."""

    def __init__(self, base: NothingKept, probes: Mapping[str, Probe]) -> None:
        self._probes = probes
        self.prefix = base.prefix
        self.create = base.create
        self.update = base.update
        self.delete = base.delete
        self.watch = base.watch
        self.revision = base.revision

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        name = key.removeprefix(self.prefix)
        probe = self._probes.get(name)
        if probe is None:
            raise not_found("", "componentstatus", name)  # the one kind that is told in the singular
        return await self._object(name, probe)

    async def list(self, request: ListRequest) -> Page:
        made = await asyncio.gather(*(self._object(name, probe) for name, probe in self._probes.items()))
        accept = request.accept
        return Page([one for one in made if accept is None or accept(one)], 0)

    async def _object(self, name: str, probe: Probe) -> StoredObject:
        return StoredObject(self.prefix + name, dumps(await _asked(name, probe)), 0)


def storage(context: VirtualContext, base: NothingKept) -> Storage:
    probes = {name: _local(port) for name, port in _PORTS.items()}
    return computed(base, {"etcd-0": _store(context.stores["", "namespaces"].storage), **probes})
