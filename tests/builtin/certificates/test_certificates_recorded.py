"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

from writes import replayed

test_writes_are_answered_as_recorded = replayed(
    "certificatesigningrequests clustertrustbundles podcertificaterequests",
    [
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
    ],
)
