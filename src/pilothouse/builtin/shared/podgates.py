"""Fields of features that are off: dropped without a word, unless the old object has them already."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from operator import contains
from typing import Any, Final

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_KINDS: Final = ("containers", "initContainers", "ephemeralContainers")

Object = dict[str, Any]
Place = tuple[Object, str]  # who has the field, and its name


def _lifecycle(container: Object) -> Iterator[Place]:
    lifecycle = container.get("lifecycle")
    if lifecycle is not None and "stopSignal" in lifecycle:
        yield lifecycle, "stopSignal"


def _probe_modes(container: Object) -> Iterator[Place]:
    for name in _PROBES:
        probe = container.get(name)
        if probe:
            if "mode" in (probe.get("grpc") or ()):
                yield probe["grpc"], "mode"
            if "protocol" in (probe.get("httpGet") or ()):
                yield probe["httpGet"], "protocol"


def _volumes(spec: Object) -> Iterator[Place]:
    volumes = spec["volumes"]
    if not any(map(dict.get, volumes, repeat("emptyDir"))) and not any(map(contains, volumes, repeat("ephemeral"))):
        return
    for volume in volumes:
        empty = volume.get("emptyDir")
        if empty and "mode" in empty:
            yield empty, "mode"
        claim = volume.get("ephemeral")
        if claim and "dataSourceRef" in ((claim.get("volumeClaimTemplate") or {}).get("spec") or ()):
            yield from claim_sources(claim["volumeClaimTemplate"]["spec"])


def claim_sources(spec: Object) -> Iterator[Place]:
    """Data sources of another namespace."""
    reference = spec.get("dataSourceRef")
    if reference is not None and reference.get("namespace"):
        yield spec, "dataSourceRef"


def closed_fields(spec: Object) -> Iterator[Place]:
    """Every field of a closed feature that a pod spec has."""
    for name in ("schedulingGroup", "evictionResponders"):
        if name in spec:
            yield spec, name
    for kind in _KINDS:
        for container in spec.get(kind) or ():
            if "lifecycle" in container:
                yield from _lifecycle(container)
            yield from _probe_modes(container)
    if spec.get("volumes"):
        yield from _volumes(spec)


def drop_from_spec(spec: Object | None, old: Object | None) -> None:
    """In place. Whatever the old spec has of a feature stays usable."""
    if spec is None:
        return
    places = list(closed_fields(spec))
    if not places:
        return
    kept = {name for _, name in closed_fields(old)} if old else set()
    for owner, name in places:
        if name not in kept:
            del owner[name]
    for kind in _KINDS:
        for container in spec.get(kind) or ():
            if container.get("lifecycle") == {}:
                del container["lifecycle"]


def drop_closed(pod: Object, old: Object | None) -> None:
    """For a pod or a pod template."""
    drop_from_spec(pod.get("spec"), (old or {}).get("spec"))
