"""How a group and a version are written together."""

from __future__ import annotations

from pilothouse.machinery.groupversion import api_version


def test_the_core_group_has_no_name() -> None:
    assert (api_version("apps", "v1"), api_version("", "v1")) == ("apps/v1", "v1")
