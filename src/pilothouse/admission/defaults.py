"""The plug-ins that are on without any flag, in the original's order. The one place that lists them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pilothouse.admission import certificates
from pilothouse.admission.chain import Plugin
from pilothouse.admission.claimresize import PersistentVolumeClaimResize
from pilothouse.admission.defaultclasses import default_ingress_class, default_storage_class
from pilothouse.admission.inuse import pod_group_protection, storage_object_in_use_protection
from pilothouse.admission.limitranger import LimitRanger
from pilothouse.admission.lookups import StoreReader, Stores
from pilothouse.admission.namespacelifecycle import Lookup, NamespaceLifecycle
from pilothouse.admission.nodetaints import TaintNodesByCondition
from pilothouse.admission.podsecurity.plugin import PodSecurity
from pilothouse.admission.priority import Priority
from pilothouse.admission.quota.plugin import ResourceQuota
from pilothouse.admission.runtimeclass import RuntimeClass
from pilothouse.admission.serviceaccount import ServiceAccount
from pilothouse.admission.tolerations import DefaultTolerationSeconds
from pilothouse.admission.topologylabels import PodTopologyLabels
from pilothouse.machinery.names import generate_name

RETRY: float = 0.1  # seconds between looks for a default account that is still to be made


async def _a_moment() -> None:
    await asyncio.sleep(RETRY)


@dataclass(frozen=True, slots=True)
class PluginNeeds:
    """What plug-ins take from outside. `stores` may still be empty; `service_accounts`: whether pods need one."""

    stores: Stores
    now: Callable[[], datetime]
    authorize: certificates.Authorize
    service_accounts: bool = True
    new_name: Callable[[str], str] = partial(generate_name, choose=random.choice)
    pause: Callable[[], Awaitable[None]] = _a_moment

    def kind(self, group: str, plural: str) -> StoreReader:
        return StoreReader(self.stores, group, plural)


def default_plugins(needs: PluginNeeds) -> list[Plugin]:
    """All default plug-ins but webhooks and policies, which stand before ResourceQuota."""
    return [*before_webhooks(needs), *after_webhooks(needs)]


def before_webhooks(needs: PluginNeeds) -> list[Plugin]:
    kind = needs.kind
    accounts = [ServiceAccount(kind("", "serviceaccounts"), needs.new_name, needs.pause)]
    return [
        NamespaceLifecycle(_one(kind("", "namespaces"))),
        LimitRanger(kind("", "limitranges")),
        *(accounts if needs.service_accounts else []),
        TaintNodesByCondition(),
        PodSecurity(kind("", "namespaces"), kind("", "pods")),
        Priority(kind("scheduling.k8s.io", "priorityclasses")),
        DefaultTolerationSeconds(),
        default_storage_class(kind("storage.k8s.io", "storageclasses")),
        storage_object_in_use_protection(),
        pod_group_protection(),
        PersistentVolumeClaimResize(kind("storage.k8s.io", "storageclasses")),
        RuntimeClass(kind("node.k8s.io", "runtimeclasses")),
        certificates.certificate_approval(needs.authorize),
        certificates.certificate_signing(needs.authorize),
        certificates.ClusterTrustBundleAttest(needs.authorize),
        certificates.CertificateSubjectRestriction(),
        default_ingress_class(kind("networking.k8s.io", "ingressclasses")),
        PodTopologyLabels(kind("", "nodes")),
    ]


def after_webhooks(needs: PluginNeeds) -> list[Plugin]:
    return [ResourceQuota(needs.kind("", "resourcequotas"), needs.stores, needs.now)]


def _one(namespaces: StoreReader) -> Lookup:
    return lambda name: namespaces.get("", name)
