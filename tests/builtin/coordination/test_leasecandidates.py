"""Lease candidates."""

from writes import Kind

CANDIDATES = Kind("coordination.k8s.io", "leasecandidates")


def candidate(**spec):
    usual = {"leaseName": "main", "binaryVersion": "1.37.0", "strategy": "OldestEmulationVersion"}
    return {"spec": {**usual, "emulationVersion": "1.36.0", **spec}}


def test_a_server_speaks_no_version_above_its_own():
    CANDIDATES.create(candidate(binaryVersion="1.37.0", emulationVersion="1.37.0-rc.1"))
    assert CANDIDATES.causes(candidate(binaryVersion="1.37.0-alpha.2", emulationVersion="1.37.0-alpha.10")) == [
        (
            "spec.binaryVersion",
            'Invalid value: "1.37.0-alpha.2": must be greater than or equal to `emulationVersion`',
        )
    ]


def test_the_lease_of_a_candidate_is_fixed():
    made, _ = CANDIDATES.create(candidate())
    assert CANDIDATES.causes(candidate(leaseName="other"), made) == [
        ("spec.leaseName", 'Invalid value: "other": field is immutable')
    ]
