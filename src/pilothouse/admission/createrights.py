"""What a PUT or an applied configuration makes, its writer must be allowed to create, not only to update or patch."""

from __future__ import annotations

from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.auth.attributes import Attributes as Asked
from pilothouse.auth.attributes import Authorizer, Decision
from pilothouse.auth.order import MASTERS
from pilothouse.auth.refusal import refusal
from pilothouse.registry.resource import Resource


class CreateRights:
    """Asks about creates whose request named the object: a POST does not, and was asked about before."""

    name = "CreateRights"

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation == CREATE

    async def check(self, attributes: Attributes) -> None:
        """Raises Forbidden."""
        write, resource = attributes.write, attributes.resource
        if not write.name or not write.caller.name or MASTERS in write.caller.groups:
            return
        asked = Asked(
            write.caller, "create", True, "", resource.group, write.version, write.namespace, resource.plural,
            write.subresource, write.name,
        )  # fmt: skip
        decision, reason = self._authorizer.authorize(asked)
        if decision is not Decision.ALLOW:
            raise refusal(asked, reason)
