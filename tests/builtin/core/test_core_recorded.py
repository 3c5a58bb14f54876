"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

import pytest
from writes import check

KINDS = (
    "configmaps secrets namespaces serviceaccounts services endpoints "
    "nodes limitranges resourcequotas persistentvolumes persistentvolumeclaims podtemplates replicationcontrollers"
)
RECORDED = [
    ("workloads", "podtemplate-defaults-and-invalid"),
    ("workloads", "replicationcontroller-defaults"),
    ("workloads", "replicationcontroller-invalid"),
    ("workloads", "replicationcontroller-updates-and-scale", 6, 7),
    ("workloads", "node-invalid"),
    ("workloads", "node-updates", 1),
    ("core", "service-defaults"),
    ("core", "service-ports"),
    ("core", "service-nodeport", 1, 2, 3),
    ("core", "service-loadbalancer"),
    ("core", "service-loadbalancer-without-nodeports"),
    ("core", "service-headless"),
    ("core", "service-externalname"),
    ("core", "service-clusterip-choice", 1, 2),
    ("core", "service-session-affinity"),
    ("core", "service-invalid"),
    ("core", "service-invalid-traffic-fields"),
    ("core", "service-ip-families"),
    ("core", "service-type-changes"),
    ("core", "service-warnings"),
    ("core", "endpoints-invalid", 1),
    ("core", "configmap-shapes"),
    ("core", "configmap-invalid"),
    ("core", "configmap-immutable"),
    ("core", "secret-opaque"),
    ("core", "secret-types"),
    ("core", "secret-immutable-and-selector"),
    ("core", "serviceaccount-shapes"),
    ("core", "pv-sources"),
    ("core", "pv-invalid"),
    ("core", "pv-updates"),
    ("core", "pvc-defaults", 0, 1),
    ("core", "pvc-invalid"),
    ("core", "pvc-updates"),
    ("core", "pvc-expansion"),
    ("core", "pvc-attributes-class"),
    ("core", "namespace-defaults"),
    ("core", "namespace-invalid"),
    ("core", "namespace-deletion"),
    ("core", "limitrange-defaults"),
    ("core", "limitrange-invalid"),
    ("core", "resourcequota-shapes"),
    ("core", "resourcequota-invalid"),
    ("core", "resourcequota-admission"),
    ("objects", "nulls"),
    ("objects", "generation-of-other-kinds"),
    ("objects", "quantities"),
    ("objects", "secret-string-data"),
    ("objects", "secret-types"),
    ("objects", "immutable-config"),
    ("objects", "status-of-nodes", 0, 2),
    ("objects", "namespace-phase-and-finalizers"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
