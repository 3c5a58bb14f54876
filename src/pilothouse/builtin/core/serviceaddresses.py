"""Cluster addresses and families of services: what is refused on create, and what may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.core.servicefields import CLUSTER_FAMILIES, HEADLESS, family_of, needs_cluster_ip
from pilothouse.builtin.shared.addresses import old_address
from pilothouse.machinery.rules import Field

_FAMILIES: Final = ("IPv4", "IPv6")
_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_ONE_EACH: Final = "may specify no more than one IP for each IP family"
_MOST_FAMILIES: Final = 3  # none is one
_ONCE: Final = "may not change once set"
_TWO: Final = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"

Object = Mapping[str, Any]


def _families(spec: Object, field: Field) -> None:
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    seen: set[str] = set()
    for index, family in field.numbered(families):
        if family not in _FAMILIES:
            field.not_supported(f"ipFamilies[{index}]", family, _FAMILIES)
        if family in seen:
            field.duplicate(f"ipFamilies[{index}]", family)
        seen.add(family)
    if policy is not None:
        if policy not in _POLICIES:
            field.not_supported("ipFamilyPolicy", policy, _POLICIES)
        elif policy == "SingleStack":
            if len(spec.get("clusterIPs") or ()) == 2:
                why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"
                field.invalid("ipFamilyPolicy", policy, why)
            if len(families) == 2:
                field.invalid("ipFamilyPolicy", policy, _TWO)


def _first(spec: Object, field: Field) -> None:
    """The one address is the first of all."""
    one, every = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if every:
        if not one:
            field.invalid("clusterIPs", every, "must be empty when `clusterIP` is not specified")
        elif every[0] != one:
            field.invalid("clusterIPs", every, "first value must match `clusterIP`")
    elif one:
        field.required("clusterIPs")


def _addresses(spec: Object, field: Field) -> None:
    every = spec.get("clusterIPs") or []
    if every == [HEADLESS]:
        return
    kept = (field.old or {}).get("clusterIPs") or ()
    before = len(field.found)
    for index, address in field.numbered(every):
        if address == HEADLESS and not index:
            field.invalid("clusterIPs", every, "'None' must be the first and only value")
        else:
            old_address(f"clusterIPs[{index}]", address, field, kept)
    if len(field.found) > before:
        return
    if len(every) > 2:
        field.invalid("clusterIPs", every, "may only hold up to 2 values")
    if len(every) > _MOST_FAMILIES or (len(every) > 1 and len(set(map(family_of, every))) != len(every)):
        field.invalid("clusterIPs", every, _ONE_EACH)
    for index, (address, family) in enumerate(zip(every, spec.get("ipFamilies") or (), strict=False)):
        if family in _FAMILIES and family_of(address) != family:
            article = "an IPv4" if family == "IPv4" else "an IPv6"
            why = f"expected {article} value as indicated by `ipFamilies[{index}]`"
            field.invalid(f"clusterIPs[{index}]", address, why)


def _configured(spec: Object, field: Field) -> None:
    """What the cluster's own families do not allow."""
    cluster = getattr(field.context, "service_families", CLUSTER_FAMILIES)
    headless = (spec.get("clusterIPs") or [])[:1] == [HEADLESS]
    if headless and not spec.get("selector"):
        return
    if spec.get("ipFamilyPolicy") == "RequireDualStack" and len(cluster) < 2:
        why = "this cluster is not configured for dual-stack services"
        field.invalid("ipFamilyPolicy", "RequireDualStack", why)
    for index, family in field.numbered(spec.get("ipFamilies") or ()):
        if family in _FAMILIES and family not in cluster:
            field.invalid(f"ipFamilies[{index}]", family, "not configured on this cluster")


def related(spec: Object, field: Field) -> bool | None:
    """Addresses and families by themselves. A new service with such a mistake is not looked at further."""
    if spec.get("type") == "ExternalName":
        return None
    before = len(field.found)
    _first(spec, field)
    _families(spec, field)
    _addresses(spec, field)
    if len(field.found) == before and not field.updating:
        _configured(spec, field)
    return len(field.found) > before and not field.updating


def address_update(spec: Object, field: Field) -> None:
    """What of addresses may change: a second one may come or go, the first stays."""
    old = field.old
    if not (needs_cluster_ip(spec) and needs_cluster_ip(old)):
        return
    before, after = old.get("clusterIPs") or [], spec.get("clusterIPs") or []
    if before == [HEADLESS] == after:
        return
    if before and not after:
        field.invalid("clusterIPs[0]", None, "primary clusterIP can not be unset")
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            field.invalid(f"clusterIPs[{index}]", after, _ONCE)
    if len(before) > len(after) == 1:
        _released(spec, "clusterIP", field)
    if [HEADLESS] not in (before, after):
        _families_stay(old.get("ipFamilies") or [], spec, field)


def _released(spec: Object, what: str, field: Field) -> None:
    """Who gives up a second address or family wants one alone."""
    policy = spec.get("ipFamilyPolicy")
    if policy != "SingleStack":
        field.invalid("ipFamilyPolicy", policy, f"must be set to 'SingleStack' when releasing the secondary {what}")


def _families_stay(before: Sequence[str], spec: Object, field: Field) -> None:
    after = spec.get("ipFamilies") or []
    if any(one != other for one, other in zip(before, after, strict=False)):
        field.invalid("ipFamilies[0]", after, _ONCE)
    if len(before) > len(after) == 1:
        _released(spec, "ipFamily", field)
