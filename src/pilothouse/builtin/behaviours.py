"""Where each built-in kind's own behaviour is written: a table of module names, imported at the first use of the kind.

A server that never sees a StatefulSet never imports its rules. A new kind is one line here and one file.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Final

from pilothouse.registry.behaviour import Behaviour

# group -> resource -> module under pilothouse.builtin; each has `behaviour`, a Behaviour.
_MODULES: Final[dict[str, dict[str, str]]] = {
    "": {
        "configmaps": "core.configmaps",
        "endpoints": "core.endpoints",
        "events": "core.events",
        "limitranges": "core.limitranges",
        "namespaces": "core.namespaces",
        "nodes": "core.nodes",
        "persistentvolumeclaims": "core.persistentvolumeclaims",
        "persistentvolumes": "core.persistentvolumes",
        "pods": "core.pods",
        "podtemplates": "core.podtemplates",
        "replicationcontrollers": "core.replicationcontrollers",
        "resourcequotas": "core.resourcequotas",
        "secrets": "core.secrets",
        "serviceaccounts": "core.serviceaccounts",
        "services": "core.services",
    },
    "apps": {
        "controllerrevisions": "apps.controllerrevisions",
        "daemonsets": "apps.daemonsets",
        "deployments": "apps.deployments",
        "replicasets": "apps.replicasets",
        "statefulsets": "apps.statefulsets",
    },
    "autoscaling": {
        "horizontalpodautoscalers": "autoscaling.horizontalpodautoscalers",
    },
    "batch": {
        "cronjobs": "batch.cronjobs",
        "jobs": "batch.jobs",
    },
    "coordination.k8s.io": {
        "leases": "coordination.leases",
        "leasecandidates": "coordination.leasecandidates",
    },
    "events.k8s.io": {
        "events": "events.events",
    },
    "policy": {
        "poddisruptionbudgets": "policy.poddisruptionbudgets",
    },
    "networking.k8s.io": {
        "ingressclasses": "networking.ingressclasses",
        "ingresses": "networking.ingresses",
        "ipaddresses": "networking.ipaddresses",
        "networkpolicies": "networking.networkpolicies",
        "servicecidrs": "networking.servicecidrs",
    },
    "discovery.k8s.io": {
        "endpointslices": "discovery.endpointslices",
    },
    "storage.k8s.io": {
        "csidrivers": "storage.csidrivers",
        "csinodes": "storage.csinodes",
        "csistoragecapacities": "storage.csistoragecapacities",
        "storageclasses": "storage.storageclasses",
        "volumeattachments": "storage.volumeattachments",
        "volumeattributesclasses": "storage.volumeattributesclasses",
    },
    "rbac.authorization.k8s.io": {
        "clusterrolebindings": "rbac.clusterrolebindings",
        "clusterroles": "rbac.clusterroles",
        "rolebindings": "rbac.rolebindings",
        "roles": "rbac.roles",
    },
    "scheduling.k8s.io": {
        "podgroups": "scheduling.podgroups",
        "priorityclasses": "scheduling.priorityclasses",
        "workloads": "scheduling.workloads",
    },
    "node.k8s.io": {
        "runtimeclasses": "node.runtimeclasses",
    },
    "admissionregistration.k8s.io": {
        "mutatingadmissionpolicies": "admissionregistration.mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings": "admissionregistration.mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations": "admissionregistration.mutatingwebhookconfigurations",
        "validatingadmissionpolicies": "admissionregistration.validatingadmissionpolicies",
        "validatingadmissionpolicybindings": "admissionregistration.validatingadmissionpolicybindings",
        "validatingwebhookconfigurations": "admissionregistration.validatingwebhookconfigurations",
    },
    "certificates.k8s.io": {
        "certificatesigningrequests": "certificates.certificatesigningrequests",
        "clustertrustbundles": "certificates.clustertrustbundles",
        "podcertificaterequests": "certificates.podcertificaterequests",
    },
    "flowcontrol.apiserver.k8s.io": {
        "flowschemas": "flowcontrol.flowschemas",
        "prioritylevelconfigurations": "flowcontrol.prioritylevelconfigurations",
    },
    "resource.k8s.io": {
        "deviceclasses": "resource.deviceclasses",
        "devicetaintrules": "resource.devicetaintrules",
        "resourceclaims": "resource.resourceclaims",
        "resourceclaimtemplates": "resource.resourceclaimtemplates",
        "resourcepoolstatusrequests": "resource.resourcepoolstatusrequests",
        "resourceslices": "resource.resourceslices",
    },
    "apiregistration.k8s.io": {
        "apiservices": "apiregistration.apiservices",
    },
    "apiextensions.k8s.io": {
        "customresourcedefinitions": "apiextensions.customresourcedefinitions",
    },
    "storagemigration.k8s.io": {
        "storageversionmigrations": "storagemigration.storageversionmigrations",
    },
    "internal.apiserver.k8s.io": {
        "storageversions": "internal.storageversions",
    },
}


@cache
def behaviour(group: str, resource: str) -> Behaviour | None:
    """What a kind's own file says; None where nothing is special. The group is "" for core."""
    module = _MODULES.get(group, {}).get(resource)
    if module is None:
        return None
    found = importlib.import_module(f"pilothouse.builtin.{module}").behaviour
    if not isinstance(found, Behaviour):
        raise TypeError(f"pilothouse.builtin.{module} has no Behaviour")
    return found


def kinds() -> list[tuple[str, str]]:
    """All (group, resource) that have behaviour of their own."""
    return [(group, resource) for group, resources in _MODULES.items() for resource in resources]
