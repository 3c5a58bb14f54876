"""pods/binding and bindings: a scheduler tells on which node a Pod shall run (API reference, "Binding")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pilothouse.machinery.errors import APIError, bad_request, bare_internal, conflict
from pilothouse.machinery.times import format_time
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext
    from pilothouse.builtin.virtuals import VirtualContext

SUCCESS: Final = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_ZONES: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class BindingStorage:
    """Creates only. `nodes` gives the labels of the node, which the Pod takes its zone from."""

    def __init__(self, pods: GenericStore, nodes: GenericStore) -> None:
        self._pods = pods
        self._nodes = nodes

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        metadata = obj.get("metadata") or {}
        name = write.name or metadata.get("name", "")
        if write.name and metadata.get("name") != write.name:
            raise bad_request("name in URL does not match name in Binding object")
        _check_target(obj)
        zones = await self._zones(obj["target"]["name"])

        async def bind(old: Object | None) -> Object:
            assert old is not None
            key = self._pods.resource.key(write.namespace, name)
            return await self._pods.services.aside.run(write.load.size, _bound, name, old, obj, zones, write, key)

        await self._pods.update(name, bind, write_as_status(write, name))
        return 201, dict(SUCCESS)

    async def _zones(self, node: str) -> dict[str, str]:
        try:
            stored = await self._nodes.get("", node)
        except APIError as error:
            if error.code != 404:
                raise
            return {}
        labels = self._nodes.codec.index(stored).labels
        return {key: labels[key] for key in _ZONES if key in labels}


def write_as_status(write: Write, name: str) -> Write:
    """Binding writes what the main resource may not change: it goes past the checks of its updates."""
    return replace(write, name=name, subresource="binding")


def _check_target(obj: Object) -> None:
    target = obj.get("target") or {}
    kind = target.get("kind", "")
    if kind not in ("", "Node"):
        raise bare_internal(f'target.kind: Unsupported value: "{kind}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        raise bare_internal("target.name: Required value")


def _bound(name: str, pod: Object, binding: Object, zones: dict[str, str], write: Write, key: str) -> Object:
    """The pod on its node. Raises Conflict."""
    metadata: dict[str, Any] = pod["metadata"]
    uid = (binding.get("metadata") or {}).get("uid")
    if uid and uid != metadata.get("uid"):
        why = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata.get('uid')}"
        )
        raise conflict("", "pods", name, why)
    if "deletionTimestamp" in metadata:
        raise conflict("", "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    spec = pod["spec"]
    if spec.get("nodeName"):
        raise conflict("", "pods/binding", name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise conflict("", "pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")
    sent = binding.get("metadata") or {}
    if sent.get("annotations"):
        metadata["annotations"] = dict(sorted({**(metadata.get("annotations") or {}), **sent["annotations"]}.items()))
    labels = {**(sent.get("labels") or {}), **zones}
    if labels:
        metadata["labels"] = dict(sorted({**(metadata.get("labels") or {}), **labels}.items()))
    spec["nodeName"] = binding["target"]["name"]
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)  # it has come true, or not
    status["conditions"] = _scheduled(status.get("conditions") or (), format_time(write.now))
    return pod


def _scheduled(conditions: Sequence[Object], now: str) -> list[Object]:
    """Conditions of a pod with the one that it has a node, in the place that this had."""
    made = list(conditions)
    place = next((index for index, one in enumerate(made) if one.get("type") == "PodScheduled"), len(made))
    before = made[place] if place < len(made) else {}
    since = before.get("lastTransitionTime", now) if before.get("status") == "True" else now
    made[place : place + 1] = [
        {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": since}
    ]
    return made


def storage(context: PartContext) -> BindingStorage:
    return BindingStorage(context.stores["", "pods"], context.stores["", "nodes"])


def bindings(context: VirtualContext) -> BindingStorage:
    """The same as a resource of its own."""
    return BindingStorage(context.stores["", "pods"], context.stores["", "nodes"])
