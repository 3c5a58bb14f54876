"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "endpointslices",
    [
        ("groups_network", "endpointslice-defaults"),
        ("groups_network", "endpointslice-rich"),
        ("groups_network", "endpointslice-invalid-shape"),
        ("groups_network", "endpointslice-invalid-ipv4"),
        ("groups_network", "endpointslice-fqdn-and-warnings"),
        ("groups_network", "endpointslice-update"),
    ],
)
