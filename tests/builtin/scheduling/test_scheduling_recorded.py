"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "podgroups priorityclasses workloads",
    [
        ("groups_misc", "priorityclass-defaults"),
        ("groups_misc", "priorityclass-invalid"),
        ("groups_misc", "priorityclass-one-default"),
        ("groups_misc", "priorityclass-metadata"),
        ("versions", "pod-group-in-two-versions", 0, 2, 4),
        ("versions", "workload-in-two-versions"),
    ],
)
