"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "ingressclasses ingresses ipaddresses networkpolicies servicecidrs",
    [
        ("groups_network", "ingress-defaults"),
        ("groups_network", "ingress-rich"),
        ("groups_network", "ingress-invalid-empty", 1),
        ("groups_network", "ingress-invalid-backends"),
        ("groups_network", "ingress-invalid-paths"),
        ("groups_network", "ingress-name-rules"),
        ("groups_network", "ingress-class-annotation"),
        ("groups_network", "ingress-generation"),
        ("groups_network", "ingress-status"),
        ("groups_network", "ingress-default-class", 1, 6),
        ("groups_network", "ingressclass-defaults"),
        ("groups_network", "ingressclass-invalid"),
        ("groups_network", "ingressclass-update"),
        ("groups_network", "networkpolicy-defaults"),
        ("groups_network", "networkpolicy-rich"),
        ("groups_network", "networkpolicy-invalid-ports"),
        ("groups_network", "networkpolicy-invalid-peers"),
        ("groups_network", "networkpolicy-three-types"),
        ("groups_network", "networkpolicy-update"),
        ("groups_network", "ipaddress-basic"),
        ("groups_network", "ipaddress-invalid", 4),
        ("groups_network", "servicecidr-invalid"),
        ("groups_network", "servicecidr-update", 3),
        ("groups_network", "ingress-old-shape"),
        ("groups_network", "networkpolicy-undecodable"),
        ("groups_network", "networkpolicy-metadata-invalid"),
        ("groups_network", "ingressclass-namespaced-parameters"),
        ("objects", "generation-of-other-kinds"),
    ],
)
