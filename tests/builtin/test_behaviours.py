"""The table of behaviours names what exists, and importing it imports no kind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pilothouse.builtin import facts
from pilothouse.builtin.behaviours import behaviour, kinds
from pilothouse.registry.behaviour import Behaviour


@pytest.mark.parametrize(("group", "resource"), kinds())
def test_every_line_of_the_table_is_a_resource_with_behaviour(group: str, resource: str) -> None:
    assert isinstance(behaviour(group, resource), Behaviour)
    assert (group, resource) in {(one.group, one.plural) for one in facts.load()}


def test_unknown_kinds_have_none() -> None:
    assert behaviour("", "componentstatuses") is None
    assert behaviour("example.com", "widgets") is None


def test_start_up_imports_no_kind() -> None:
    code = "import sys; import pilothouse.builtin.behaviours; print('pilothouse.builtin.core.pods' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
