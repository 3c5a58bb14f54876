"""DenyServiceExternalIPs: nobody gets traffic for addresses that are not the cluster's to give."""

from __future__ import annotations

from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Object, Resource


class DenyServiceExternalIPs:
    """What a service has already may stay."""

    name = "DenyServiceExternalIPs"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "services") and operation in (CREATE, UPDATE)

    async def check(self, attributes: Attributes) -> None:
        if attributes.write.subresource:
            return
        if not set(_addresses(attributes.obj)) <= set(_addresses(attributes.old)):
            raise refuse(attributes, "Use of external IPs is denied by admission control")


def _addresses(service: Object | None) -> list[str]:
    return ((service or {}).get("spec") or {}).get("externalIPs") or []
