"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "apiservices",
    [
        ("aggregation", "apiservice-invalid"),
        ("aggregation", "apiservice-service-not-found"),
        ("aggregation", "apiservice-without-endpoints"),
        ("aggregation", "apiservice-status"),
        ("aggregation", "local-apiservice"),
        ("groups_misc", "apiservice-create"),
        ("groups_misc", "apiservice-invalid"),
        ("groups_misc", "apiservice-unavailable"),
    ],
)
