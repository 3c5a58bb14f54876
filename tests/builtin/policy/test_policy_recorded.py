"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, by an allocator, by another subresource, or by what a decoded object no longer tells.
"""

import pytest
from writes import check

KINDS = "poddisruptionbudgets"
RECORDED = [
    ("workloads", "pdb-defaults-and-invalid"),
    ("workloads", "pdb-updates-and-status", 3),
    ("objects", "generation-of-other-kinds"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
