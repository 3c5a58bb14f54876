"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "poddisruptionbudgets",
    [
        ("workloads", "pdb-defaults-and-invalid"),
        ("workloads", "pdb-updates-and-status", 3),
        ("objects", "generation-of-other-kinds"),
    ],
)
