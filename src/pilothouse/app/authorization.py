"""`--authorization-mode` made into authorizers, and what keeps them up to date: the watch caches of what they know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from pilothouse.aggregator.follow import Follower
from pilothouse.auth.attributes import AlwaysAllow, Attributes, Authorizer, Decision, RuleResolver
from pilothouse.auth.order import AllRules, InOrder
from pilothouse.auth.rbac.authorizer import RBAC
from pilothouse.auth.rbac.policy import ROLE_GROUP, Policy
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import StoredObject

Stores = Mapping[tuple[str, str], GenericStore]
Take = Callable[[str, str, "Mapping[str, Any] | None"], None]  # namespace, name, object or None: it is gone


class AlwaysDeny:
    """Nothing is allowed, but to administrators (`--authorization-mode=AlwaysDeny`)."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return Decision.NO_OPINION, "Everything is forbidden."


@dataclass
class Authorization:
    """What a server decides with. `policy`: roles and bindings, empty unless RBAC is among the modes."""

    authorizer: Authorizer
    rules: RuleResolver
    policy: Policy
    followed: Sequence[tuple[str, str, Take]] = ()
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def follow(self, stores: Stores) -> None:
        """Load what the authorizers know and keep it up to date from now on; returns when all is loaded."""
        loop = asyncio.get_running_loop()
        followers = []
        for group, plural, take in self.followed:
            storage = stores[group, plural].storage
            follower = Follower(storage, _taker(storage.prefix, take))
            followers.append(follower)
            self.tasks.append(loop.create_task(follower.run(), name=f"follow {plural}"))
        for follower in followers:
            await follower.synced.wait()


def build_authorization(modes: Sequence[str]) -> Authorization:
    """`modes`: those of `--authorization-mode`, in the order in which they are asked."""
    policy = Policy()
    authorizers: list[tuple[str, Authorizer]] = []
    resolvers: list[RuleResolver] = []
    followed: list[tuple[str, str, Take]] = []
    for mode in modes:
        if mode == "AlwaysAllow":
            allow = AlwaysAllow()
            if modes[0] == mode:
                return Authorization(allow, allow, policy)
            authorizers.append(("alwaysallow", allow))
            resolvers.append(allow)
        elif mode == "AlwaysDeny":
            authorizers.append(("alwaysdeny", AlwaysDeny()))
        elif mode == "RBAC":
            rbac = RBAC(policy)
            authorizers.append(("rbac", rbac))
            resolvers.append(rbac)
            followed += [
                (ROLE_GROUP, "clusterroles", policy.set_role),
                (ROLE_GROUP, "roles", policy.set_role),
                (ROLE_GROUP, "clusterrolebindings", policy.set_binding),
                (ROLE_GROUP, "rolebindings", policy.set_binding),
            ]
    return Authorization(InOrder(authorizers), AllRules(resolvers), policy, followed)


def _taker(prefix: str, take: Take) -> Callable[[str, StoredObject | None], None]:
    def changed(key: str, stored: StoredObject | None) -> None:
        namespace, _, name = key[len(prefix) :].rpartition("/")
        take(namespace, name, None if stored is None else orjson.loads(stored.value))

    return changed
