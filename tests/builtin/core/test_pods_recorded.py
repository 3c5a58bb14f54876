"""Every recorded conversation about pods: what is refused on create, update, status, resize and debugging containers.

Objects are not compared here, since admission adds to every pod; test_manifests.py compares defaults.
"""

import pytest
from recorded import SHARED, check_case

CASES = [
    "pod-create-ignores-server-fields", "pod-defaults-host-network", "pod-defaults-legacy-volumes",
    "pod-defaults-minimal", "pod-defaults-rich-containers", "pod-defaults-scheduling", "pod-defaults-volumes",
    "pod-ephemeral-containers", "pod-fields-behind-closed-gates", "pod-invalid-affinity",
    "pod-invalid-container-security-context", "pod-invalid-dns-and-hosts", "pod-invalid-env",
    "pod-invalid-ephemeral-on-create", "pod-invalid-lifecycle", "pod-invalid-metadata", "pod-invalid-mounts",
    "pod-invalid-overlong", "pod-invalid-pod-security-context", "pod-invalid-ports", "pod-invalid-probes",
    "pod-invalid-projected", "pod-invalid-required", "pod-invalid-resources", "pod-invalid-tolerations-and-spread",
    "pod-invalid-volumes", "pod-invalid-windows", "pod-certificates", "pod-level-resources", "pod-quantities-canonical",
    "pod-quantities-refused", "pod-resize", "pod-resize-whole-pod", "pod-resource-claims", "pod-status-invalid",
    "pod-status-put", "pod-update-add-remove-containers", "pod-update-deadline-and-grace", "pod-update-forbidden",
    "pod-update-image-and-generation", "pod-update-scheduling-gates", "pod-update-tolerations", "pod-warnings",
]  # fmt: skip

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.exists(), reason="the shared folder is not here")]


@pytest.mark.parametrize("name", CASES)
def test_pods_are_refused_as_recorded(name):
    check_case("workloads", name)
