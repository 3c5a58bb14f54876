"""A server that is killed while it writes loses nothing that it acknowledged (the large form is scripts/torture)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "torture"


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "4", "--seconds", "0.4", "--file", str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none lost" in done.stdout


def test_the_script_explains_itself() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--help"], capture_output=True, text=True, check=True)
    assert "SIGKILL" in done.stdout
