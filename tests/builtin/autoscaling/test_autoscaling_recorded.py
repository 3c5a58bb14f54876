"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "horizontalpodautoscalers",
    [
        ("workloads", "hpa-v2-defaults"),
        ("workloads", "hpa-v2-invalid", 2),
        ("workloads", "hpa-updates-and-status"),
        ("workloads", "hpa-v1-defaults"),
        ("workloads", "hpa-v2-metrics-and-v1-view"),
        ("objects", "autoscaler-in-two-versions"),
    ],
)
