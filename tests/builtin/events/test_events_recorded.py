"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "events",
    [
        ("core", "event-core"),
        ("core", "event-new-style-rules"),
        ("groups_misc", "event-v1-basic"),
        ("groups_misc", "event-core-read-in-events"),
        ("groups_misc", "event-v1-required", 1),
        ("groups_misc", "event-v1-update"),
        ("groups_misc", "event-cluster-object", 0),
    ],
)
