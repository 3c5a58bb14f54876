"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourcepoolstatusrequests resourceslices",
    [
        ("groups_storage", "deviceclass-basic"),
        ("groups_storage", "deviceclass-invalid", 0),
        ("groups_storage", "resourceclaim-defaults"),
        ("groups_storage", "resourceclaim-rich"),
        ("groups_storage", "resourceclaim-invalid-requests"),
        ("groups_storage", "resourceclaim-invalid-references"),
        ("groups_storage", "resourceclaim-update"),
        ("groups_storage", "resourceclaim-status"),
        ("groups_storage", "resourceclaim-admin-access", 0),
        ("groups_storage", "resourceclaimtemplate-basic"),
        ("groups_storage", "resourceslice-basic"),
        ("groups_storage", "resourceslice-invalid-spec", 3),
        ("groups_storage", "resourceslice-invalid-devices"),
        ("groups_storage", "devicetaintrule-basic"),
        ("groups_storage", "deviceclass-update"),
        ("groups_storage", "resourceclaim-gated-fields"),
        ("groups_storage", "resourceslice-request-policy"),
        ("groups_storage", "resourceclaim-admin-template", 0),
        ("versions", "claim-exactly-in-three-versions"),
        ("versions", "claim-from-v1beta1"),
        ("versions", "claim-first-available-in-three-versions"),
        ("versions", "claim-mistakes-in-each-version", 0),
        ("versions", "claim-unknown-field-warned-then-lost"),
        ("versions", "claim-status-and-its-versions"),
        ("versions", "claim-patches-speak-the-paths-of-their-version", 1, 2),
        ("versions", "slice-basic-devices"),
        ("versions", "slice-mistakes-in-each-version", 0),
        ("versions", "taint-rule-from-alpha"),
        ("versions", "pool-status-request"),
        ("versions", "one-object-many-versions"),
        ("versions", "immutable-spec-seen-through-versions"),
        ("versions", "managed-fields-of-a-version-not-served"),
    ],
)
