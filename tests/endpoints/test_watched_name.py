"""A watch of one object, whose name stands in the path, may not select another by its fields."""

from __future__ import annotations

import pytest

from endpoints.served import Served

WRONG = "fieldSelector metadata.name doesn't match requested name"


@pytest.mark.parametrize("selector", ["metadata.name=y", "metadata.name!=x", "metadata.namespace=default"])
def test_another_name_is_refused(served: Served, place: str, selector: str) -> None:
    path = place.replace("/api/v1", "/api/v1/watch")
    refused = served.ask(f"GET {path}/configmaps/x?timeoutSeconds=1&fieldSelector={selector}")
    assert (refused.status, refused.message) == (400, WRONG)
