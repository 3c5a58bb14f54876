"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

import pytest
from writes import check

KINDS = "podgroups priorityclasses workloads"
RECORDED = [
    ("groups_misc", "priorityclass-defaults"),
    ("groups_misc", "priorityclass-invalid"),
    ("groups_misc", "priorityclass-one-default"),
    ("groups_misc", "priorityclass-metadata"),
    ("versions", "pod-group-in-two-versions", 0, 2, 4),
    ("versions", "workload-in-two-versions"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
