"""The extension server itself: kinds, the chain of filters before them, and the socket."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from pilothouse.aggregator.delegation import PathRoutes, delegation
from pilothouse.auth.authenticators import Union
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.requestheader import FrontProxy, HeaderNames
from pilothouse.builtin.binaryforms import encode_document
from pilothouse.builtin.published import discovery_package
from pilothouse.builtin.types import builtin_types
from pilothouse.discovery.catalog import Catalog
from pilothouse.discovery.handlers import discovery_handler
from pilothouse.discovery.model import Group
from pilothouse.endpoints.negotiation import PROTOBUF, YAML, Form
from pilothouse.endpoints.render import Renderer
from pilothouse.extension.kinds import Compute, Kind, Object, Served, now
from pilothouse.extension.schemas import schema_of
from pilothouse.extension.upstream import Trusted, Upstream, delegated
from pilothouse.extensions.definition import ESTABLISHED, NAMES_ACCEPTED, Definition, Names, Version
from pilothouse.filters.audit_id import audit_id
from pilothouse.filters.authentication import authentication
from pilothouse.filters.cache_control import cache_control
from pilothouse.filters.chain import compose
from pilothouse.filters.deadline import deadline
from pilothouse.filters.errors import errors
from pilothouse.filters.front_proxy import front_proxy
from pilothouse.filters.recovery import recovery
from pilothouse.filters.request_info import request_info
from pilothouse.filters.warnings import warnings
from pilothouse.kit.ids import UuidSource
from pilothouse.machinery.jsoncodec import dumps, dumps_pretty
from pilothouse.openapi.handlers import openapi_handler
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.health import Check, Health, HealthMetrics, always_well, health_handler
from pilothouse.serving.http import Handler
from pilothouse.serving.tls import CertificateFiles, server_context
from pilothouse.storage.engines.memory import MemoryEngine

READS: Final = ("get", "list", "watch")
_ALL: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_SECONDS: Final = 60.0


class Extension:
    """An API server of one version of one group."""

    def __init__(self, group: str, version: str) -> None:
        self.group = group
        self.version = version
        self._kinds: list[Kind] = []

    # Declaring

    def stored(
        self, kind: str, plural: str, *, spec: Any, status: Any = None, namespaced: bool = True,
        columns: Mapping[str, str] | None = None, short_names: Sequence[str] = (), verbs: Sequence[str] = _ALL,
    ) -> None:  # fmt: skip
        """A kind whose objects clients write. `spec`, `status`: a dataclass or a schema; `columns`: title -> JSON path.

        Raises TypeError for a type that cannot be said in a schema.
        """
        properties = {"spec": schema_of(spec)} | ({"status": schema_of(status)} if status is not None else {})
        schema = {"type": "object", "properties": properties}
        definition = self._definition(kind, plural, namespaced, schema, columns, short_names, status is not None)
        self._kinds.append(Kind(definition, tuple(verbs)))

    def computed(
        self, kind: str, plural: str, compute: Compute, *, schema: Any = None, namespaced: bool = True,
        columns: Mapping[str, str] | None = None, short_names: Sequence[str] = (), every: float = 1.0,
    ) -> None:  # fmt: skip
        """A kind whose objects `compute` makes (all of them, with metadata), each time somebody reads.

        `schema`: of the whole object, a dataclass or a schema; None lets anything through.
        """
        found = (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True} if schema is None else schema_of(schema)
        )
        definition = self._definition(kind, plural, namespaced, found, columns, short_names, False)
        self._kinds.append(Kind(definition, READS, compute, every))

    def _definition(
        self, kind: str, plural: str, namespaced: bool, schema: Object, columns: Mapping[str, str] | None,
        short_names: Sequence[str], status: bool,
    ) -> Definition:  # fmt: skip
        names = Names(plural, kind.lower(), kind, f"{kind}List", tuple(short_names))
        shown = tuple({"name": name, "type": "string", "jsonPath": path} for name, path in (columns or {}).items())
        version = Version(self.version, True, True, schema, status=status, columns=shown)
        conditions = {ESTABLISHED: "True", NAMES_ACCEPTED: "True"}
        name = f"{plural}.{self.group}"
        return Definition(name, name, self.group, namespaced, names, names, (version,), {}, conditions)

    # Serving

    def run(
        self, *, port: int, certificate: tuple[Path, Path], host: str = "0.0.0.0", upstream: Upstream | None = None
    ) -> None:
        """Serve until the process ends. `certificate`: PEM files (chain, key). See `serving`."""
        logging.basicConfig(level=logging.INFO)

        async def forever() -> None:
            async with self.serving(port=port, certificate=certificate, host=host, upstream=upstream):
                await asyncio.Event().wait()

        asyncio.run(forever())

    @asynccontextmanager
    async def serving(
        self, *, port: int, certificate: tuple[Path, Path], host: str = "0.0.0.0", upstream: Upstream | None = None,
        trusted: Trusted | None = None,
    ) -> AsyncIterator[int]:  # fmt: skip
        """Serve; gives the port. `upstream`: the server in front, which is asked what callers may do.

        `trusted`: who may name callers; without it the upstream is asked. Without both nobody gets in.
        Raises OSError, APIError where the upstream does not answer.
        """
        if trusted is None:
            trusted = await upstream.trusted() if upstream is not None else Trusted(b"")
        engine = MemoryEngine()
        engine.start()
        served = Served(self.group, self.version, self._kinds, engine)
        names = HeaderNames(uid=("X-Remote-Uid",))
        front = FrontProxy(ClientAuthority(trusted.authorities), trusted.names, names, now)
        handler = _chain(served, front if trusted.authorities else None, upstream)
        context = _context(certificate, trusted)
        edge = Edge(handler, bind(host, port), context=lambda: context)
        await edge.start()
        try:
            yield edge.port
        finally:
            await edge.drain(_SECONDS)
            served.close()
            if upstream is not None:
                upstream.close()
            await engine.close()


def _context(certificate: tuple[Path, Path], trusted: Trusted) -> ssl.SSLContext:
    context = server_context(CertificateFiles(*certificate))
    if trusted.authorities:
        context.load_verify_locations(cadata=trusted.authorities.decode("ascii"))
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def _chain(served: Served, front: FrontProxy | None, upstream: Upstream | None) -> Handler:
    """The documents, the objects, and the filters before them."""
    catalog = Catalog(partial(_encode, served.renderer), lambda: "")
    catalog.serve([Group("", ()), *served.groups()])
    routes = PathRoutes()
    for name in ("healthz", "livez", "readyz"):
        routes.under(f"/{name}", health_handler(Health(name, [Check("ping", always_well)], HealthMetrics())))
    last = delegation([routes, served])
    handler = discovery_handler(catalog, openapi_handler(served.openapi(), asyncio.to_thread, time.time, last))
    return compose(
        [
            recovery(),
            audit_id(UuidSource()),
            cache_control(),
            errors(served.renderer),
            warnings(),
            request_info(),
            deadline(_SECONDS),
            front_proxy(front, authentication(Union((), anonymous=upstream is not None))),
            delegated(upstream),
        ],
        handler,
    )


def _encode(renderer: Renderer, kind: str, document: dict[str, object], form: Form) -> bytes:
    if form.media_type == PROTOBUF:
        return encode_document(builtin_types(), discovery_package(kind), kind, document)
    if form.media_type == YAML:
        return renderer.encode(document, form)
    return dumps_pretty(document) if form.pretty else dumps(document) + b"\n"
