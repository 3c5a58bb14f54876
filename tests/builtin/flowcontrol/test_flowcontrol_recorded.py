"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "flowschemas prioritylevelconfigurations",
    [
        ("groups_policy", "flowschema-defaults"),
        ("groups_policy", "flowschema-invalid"),
        ("groups_policy", "prioritylevel-defaults"),
        ("groups_policy", "prioritylevel-invalid"),
        ("groups_policy", "prioritylevel-update"),
    ],
)
