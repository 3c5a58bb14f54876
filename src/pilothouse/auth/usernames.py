"""User names that stand for something: nodes and service accounts."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import names
from pilothouse.registry.request import Caller

NODE_PREFIX: Final = "system:node:"
NODES: Final = "system:nodes"
ACCOUNT_PREFIX: Final = "system:serviceaccount:"
ACCOUNTS: Final = "system:serviceaccounts"
NODE_CLAIM: Final = "authentication.kubernetes.io/node-name"  # in what else is known of a service account


def node_of(name: str) -> str | None:
    """The node that a user name stands for, None for other users."""
    if not name.startswith(NODE_PREFIX):
        return None
    node = name.removeprefix(NODE_PREFIX)
    return node if node and not names.subdomain(node) else None


def is_node(caller: Caller) -> bool:
    """Whether the caller says to be some node."""
    return caller.name.startswith(NODE_PREFIX) and NODES in caller.groups


def account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for, None for other users."""
    if not name.startswith(ACCOUNT_PREFIX):
        return None
    namespace, _, account = name.removeprefix(ACCOUNT_PREFIX).partition(":")
    if names.label(namespace) or names.subdomain(account):
        return None
    return namespace, account


def account_groups(namespace: str) -> tuple[str, str]:
    """Groups of all service accounts of a namespace."""
    return ACCOUNTS, f"{ACCOUNTS}:{namespace}"
