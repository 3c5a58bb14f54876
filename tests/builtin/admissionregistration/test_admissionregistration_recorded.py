"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations "
    "validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations",
    [
        ("groups_policy", "validatingwebhook-defaults"),
        ("groups_policy", "validatingwebhook-invalid"),
        ("groups_policy", "validatingwebhook-invalid-rules"),
        ("groups_policy", "validatingwebhook-invalid-conditions"),
        ("groups_policy", "validatingwebhook-update"),
        ("groups_policy", "mutatingwebhook-defaults"),
        ("groups_policy", "vap-defaults"),
        ("groups_policy", "vap-rich"),
        ("groups_policy", "vap-invalid-spec"),
        ("groups_policy", "vap-invalid-cel"),
        ("groups_policy", "vap-status"),
        ("groups_policy", "vapbinding-defaults"),
        ("groups_policy", "vapbinding-invalid"),
        ("groups_policy", "map-defaults"),
        ("groups_policy", "map-invalid"),
        ("groups_policy", "admission-reserved-names"),
        ("groups_policy", "vap-update"),
        ("groups_policy", "map-variables"),
        ("groups_policy", "webhook-ca-bundle"),
        ("admission", "webhook-defaults"),
        ("admission", "webhook-configuration-invalid"),
        ("admission", "webhook-scope"),
        ("admission", "webhook-dry-run"),
        ("admission", "webhook-not-for-itself"),
        ("admission", "policy-denies"),
        ("admission", "policy-warns"),
        ("admission", "policy-params-from-configmap"),
        ("admission", "policy-invalid"),
        ("admission", "mutating-policy-apply"),
        ("admission", "mutating-policy-invalid"),
        ("objects", "update-needs-resource-version"),
    ],
)
