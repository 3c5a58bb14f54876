"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "deployments replicasets statefulsets daemonsets controllerrevisions",
    [
        ("workloads", "deployment-defaults"),
        ("workloads", "deployment-invalid"),
        ("workloads", "deployment-updates", 7),
        ("workloads", "deployment-scale", 5),
        ("workloads", "deployment-name-and-template-warnings"),
        ("workloads", "replicaset-defaults-and-invalid"),
        ("workloads", "statefulset-defaults"),
        ("workloads", "statefulset-invalid"),
        ("workloads", "statefulset-updates"),
        ("workloads", "daemonset-defaults-and-invalid"),
        ("workloads", "controllerrevision"),
        ("objects", "nulls"),
        ("objects", "generation-of-deployments"),
        ("objects", "status-of-deployments", 1),
    ],
)
