"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

import pytest
from writes import check

KINDS = "customresourcedefinitions"
RECORDED = [
    ("crds", "defaults-of-a-minimal-definition"),
    ("crds", "names-given-in-full"),
    ("crds", "dry-run-leaves-nothing"),
    ("crds", "unknown-fields-in-a-definition"),
    ("crds", "empty-spec"),
    ("crds", "name-is-plural-dot-group"),
    ("crds", "group-scope-and-version-names"),
    ("crds", "storage-version-count", 3),
    ("crds", "served-and-storage-have-no-default"),
    ("crds", "names-that-are-no-labels"),
    ("crds", "no-type-no-structure"),
    ("crds", "value-validations-only-validate"),
    ("crds", "validated-fields-must-be-specified"),
    ("crds", "metadata-may-only-restrict-names"),
    ("crds", "int-or-string-patterns"),
    ("crds", "embedded-resource-rules"),
    ("crds", "forbidden-schema-keywords"),
    ("crds", "preserve-unknown-fields-old-and-new"),
    ("crds", "list-map-keys"),
    ("crds", "list-and-map-types"),
    ("crds", "defaults-and-null", 2),
    ("crds", "defaults-in-wrong-places", 1, 3, 4, 5),
    ("crds", "printer-columns"),
    ("crds", "scale-paths"),
    ("crds", "status-limits-the-root"),
    ("crds", "selectable-fields"),
    ("crds", "deprecation-warnings-are-checked"),
    ("crds", "conversion-strategy"),
    ("crds", "conversion-webhook-config"),
    ("crds", "conversion-webhook-defaults"),
    ("crds", "protected-groups-need-approval"),
    ("crds", "approval-condition"),
    ("crds", "two-definitions-want-one-name"),
    ("crds", "two-definitions-want-one-kind"),
    ("crds", "what-cannot-change", 2),
    ("crds", "put-needs-a-resource-version"),
    ("crds", "generation-counts-spec-changes"),
    ("crds", "stored-versions"),
    ("crds", "status-of-a-definition"),
    ("crds", "patch-types", 4),
    ("crds", "unrecognised-formats-warn"),
    ("crds", "webhook-talks-nonsense"),
    ("reports", "replace-without-a-version"),
    ("reports", "defaults-in-list-map-keys"),
    ("reports", "false-is-not-kept"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
