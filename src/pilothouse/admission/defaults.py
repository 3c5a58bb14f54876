"""The plug-ins that are on without any flag, in the original's order. The one place that lists them."""

from __future__ import annotations

from pilothouse.admission.chain import Plugin
from pilothouse.admission.claimresize import PersistentVolumeClaimResize
from pilothouse.admission.defaultclasses import default_ingress_class, default_storage_class
from pilothouse.admission.inuse import storage_object_in_use_protection
from pilothouse.admission.limitranger import LimitRanger
from pilothouse.admission.lookups import StoreReader, Stores
from pilothouse.admission.namespacelifecycle import Lookup, NamespaceLifecycle
from pilothouse.admission.nodetaints import TaintNodesByCondition
from pilothouse.admission.podsecurity.plugin import PodSecurity
from pilothouse.admission.priority import Priority
from pilothouse.admission.runtimeclass import RuntimeClass
from pilothouse.admission.tolerations import DefaultTolerationSeconds
from pilothouse.admission.topologylabels import PodTopologyLabels


def default_plugins(stores: Stores) -> list[Plugin]:
    """All default plug-ins, reading through `stores`, which may still be empty."""

    def kind(group: str, plural: str) -> StoreReader:
        return StoreReader(stores, group, plural)

    return [
        NamespaceLifecycle(_one(kind("", "namespaces"))),
        LimitRanger(kind("", "limitranges")),
        TaintNodesByCondition(),
        PodSecurity(kind("", "namespaces"), kind("", "pods")),
        Priority(kind("scheduling.k8s.io", "priorityclasses")),
        DefaultTolerationSeconds(),
        default_storage_class(kind("storage.k8s.io", "storageclasses")),
        storage_object_in_use_protection(),
        PersistentVolumeClaimResize(kind("storage.k8s.io", "storageclasses")),
        RuntimeClass(kind("node.k8s.io", "runtimeclasses")),
        default_ingress_class(kind("networking.k8s.io", "ingressclasses")),
        PodTopologyLabels(kind("", "nodes")),
    ]


def _one(namespaces: StoreReader) -> Lookup:
    return lambda name: namespaces.get("", name)
