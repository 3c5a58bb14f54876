"""Objects that are good, small and there: what patches and updates of strangers are for."""

from __future__ import annotations

from typing import Any

from hostile import strong
from hostile.stranger import Seed, named
from hostile.test_fuzz import PLACES
from support.api import Api
from support.server import eventually


def known() -> dict[str, tuple[str, dict[str, Any]]]:
    """Where they are, and the objects, by kind. One of the kinds is custom."""
    return {**PLACES, "Strong": (strong.PATH, strong.strong("new"))}


def known_seeds() -> list[Seed]:
    return [Seed(path, named(body, "new"), "", ("create", "update", "patch")) for path, body in known().values()]


def prepare(api: Api) -> None:
    """Each of them is stored as `there`."""
    assert api.post(strong.DEFINITIONS, strong.definition()).status == 201
    eventually(lambda: api.get(strong.PATH).status == 200)
    for path, body in known().values():
        answer = api.post(path, named(body))
        assert answer.status == 201, answer.text
