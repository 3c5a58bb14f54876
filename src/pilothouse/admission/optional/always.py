"""AlwaysAdmit and AlwaysDeny: for trying things out."""

from __future__ import annotations

from pilothouse.admission.plugin import CREATE, DELETE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.resource import Resource


class AlwaysAdmit:
    name = "AlwaysAdmit"

    def handles(self, resource: Resource, operation: str) -> bool:
        return False


class AlwaysDeny:
    name = "AlwaysDeny"

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation in (CREATE, UPDATE, DELETE)

    async def check(self, attributes: Attributes) -> None:
        raise refuse(attributes, "admission control is denying all modifications")
