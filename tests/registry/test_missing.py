"""What is answered for an object that is not there."""

from __future__ import annotations

import pytest

from pilothouse.builtin.table import resources, served_by_default
from pilothouse.builtin.types import builtin_types
from pilothouse.registry.translate import missing


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("a", 404, 'configmaps "a" not found'),
        ("kube%", 400, "Name parameter invalid: \"kube%\": may not contain '%'"),
        ("..", 400, "Name parameter invalid: \"..\": may not be '..'"),
    ],
)
def test_a_name_that_nothing_could_have_is_the_clients_mistake(name: str, code: int, message: str) -> None:
    config_maps = next(one for one in resources(builtin_types(), served_by_default) if one.plural == "configmaps")
    error = missing(config_maps, name)
    assert (error.code, error.message) == (code, message)
