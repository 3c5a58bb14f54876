"""DefaultTolerationSeconds: pods stay five minutes on a node that is not ready or out of reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.registry.resource import Resource

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
SECONDS: Final = 300


class DefaultTolerationSeconds:
    """Adds a toleration for each of the two taints that the pod does not tolerate yet."""

    name = "DefaultTolerationSeconds"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation in (CREATE, UPDATE)

    async def admit(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        spec = attributes.obj.setdefault("spec", {})
        held = spec.get("tolerations")
        if not held:
            spec["tolerations"] = [_for_a_while(NOT_READY), _for_a_while(UNREACHABLE)]
            return
        missing = [key for key in (NOT_READY, UNREACHABLE) if not _tolerates(held, key)]
        if missing:
            spec["tolerations"] = [*held, *(_for_a_while(key) for key in missing)]


def _tolerates(held: Sequence[dict[str, Any]], taint: str) -> bool:
    return any(one.get("key", "") in (taint, "") and one.get("effect", "") in ("NoExecute", "") for one in held)


def _for_a_while(taint: str) -> dict[str, Any]:
    return {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}
