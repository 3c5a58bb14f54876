"""`--authorization-mode` made into authorizers, and what keeps them up to date: the watch caches of what they know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from pilothouse.auth.attributes import AlwaysAllow, Attributes, Authorizer, Decision, RuleResolver
from pilothouse.auth.metrics import DecisionMetrics
from pilothouse.auth.node.authorizer import NodeAuthorizer
from pilothouse.auth.node.graph import NodeGraph
from pilothouse.auth.node.metrics import GraphMetrics
from pilothouse.auth.order import AllRules, InOrder
from pilothouse.auth.rbac.authorizer import RBAC
from pilothouse.auth.rbac.policy import ROLE_GROUP, Policy
from pilothouse.auth.rbac.rules import Grants
from pilothouse.builtin.rbac_bootstrap.table import bootstrap_objects
from pilothouse.cache.follow import Changed, Follower
from pilothouse.kit.metrics import Registry, Unheard
from pilothouse.kit.record import record
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import StoredObject

Stores = Mapping[tuple[str, str], GenericStore]
Take = Callable[[str, str, "Mapping[str, Any] | None"], None]  # namespace, name, object or None: it is gone
_ON_A_NODE: Final = b'"nodeName":"'
# What of a bound pod may come to name more than it did: all else of its spec is fixed.
_GROWING: Final = (b'"ephemeralContainers":', b'"resourceClaimStatuses":', b'"extendedResourceClaimStatus":')


class AlwaysDeny:
    """Nothing is allowed, but to administrators (`--authorization-mode=AlwaysDeny`)."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return Decision.NO_OPINION, "Everything is forbidden."


@record
class Followed:
    """A kind that an authorizer is told of. `changed`: made of the prefix of its keys."""

    group: str
    plural: str
    changed: Callable[[str], Changed]


@dataclass
class Authorization:
    """What a server decides with. `policy`: roles and bindings, empty unless RBAC is among the modes.

    `followed` is followed from the start, `of_nodes` only once a node has asked: `node_asked`.
    """

    authorizer: Authorizer
    rules: RuleResolver
    policy: Policy
    followed: Sequence[Followed] = ()
    of_nodes: Sequence[Followed] = ()
    node_asked: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def follow(self, stores: Stores) -> None:
        """Load what the authorizers know and keep it up to date from now on; returns when all is loaded."""
        loop = asyncio.get_running_loop()
        followers = _followers(self.followed, stores)
        self.tasks += [loop.create_task(follower.run(), name="follow rights") for follower in followers]
        if self.of_nodes:
            self.tasks.append(loop.create_task(self._follow_nodes(stores), name="follow nodes"))
        for follower in followers:
            await follower.synced.wait()

    async def _follow_nodes(self, stores: Stores) -> None:
        await self.node_asked.wait()
        async with asyncio.TaskGroup() as group:
            for follower in _followers(self.of_nodes, stores):
                group.create_task(follower.run())


def build_authorization(modes: Sequence[str], registry: Registry | None = None) -> Authorization:
    """`modes`: those of `--authorization-mode`, in the order in which they are asked."""
    registry = registry or Unheard()
    decisions, of_graph = DecisionMetrics(registry), GraphMetrics(registry)
    if modes[0] == "AlwaysAllow":
        allow = AlwaysAllow()
        return Authorization(allow, allow, Policy())
    policy, graph, node_asked = Policy(), NodeGraph(), asyncio.Event()
    graph.wakes(node_asked.set)
    rbac = RBAC(policy)
    node = NodeAuthorizer(graph, _rights_of_nodes() if "Node" in modes else Grants({}))
    known: dict[str, Authorizer] = {
        "AlwaysAllow": AlwaysAllow(),
        "AlwaysDeny": AlwaysDeny(),
        "Node": node,
        "RBAC": rbac,
    }
    listing: dict[str, RuleResolver] = {"AlwaysAllow": AlwaysAllow(), "Node": node, "RBAC": rbac}
    return Authorization(
        InOrder([(mode.lower(), known[mode]) for mode in modes], [decisions.of(mode) for mode in modes]),
        AllRules([listing[mode] for mode in modes if mode in listing]),
        policy,
        _of_roles(policy) if "RBAC" in modes else (),
        _of_nodes(graph, of_graph) if "Node" in modes else (),
        node_asked,
    )


def _rights_of_nodes() -> Grants:
    """The rules of the default role system:node, however the stored one was changed."""
    roles = bootstrap_objects()["clusterroles"]
    return Grants(next(role for role in roles if role["metadata"]["name"] == "system:node"))


def _of_roles(policy: Policy) -> list[Followed]:
    return [
        Followed(ROLE_GROUP, "clusterroles", _taker(policy.set_role)),
        Followed(ROLE_GROUP, "roles", _taker(policy.set_role)),
        Followed(ROLE_GROUP, "clusterrolebindings", _taker(policy.set_binding)),
        Followed(ROLE_GROUP, "rolebindings", _taker(policy.set_binding)),
    ]


def _of_nodes(graph: NodeGraph, metrics: GraphMetrics) -> list[Followed]:
    set_pod = metrics.timed("pods", graph.set_pod)
    return [
        Followed("", "pods", lambda prefix: _pod_taker(prefix, graph, set_pod)),
        Followed("", "persistentvolumes", _taker(metrics.timed("persistentvolumes", graph.set_volume))),
        *(
            Followed(group, plural, _taker(metrics.timed(plural, graph.named_by(plural))))
            for group, plural in (
                ("storage.k8s.io", "volumeattachments"),
                ("resource.k8s.io", "resourceslices"),
                ("certificates.k8s.io", "podcertificaterequests"),
            )
        ),
    ]


def _followers(kinds: Sequence[Followed], stores: Stores) -> list[Follower]:
    """Of the kinds that are served."""
    storages = [
        (kind, stores[kind.group, kind.plural].storage) for kind in kinds if (kind.group, kind.plural) in stores
    ]
    return [Follower(storage, kind.changed(storage.prefix)) for kind, storage in storages]


def _taker(take: Take) -> Callable[[str], Changed]:
    def bound(prefix: str) -> Changed:
        def changed(key: str, stored: StoredObject | None) -> None:
            namespace, _, name = key[len(prefix) :].rpartition("/")
            take(namespace, name, None if stored is None else orjson.loads(stored.value))

        return changed

    return bound


def _pod_taker(prefix: str, graph: NodeGraph, set_pod: Take) -> Changed:
    """Pods change often, and what they refer to hardly ever: most changes are not even decoded."""

    def changed(key: str, stored: StoredObject | None) -> None:
        namespace, _, name = key[len(prefix) :].rpartition("/")
        if stored is None or _ON_A_NODE not in stored.value:
            if graph.knows_pod(namespace, name):
                set_pod(namespace, name, None)
        elif not graph.knows_pod(namespace, name) or any(word in stored.value for word in _GROWING):
            set_pod(namespace, name, orjson.loads(stored.value))

    return changed
