"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "jobs cronjobs",
    [
        ("workloads", "job-defaults"),
        ("workloads", "job-rich"),
        ("workloads", "job-invalid"),
        ("workloads", "job-invalid-policies"),
        ("workloads", "job-updates"),
        ("workloads", "job-suspended-template"),
        ("workloads", "job-status"),
        ("workloads", "cronjob-defaults"),
        ("workloads", "cronjob-invalid"),
        ("objects", "generation-of-other-kinds"),
    ],
)
