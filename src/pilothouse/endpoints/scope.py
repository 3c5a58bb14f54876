"""What every verb of one resource in one version works with. Made once by the installer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from pilothouse.endpoints.metrics import EndpointMetrics
from pilothouse.endpoints.negotiation import OFFERED
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.kit.aside import Aside
from pilothouse.kit.memo import remembered
from pilothouse.kit.record import record
from pilothouse.registry.request import Caller, Load, Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.serving.http import Request

if TYPE_CHECKING:
    from pilothouse.endpoints.body import BodyDecoder
    from pilothouse.endpoints.forms import Forms
    from pilothouse.registry.deleter import Deleter
    from pilothouse.registry.ownership import Ownership
    from pilothouse.registry.store import GenericStore

FORMS: Final = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_MAX_MANAGER: Final = 128
_MOST_DIGITS: Final = 20


class Warnings(list[str]):
    """Texts for Warning headers, attached to a request by the warning recorder."""


class Notes(dict[str, str]):
    """Annotations for the audit log, attached to a request by who keeps one."""


@record
class ServerOptions:
    """Settings that verbs read."""

    now: Callable[[], datetime]
    max_body: int = 3 * 1024 * 1024
    min_request_timeout: float = 1800.0  # seconds; watches without a time-out end between this and twice this
    allow_privileged: bool = True
    service_families: tuple[str, ...] = ("IPv4",)  # of cluster addresses, the cluster's own first
    random: Callable[[], float] = lambda: 0.5
    aside: Aside = field(default_factory=Aside)  # where big bodies are worked on
    offered: tuple[str, ...] = OFFERED  # media types of objects
    metrics: EndpointMetrics = field(default_factory=EndpointMetrics)


@record
class Scope:
    resource: Resource
    version: str
    subresource: str
    store: GenericStore
    deleter: Deleter
    forms: Forms
    body: BodyDecoder
    owner: Ownership
    options: ServerOptions

    @property
    def api_version(self) -> str:
        return self.resource.api_version(self.version)

    @property
    def as_stored(self) -> bool:
        """Whether a stored object is one of this version as it is, so that no conversion uses it up."""
        return self.resource.typed and self.version == self.resource.hub

    def write(
        self,
        request: Request,
        info: RequestInfo,
        manager: str,
        dry_run: bool,
        validation: str = "Warn",
        sent: Callable[[], Object] | None = None,
    ) -> Write:
        """The facts of one write. The manager defaults to the first word of the User-Agent. `sent`: the options, if
        they are not those of the query.
        """
        caller = request.maybe(Caller) or Caller()
        warnings = request.maybe(Warnings)
        notes = request.maybe(Notes)
        return Write(
            namespace=info.namespace if self.resource.namespaced else "",
            name=info.name,
            version=self.version,
            now=self.options.now(),
            warn=warnings.append if warnings is not None else _no_warning,
            subresource=self.subresource,
            caller=caller,
            manager=manager or agent_manager(request.header(b"user-agent") or ""),
            dry_run=dry_run,
            allow_privileged=self.options.allow_privileged,
            field_validation=validation,
            load=Load(body_size(request, self.options.max_body)),
            service_families=self.options.service_families,
            sent=sent or partial(sent_options, request),
            note=notes.__setitem__ if notes is not None else _no_note,
            verb=info.verb,
        )


def sent_options(request: Request) -> Object:
    """The options of a create, update or patch as the query has them."""
    query = request.maybe(Query)
    if query is None:
        return {}
    shown: Object = {}
    if "dryRun" in query:
        shown["dryRun"] = query.all("dryRun")
    for name in ("fieldManager", "fieldValidation"):
        if query.get(name):
            shown[name] = query.get(name)
    return shown


def body_size(request: Request, most: int) -> int:
    """Bytes of the body as announced; `most` where it comes in chunks, or nobody knows what was meant."""
    length = request.header(b"content-length")
    if length is not None:
        return int(length) if length.isdecimal() and len(length) < _MOST_DIGITS else most
    return 0 if request.header(b"transfer-encoding") is None else most


def _no_warning(text: str) -> None:
    """A request outside the chain has nowhere to put warnings."""


def _no_note(name: str, text: str) -> None:
    """No audit log is kept."""


@remembered(256)
def agent_manager(agent: str) -> str:
    """The field manager that a User-Agent (its bytes as latin-1) names: what stands before the first slash, printable,
    at most 128 bytes.
    """
    name = agent.partition("/")[0].encode("latin-1", "replace").decode("utf-8", "replace")
    name = "".join(char for char in name if char.isprintable())
    return name.encode()[:_MAX_MANAGER].decode("utf-8", "ignore") or "unknown"


def info_of(request: Request) -> tuple[RequestInfo, Query]:
    return request.attached(RequestInfo), request.attached(Query)
