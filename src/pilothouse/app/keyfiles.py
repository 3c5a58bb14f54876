"""How files with keys are written, and the name in one of the certificates. Cheap to import, unlike what makes them."""

from __future__ import annotations

import os
from pathlib import Path

FRONT_PROXY = "front-proxy-client"  # the name by which extension servers know us


def write_file(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file whole or not at all; it is never readable by more than `mode` says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    os.replace(unfinished, path)
