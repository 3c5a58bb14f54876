"""Keeps the flow schemas and priority levels that every server has: those that are missing are made, and those that
nobody has taken over are as this version of the server wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.builtin.flowcontrol.suggested import MANDATORY, levels, schemas
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import create_first, find_object, no_client

Object = dict[str, Any]
GROUP: Final = "flowcontrol.apiserver.k8s.io"
SCHEMAS: Final = (GROUP, "flowschemas")
LEVELS: Final = (GROUP, "prioritylevelconfigurations")
PERIOD: Final = 60.0  # seconds between two rounds
_MANAGER: Final = "api-priority-and-fairness-config-producer-v1"
_AUTO: Final = "apf.kubernetes.io/autoupdate-spec"
_VERSION: Final = "v1"


async def ensure_flow_control(stores: Mapping[tuple[str, str], GenericStore], now: Callable[[], datetime]) -> None:
    """One round. Levels come before the schemas that name them. Raises APIErrors."""
    for kind, wanted in ((LEVELS, levels()), (SCHEMAS, schemas())):
        store = stores[kind]
        owner = Ownership(store.resource, _VERSION)
        for name, spec in wanted.items():
            await _ensure(store, owner, spec, Write("", name, _VERSION, now(), no_client, manager=_MANAGER))


async def _ensure(store: GenericStore, owner: Ownership, spec: Object, write: Write) -> None:
    name = write.name
    found = await find_object(store, "", name)
    if found is None:
        await _create(store, owner, spec, write)
        return
    if _is_ours(found) and _changed(found, spec) is not None:

        async def produce(old: Object | None) -> Object:
            assert old is not None, name
            made = _changed(old, spec) if _is_ours(old) else None
            return old if made is None else owner.updated(made, old, write)

        await store.update(name, produce, write)


async def _create(store: GenericStore, owner: Ownership, spec: Object, write: Write) -> None:
    resource = store.resource
    obj: Object = {
        "kind": resource.kind,
        "apiVersion": resource.api_version(_VERSION),
        "metadata": {"name": write.name, "annotations": {_AUTO: "true"}},
        "spec": spec,
        "status": {},
    }
    await create_first(store, owner.created(obj, write), write)


def _is_ours(found: Object) -> bool:
    """Whether nobody has taken the object over: by the annotation, or as it was never changed."""
    metadata = found["metadata"]
    said = (metadata.get("annotations") or {}).get(_AUTO)
    if metadata["name"] in MANDATORY or said == "true":
        return True
    return said is None and metadata.get("generation") == 1


def _changed(found: Object, spec: Object) -> Object | None:
    """`found` as it should be; None where it is. What a level that is exempt shares is the administrator's."""
    metadata = found["metadata"]
    annotations = metadata.get("annotations") or {}
    kept = (found.get("spec") or {}).get("exempt")
    wanted = {**spec, "exempt": kept} if "exempt" in spec and kept is not None else spec
    if found.get("spec") == wanted and annotations.get(_AUTO) == "true":
        return None
    return {**found, "metadata": {**metadata, "annotations": {**annotations, _AUTO: "true"}}, "spec": wanted}
