"""Field ownership as the verbs need it (Kubernetes documentation, "Server-Side Apply"): which fields an endpoint may
own.

The rules of entries are in `registry/managed/tracker.py`; this says what a resource's table of facts makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pilothouse.machinery.schema import Schema
from pilothouse.machinery.times import format_time
from pilothouse.machinery.typed.fieldset import Node, of_paths
from pilothouse.registry.managed.tracker import Applied, Tracker
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource

_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class Ownership:
    """One resource, or a subresource of its kind, in one version."""

    def __init__(self, resource: Resource, version: str, subresource: str = "") -> None:
        schemas = {served.api_version: served.schema for served in resource.versions.values()}
        served = resource.versions[version]
        reset = reset_fields(resource, served.schema, subresource)
        self._tracker = Tracker(
            schema=served.schema,
            api_version=served.api_version,
            kind=served.kind,
            subresource=subresource,
            reset=dict.fromkeys(schemas, reset) if reset else {},
            schemas=schemas,
            convert=_converter(resource),
            custom=not resource.typed,
        )

    @property
    def tracker(self) -> Tracker:
        return self._tracker

    def created(self, obj: Object, write: Write) -> Object:
        """`obj` with the writer as the owner of its fields."""
        return self._tracker.create(obj, write.manager, format_time(write.now))

    def updated(self, obj: Object, old: Object, write: Write) -> Object:
        """`obj` with its owners, the writer among them for what it changed in `old`."""
        return self._tracker.update(old, obj, write.manager, format_time(write.now))

    def applied(self, config: Object, old: Object | None, write: Write, *, force: bool) -> Object:
        """What comes of applying `config`; not yet defaulted. Raises Conflict."""
        return self._tracker.apply(old, config, write.manager, format_time(write.now), force=force)

    def applied_late(self, config: Object, old: Object | None, write: Write, *, force: bool) -> Applied:
        """As `applied`, for who asks for the owners later. Raises Conflict."""
        return self._tracker.apply_late(old, config, write.manager, format_time(write.now), force=force)


def reset_fields(resource: Resource, schema: Schema, subresource: str) -> Node:
    """The fields that an endpoint resets, and so does not own: each of the main resource and /status those of the
    other.
    """
    status = resource.status
    paths: list[tuple[str, ...]] = [(f"f:{name}",) for name in resource.not_owned] if not subresource else []
    if status is not None and not subresource and status.dropped_on_update:
        paths.append(("f:status",))
    if status is not None and subresource == "status":
        paths += [
            (f"f:{name}",) for name in schema.properties if name not in ("metadata", "status", "kind", "apiVersion")
        ]
        paths += _metadata_paths(status.keeps)
    return of_paths(*paths) if paths else {}


def _metadata_paths(keeps: Iterable[str]) -> list[tuple[str, ...]]:
    kept = set(keeps)
    if not kept:
        return [("f:metadata",)]
    return [("f:metadata", f"f:{name}") for name in _METADATA if name not in kept]


def _converter(resource: Resource) -> Callable[[Object, str], Object]:
    by_api_version = {served.api_version: name for name, served in resource.versions.items()}

    def convert(obj: Object, api_version: str) -> Object:
        version = by_api_version[api_version]
        shown = obj
        source = by_api_version.get(obj.get("apiVersion", ""), resource.hub)
        if resource.convert is not None and source != version:
            hub = resource.convert.to_hub(dict(obj), source) if source != resource.hub else dict(obj)
            shown = resource.convert.from_hub(hub, version) if version != resource.hub else hub
        return {**shown, "apiVersion": api_version, "kind": resource.versions[version].kind}

    return convert
