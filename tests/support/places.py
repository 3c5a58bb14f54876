"""Where things are: the checkout, the recorded conversations, the folder beside the checkout, the real tools."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "tests" / "conformance"
TOKENS = CONFORMANCE / "tokens.csv"
SHARED = ROOT.parent / "shared"
_BIN = ROOT / ".tools" / "bin"


def tool(name: str) -> Path | None:
    """The real kubectl or helm: from .tools/bin (scripts/test puts them there) or the PATH; None where it is not."""
    own = _BIN / name
    if os.access(own, os.X_OK):
        return own
    found = shutil.which(name)
    return Path(found) if found else None


def search_path() -> str:
    """A PATH on which kubectl and helm come from .tools/bin first."""
    return os.pathsep.join((str(_BIN), os.environ.get("PATH", os.defpath)))
