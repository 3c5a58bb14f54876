"""What happens once the server listens, by the names that operators know from kube-apiserver, and the health checks.

Tools look for these names, so all of them are here, in the original's order; the text says what the name stands for in
this server. Whoever owns the thing adds the work with `Hooks.add`; a name without work has nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.serving.health import Check, sure

HOOKS: Final = {
    "start-apiserver-admission-initializer": "the plug-ins of admission have what they need",
    "generic-apiserver-start-informers": "the kinds that every write reads are in memory",
    "priority-and-fairness-config-consumer": "flow schemas and priority levels were read",
    "priority-and-fairness-filter": "requests are queued by them",
    "storage-object-count-tracker-hook": "objects of each kind are counted",
    "start-apiextensions-informers": "custom resource definitions are watched",
    "start-apiextensions-controllers": "their names, conditions and documents are kept",
    "crd-informer-synced": "every definition that was stored is served",
    "start-system-namespaces-controller": "default, kube-system, kube-public and kube-node-lease exist",
    "peer-endpoint-reconciler-controller": "other servers of the same store are known",
    "start-cluster-authentication-info-controller": "ConfigMap extension-apiserver-authentication is kept",
    "start-kube-apiserver-identity-lease-controller": "the Lease of this server is kept",
    "start-kube-apiserver-identity-lease-garbage-collector": "Leases of servers that are gone are removed",
    "storage-readiness": "the store answered",
    "start-legacy-token-tracking-controller": "old ServiceAccount tokens are tracked since a known day",
    "start-service-ip-repair-controllers": "addresses of Services are accounted for",
    "rbac/bootstrap-roles": "default roles and bindings exist",
    "scheduling/bootstrap-system-priority-classes": "the system priority classes exist",
    "priority-and-fairness-config-producer": "default flow schemas and priority levels exist",
    "bootstrap-controller": "Service kubernetes and its endpoints exist",
    "start-kubernetes-service-cidr-controller": "ServiceCIDR kubernetes exists",
    "aggregator-reload-proxy-client-cert": "the certificate shown to extension servers is watched",
    "start-kube-aggregator-informers": "API services, Services and endpoints behind them are watched",
    "apiservice-status-local-available-controller": "conditions of our own API services are kept",
    "apiservice-status-remote-available-controller": "those of extension servers too",
    "apiservice-registration-controller": "each API service has its route",
    "apiservice-discovery-controller": "the merged discovery document was made",
    "kube-apiserver-autoregistration": "API services of the served groups are kept",
    "apiservice-openapi-controller": "documents of extension servers are merged into the Swagger document",
    "apiservice-openapiv3-controller": "and into the list of version 3 documents",
}
# Where feature StorageVersionAPI is on, one more, which stands behind that of our Lease.
STORAGE_VERSIONS: Final = "built-in-resources-storage-version-updater"  # it is told how each kind is kept
_REGISTERED: Final = "kube-apiserver-autoregistration"  # autoregister-completion stands right behind it
# Until these are through, an unknown path may only be not known yet.
ROUTES: Final = ("crd-informer-synced", "apiservice-registration-controller")
# Liveness forgives these within --livez-grace-period.
FORGIVEN: Final = frozenset({"apiservice-registration-controller", "apiservice-discovery-controller"})


def hook_names(storage_versions: bool) -> tuple[str, ...]:
    """All there are, in the order of their checks."""
    names = list(HOOKS)
    if storage_versions:
        names.insert(names.index("start-kube-apiserver-identity-lease-garbage-collector") + 1, STORAGE_VERSIONS)
    return tuple(names)


def health_checks(hooks: Sequence[Check], others: Sequence[Check]) -> dict[str, list[Check]]:
    """The checks of each endpoint in the original's order.

    `others`: etcd, informer-sync, autoregister-completion, shutdown.
    """
    named = {check.name: check for check in others}
    after: list[Check] = []
    for check in hooks:
        after.append(check)
        if check.name.endswith(_REGISTERED):
            after.append(named["autoregister-completion"])
    first = [sure("ping"), sure("log")]
    etcd = named["etcd"]
    live = [*first, sure("loopback-serving-certificate"), etcd, *after]
    ready = [
        *first,
        etcd,
        Check("etcd-readiness", etcd.probe),
        named["informer-sync"],
        *after,
        named["shutdown"],
    ]
    return {"healthz": live, "livez": live, "readyz": ready}
