"""A server as a child process: the real command, on a free port, with a folder of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from support.api import Api
from support.places import TOKENS

T = TypeVar("T")
START = 60.0  # seconds; a busy machine is slow to start
DEADLINE = 20.0
ADMIN = "admin-token"
# As the recorded conversations were made: scripts/conformance-server.
CONFORMANCE_FLAGS = (
    "--token-auth-file",
    str(TOKENS),
    "--controllers",
    "none",
    "--authorization-mode",
    "Node,RBAC",
    "--service-cluster-ip-range",
    "10.0.0.0/24",
    "--allow-privileged=true",
)
_BLOCKED = re.compile(r"the event loop was blocked for (\d+) ms")


def eventually(look: Callable[[], T], deadline: float = DEADLINE, pause: float = 0.05) -> T:
    """The first true value of `look`. Fails after `deadline` seconds, showing the last one."""
    end = time.monotonic() + deadline
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, f"it did not happen within {deadline:.0f} s: {found!r}"
        time.sleep(pause)


class Server:
    """A server process that can be stopped, killed and started again on the same port with the same data."""

    def __init__(self, folder: Path, *flags: str, token: str = ADMIN, start: bool = True) -> None:
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.flags = flags
        self.token = token
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if start:
            self.start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"

    @property
    def ca(self) -> Path:
        return self.data / "pki" / "ca.crt"

    def start(self) -> None:
        """Begin, and wait until it is ready."""
        command = [
            sys.executable,
            "-m",
            "pilothouse.app.main",
            "serve",
            "--port",
            str(self.port),
            "--data",
            str(self.data),
        ]
        with self.log.open("ab") as log:
            offset = log.tell()
            self.process = subprocess.Popen([*command, *self.flags], stdout=log, stderr=log, env=_environment())
        self.port = eventually(lambda: self._port(offset), START)
        eventually(self.is_ready, START)

    def _port(self, offset: int) -> int:
        text = self.log.read_text()[offset:]
        assert self.process is not None
        assert self.process.poll() is None, f"the server ended: {text}"
        found = re.search(r"https://127\.0\.0\.1:(\d+)", text)
        return int(found[1]) if found else 0

    def is_ready(self) -> bool:
        try:
            with self.api(timeout=2.0) as api:
                return api.get("/readyz").status == 200
        except OSError:
            return False

    def api(self, token: str | None = None, timeout: float = DEADLINE) -> Api:
        """A connection of its own, as the administrator unless another token is given ("" for none)."""
        return Api("127.0.0.1", self.port, self.ca, self.token if token is None else token, timeout)

    def kill(self) -> None:
        """As a power cut would: no time to write anything."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """In good order. Returns the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        process = self.process
        if process is None:
            return 0
        process.send_signal(number)
        try:
            code = process.wait(DEADLINE)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            self.process = None
        return code

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def memory(self) -> int:
        """Resident bytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def cpu(self) -> float:
        """Seconds of CPU so far, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def marks(self) -> int:
        """Where the log ends now; give it to `blocked` and `complaints`."""
        return self.log.stat().st_size

    def said(self, since: int = 0) -> str:
        with self.log.open("rb") as log:
            log.seek(since)
            return log.read().decode("utf-8", "replace")

    def blocked(self, since: int = 0) -> list[int]:
        """What the watchdog of the event loop told, in milliseconds."""
        return [int(number) for number in _BLOCKED.findall(self.said(since))]


def _environment() -> dict[str, str]:
    """Ours, with the modules that this process imports; compiled modules halve the time to start."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment
