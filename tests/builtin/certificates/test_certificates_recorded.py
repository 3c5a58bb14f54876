"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

import pytest
from writes import check

KINDS = "certificatesigningrequests clustertrustbundles podcertificaterequests"
RECORDED = [
    ("groups_misc", "csr-defaults"),
    ("groups_misc", "csr-invalid"),
    ("groups_misc", "csr-masters-group"),
    ("groups_misc", "csr-update"),
    ("groups_misc", "csr-approval"),
    ("groups_misc", "csr-status"),
    ("groups_misc", "clustertrustbundle-basic"),
    ("groups_misc", "clustertrustbundle-invalid"),
    ("groups_misc", "podcertificaterequest-basic"),
    ("groups_misc", "podcertificaterequest-invalid"),
    ("versions", "trust-bundle-in-two-versions"),
    ("versions", "pod-certificate-request-in-two-versions"),
    ("versions", "pod-certificate-request-mistakes"),
    ("admission", "certificate-approval", 2),
    ("admission", "certificate-subject"),
    ("admission", "trust-bundle-attest"),
    ("rbac", "certificate-approval-needs-a-signer"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
