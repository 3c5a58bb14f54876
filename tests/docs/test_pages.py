"""What the pages say is there, is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pilothouse.filters.chain import ORDER

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "pilothouse"
MAP = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("_"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("room", ROOMS)
def test_the_map_shows_every_room(room: str) -> None:
    assert re.search(rf"^\|[^|]*`{room}`", MAP, re.MULTILINE)


def test_the_map_and_the_linter_know_the_same_rooms() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert sorted(name for layer in layers for name in re.findall(r"\w+", layer)) == sorted({*ROOMS, "cel", "testing"})


def test_every_file_of_the_map_exists() -> None:
    named = set(re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/.]+)`", MAP))
    assert len(named) > 50
    assert not [name for name in sorted(named) if not (SOURCE / name).exists()]


def test_the_map_lists_the_filters_in_their_order() -> None:
    assert tuple(re.findall(r"^   \| `(\w+)` \|", MAP, re.MULTILINE)) == ORDER


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]
