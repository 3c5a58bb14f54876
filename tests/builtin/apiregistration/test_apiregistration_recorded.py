"""The recorded writes of the group's kinds, replayed without a server. Steps named are decided elsewhere: by
admission, or by what a decoded object no longer tells (an empty list from none).
"""

import pytest
from writes import check

KINDS = "apiservices"
RECORDED = [
    ("aggregation", "apiservice-invalid"),
    ("aggregation", "apiservice-service-not-found"),
    ("aggregation", "apiservice-without-endpoints"),
    ("aggregation", "apiservice-status"),
    ("aggregation", "local-apiservice"),
    ("groups_misc", "apiservice-create"),
    ("groups_misc", "apiservice-invalid"),
    ("groups_misc", "apiservice-unavailable"),
]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_writes_are_answered_as_recorded(row):
    check(*row, kinds=KINDS)
