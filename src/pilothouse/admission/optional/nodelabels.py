"""Labels that a node may not give itself: those that are reserved, and those that keep tenants apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_RESERVED: Final = ("kubernetes.io", "k8s.io")
_FREE: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KNOWN: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
    }
)


def forbidden_labels(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """The labels that changed and may not, sorted."""
    changed = {key for key in {*new, *old} if new.get(key) != old.get(key)}
    return sorted(key for key in changed if _is_reserved(key))


def _is_reserved(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    if not slash or key in _KNOWN or _below(domain, _FREE):
        return False
    return _below(domain, _RESERVED)


def _below(domain: str, tops: tuple[str, ...]) -> bool:
    return any(domain == top or domain.endswith(f".{top}") for top in tops)
