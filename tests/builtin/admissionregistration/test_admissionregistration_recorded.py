"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

import pytest
from writes import check

RECORDED = [
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
    ("admission", "webhook-denies"),
    ("admission", "webhook-refusal-forms"),
    ("admission", "webhook-warnings"),
    ("admission", "webhook-patches"),
    ("admission", "webhook-patches-identity"),
    ("admission", "webhook-order-and-reinvocation"),
    ("admission", "webhook-failures-closed"),
    ("admission", "webhook-failures-open"),
    ("admission", "webhook-subresources"),
    ("admission", "webhook-match-conditions"),
    ("admission", "webhook-selectors"),
    ("admission", "webhook-scope"),
    ("admission", "webhook-dry-run"),
    ("admission", "policy-denies"),
    ("admission", "policy-reasons-and-messages"),
    ("admission", "policy-warns"),
    ("admission", "policy-params-from-configmap"),
    ("admission", "policy-errors-at-run-time"),
    ("admission", "policy-matching"),
    ("admission", "policy-request-fields"),
    ("admission", "policy-invalid"),
    ("admission", "mutating-policy-apply"),
    ("admission", "mutating-policy-json-patch"),
    ("admission", "mutating-policy-invalid"),
    ("versions", "webhook-asked-in-the-version-it-knows"),
    ("objects", "update-needs-resource-version"),
    ("reports", "policy-that-forgets-deletes"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row)
