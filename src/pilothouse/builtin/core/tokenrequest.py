"""serviceaccounts/token: a token for a service account, bound to an object if wanted (API
reference, "TokenRequest").
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pilothouse.auth.identity import Identity
from pilothouse.auth.serviceaccounts import Grant, claims
from pilothouse.builtin.types import builtin_types
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, conflict, invalid
from pilothouse.machinery.rules import Field, at, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.managed.tracker import Tracker
from pilothouse.registry.metadata import ordered
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext, Stores

GROUP: Final = "authentication.k8s.io"
KIND: Final = "TokenRequest"
DEFAULT_SECONDS: Final = 3600
SHORTEST: Final = 600  # seconds
LONGEST: Final = 1 << 32
# Kubelets ask for this many seconds for the token of a pod; it then lives for a year and is warned of after that time.
WARNED_SECONDS: Final = 3607
EXTENDED_SECONDS: Final = 365 * 24 * 3600
# (apiVersion, kind) -> resource of the core group; an empty apiVersion is taken for v1.
_BOUND: Final = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_OTHER_ACCOUNT: Final = (
    'cannot bind token for serviceaccount "{name}" to pod running with different serviceaccount name.'
)


def _lifetime(value: int, field: Field) -> None:
    if value < SHORTEST:
        field.invalid("", value, "may not specify a duration less than 10 minutes")
    if value > LONGEST:
        field.invalid("", value, "may not specify a duration larger than 2^32 seconds")


_validate: Final = rules(at("spec.expirationSeconds", _lifetime))


@record
class TokenRequests:
    """Signs tokens; a dry run signs too."""

    stores: Stores
    identity: Identity
    tracker: Tracker
    new_uid: Callable[[], str]

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """Raises NotFound, BadRequest, Conflict, Invalid."""
        spec: dict[str, Any] = dict(obj.get("spec") or {})
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = DEFAULT_SECONDS
        run, now = self.stores["", "serviceaccounts"].services.aside.run, format_time(write.now)
        owned = await run(write.load.size, self.tracker.create, {**obj, "spec": spec}, write.manager, now)
        account = await self._get("serviceaccounts", write.namespace, write.name)
        _check_identity(obj.get("metadata") or {}, account, write)
        causes = _validate(owned, None, None)
        if causes:
            raise invalid(GROUP, KIND, "", causes)
        if not spec.get("audiences"):
            spec["audiences"] = list(self.identity.tokens.audiences)
        bound = await self._bound(spec.get("boundObjectRef"), write)
        await self.identity.signer.ready()
        return 201, self._answer(owned, spec, account, bound, write)

    def _answer(
        self, obj: Object, spec: dict[str, Any], account: Object, bound: dict[str, dict[str, str]], write: Write
    ) -> Object:
        rules_, asked = self.identity.tokens, spec["expirationSeconds"]
        if rules_.longest and asked > rules_.longest:
            asked = spec["expirationSeconds"] = rules_.longest
        extended = (
            rules_.extend
            and asked == WARNED_SECONDS
            and "pod" in bound
            and set(spec["audiences"]) <= set(rules_.audiences)
        )
        grant = Grant(
            write.namespace, write.name, account["metadata"].get("uid", ""), spec["audiences"],
            EXTENDED_SECONDS if extended else asked, bound, asked if extended else 0,
        )  # fmt: skip
        token = self.identity.signer.sign(claims(grant, rules_.issuer, self.new_uid(), write.now))
        expires = format_time(write.now + timedelta(seconds=asked))
        metadata = {
            **obj["metadata"],
            "name": write.name,
            "namespace": write.namespace,
            "uid": account["metadata"].get("uid", ""),
            "creationTimestamp": format_time(write.now),
        }
        status = {"token": token, "expirationTimestamp": expires}
        shown = {name: spec.get(name) for name in ("audiences", "expirationSeconds", "boundObjectRef")}
        return {
            "kind": KIND,
            "apiVersion": f"{GROUP}/v1",
            "metadata": ordered(metadata),
            "spec": shown,
            "status": status,
        }

    async def _get(self, resource: str, namespace: str, name: str) -> Object:
        store = self.stores["", resource]
        return store.codec.decode(await store.get(namespace, name))

    async def _bound(self, reference: dict[str, Any] | None, write: Write) -> dict[str, dict[str, str]]:
        """The members of the claims that name what a token is bound to."""
        if reference is None:
            return {}
        kind, version, name = (reference.get(member, "") for member in ("kind", "apiVersion", "name"))
        resource = _BOUND.get(kind) if version in ("", "v1") else None
        if resource is None:
            shown = version if "/" in version else f"/{version}"
            raise bad_request(f"cannot bind token to object of type {shown}, Kind={kind}")
        if not name:
            raise bad_request("Name parameter required.")
        obj = await self._get(resource, "" if resource == "nodes" else write.namespace, name)
        uid = obj["metadata"].get("uid", "")
        if kind == "Pod" and (obj.get("spec") or {}).get("serviceAccountName") != write.name:
            raise bad_request(_OTHER_ACCOUNT.format(name=write.name))
        sent = reference.get("uid")
        if sent and sent != uid:
            why = (
                f"the UID in the bound object reference ({sent}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            raise conflict("", kind, name, why)
        found = {kind.lower(): {"name": name, "uid": uid}}
        if kind == "Pod":
            found |= await self._node_of(obj)
        return found

    async def _node_of(self, pod: Object) -> dict[str, dict[str, str]]:
        """The node of a pod, with its uid where the node is known."""
        name = (pod.get("spec") or {}).get("nodeName")
        if not name:
            return {}
        try:
            node = await self._get("nodes", "", name)
        except APIError as error:
            if error.code != 404:
                raise
            return {"node": {"name": name}}
        return {"node": {"name": name, "uid": node["metadata"].get("uid", "")}}


def _check_identity(metadata: dict[str, Any], account: Object, write: Write) -> None:
    """What the request says of the account must be true."""
    field = Field()
    name = metadata.get("name")
    if name and name != write.name:
        field.invalid("metadata.name", name, "must match the service account name if specified")
        raise invalid(GROUP, KIND, write.name, field.causes())
    uid, found = metadata.get("uid"), account["metadata"].get("uid", "")
    if uid and uid != found:
        why = f"the UID in the token request ({uid}) does not match the UID of the service account ({found})"
        raise conflict(GROUP, KIND, write.name, why)


def storage(context: PartContext) -> TokenRequests:
    schema = builtin_types().get("k8s.io/api/authentication/v1", KIND)
    tracker = Tracker(schema=schema, api_version=f"{GROUP}/v1", kind=KIND, subresource="token")
    return TokenRequests(context.stores, context.identity, tracker, context.new_uid)
