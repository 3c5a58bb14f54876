"""TaintNodesByCondition: a new node takes no pods before it says that it is ready."""

from __future__ import annotations

from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.admission.tolerations import NOT_READY
from pilothouse.registry.resource import Resource


class TaintNodesByCondition:
    """Adds the not-ready taint where it is not there."""

    name = "TaintNodesByCondition"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "nodes") and operation == CREATE

    async def admit(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        spec = attributes.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(one.get("key") == NOT_READY and one.get("effect") == "NoSchedule" for one in taints):
            spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]
