"""A client that only wants small answers, all the time: how long it waits tells whether somebody holds up the server.

It runs as a process of its own, so that what a test does in this process is not mistaken for the server's slowness. The
time in which server or canary were ready to run, but the machine's cores were busy with others, does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.api import Api
from support.server import Server

PATH = "/api/v1/namespaces/default"
PAUSE = 0.002  # seconds between its requests
_BEGIN = 20.0


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the canary waited, in seconds, sorted."""

    seconds: tuple[float, ...]

    def share(self, part: float) -> float:
        """The wait that `part` (0 to 1) of all requests did not exceed."""
        return self.seconds[min(len(self.seconds) - 1, int(part * len(self.seconds)))]

    @property
    def worst(self) -> float:
        return self.seconds[-1]

    def __str__(self) -> str:
        middle, most, worst = (1000 * wait for wait in (self.share(0.5), self.share(0.99), self.worst))
        shown = f"half within {middle:.1f} ms, 99 % within {most:.1f} ms, all within {worst:.1f} ms"
        return f"{len(self.seconds)} requests: {shown}"


class Canary:
    """`with Canary(server) as canary: ...` and then `canary.waits`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._process: subprocess.Popen[str] | None = None
        self.waits = Waits((0.0,))

    def __enter__(self) -> Canary:
        server = self._server
        command = [sys.executable, __file__, str(server.port), str(server.ca), server.token, str(server.pid)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "singing\n"
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        assert self._process is not None
        out, _ = self._process.communicate(timeout=_BEGIN)
        if kind is None:
            self.waits = Waits(tuple(sorted(json.loads(out))))


def unharmed(
    server: Server,
    attack: Callable[[], None],
    *,
    most: float = 0.05,
    worst: float = 0.3,
    tries: int = 3,
) -> None:
    """Runs `attack` while a canary sings. Others must hardly wait: 99 % within `most` seconds, all within `worst`.

    A busy machine is not quite left out of what the canary measures, so a bad try is repeated: what really holds up the
    server does it every time.
    """
    told: list[str] = []
    for _ in range(tries):
        mark = server.marks()
        with Canary(server) as canary:
            attack()
        waits = canary.waits
        if waits.share(0.99) <= most and waits.worst <= worst:
            return
        told.append(f"{waits}; the loop was blocked for {server.blocked(mark)} ms")
    raise AssertionError("others had to wait: " + "\n".join(told))


def _sing(port: int, ca: Path, token: str, pid: int) -> list[float]:
    """Ask until standard input ends."""
    waits: list[float] = []
    os.set_blocking(0, False)
    with Api("127.0.0.1", port, ca, token, timeout=60.0) as api:
        assert api.get(PATH).status == 200
        sys.stdout.write("singing\n")
        sys.stdout.flush()
        while _is_open(0) or not waits:
            queued, began = _queued(pid), time.perf_counter()
            status = api.get(PATH).status
            wait = time.perf_counter() - began
            waits.append(max(0.0, wait - (_queued(pid) - queued)))
            assert status == 200, status
            time.sleep(PAUSE)
    return waits


def _is_open(descriptor: int) -> bool:
    """Whether nothing has ended this standard input (which never waits)."""
    try:
        return os.read(descriptor, 1) != b""
    except BlockingIOError:
        return True


def _queued(pid: int) -> float:
    """Seconds that the server's threads and this process have waited for a core; 0 where the system does not tell."""
    total = 0
    for folder in (Path(f"/proc/{pid}/task"), Path("/proc/self/task")):
        for thread in folder.glob("*/schedstat"):
            try:
                total += int(thread.read_text().split()[1])
            except OSError:  # it ended just now
                continue
    return total / 1e9


if __name__ == "__main__":
    json.dump(_sing(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])), sys.stdout)
