"""What each hostile body costs a server: `python tests/hostile/cost.py [part of a name]`, with the project's Python.

Prints milliseconds of the server's CPU, the least of three, with the answer's status; at the end how many of the bodies
that were refused cost more than the goal. Run it on a quiet machine. `NASTY_SIZE` is the length of each body in bytes,
1 MiB unless told.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    os.environ.setdefault("NASTY_SIZE", str(1 << 20))
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile import mutated, nasty, nasty_cbor, simple, unlike
from hostile.assault import Attack
from support.api import Api
from support.server import CONFORMANCE_FLAGS, Server

GOAL: Final = 50.0  # milliseconds, of a refused body of 1 MiB
_TRIES: Final = 3
_REFUSED: Final = 400


def spent(pid: int) -> float:
    """Milliseconds of CPU that a process has used: the system counts each thread in nanoseconds.

    What `assault` asks for, the whole process in ticks of 10 ms, is too coarse here.
    """
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue  # it has ended meanwhile
    return total / 1e6


def cost(server: Server, caller: Api, attack: Attack) -> tuple[float, int]:
    """Milliseconds for one body, and the status of the answer."""
    _, method, path, media_type, make = attack
    body = make()
    least, status = float("inf"), 0
    for _ in range(_TRIES):
        before = spent(server.pid)
        status = caller.request(method, f"{path}&fieldValidation=Strict", body, kind=media_type).status
        time.sleep(0.01)  # what is left to do after the answer counts too
        least = min(least, spent(server.pid) - before)
    return least, status


def main(part: str) -> None:
    """Measures all bodies whose names have `part` in them."""
    flags = (*CONFORMANCE_FLAGS, "--feature-gates=CBORServingAndStorage=true")
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), *flags)
        try:
            with nasty.victims(server) as caller:
                attacks = [
                    *simple.requests(), *simple.cbor_requests(), *mutated.requests(caller), *mutated.cbor_requests(),
                    *nasty.requests(), *nasty_cbor.requests(), *unlike.requests(), *unlike.cbor_requests(),
                ]  # fmt: skip
                _measure(server, caller, [attack for attack in attacks if part in attack[0]])
        finally:
            server.stop()


def _measure(server: Server, caller: Api, attacks: list[Attack]) -> None:
    refused = over = 0
    for attack in attacks:
        took, status = cost(server, caller, attack)
        print(f"{took:7.1f} ms  {status}  {attack[0]}", flush=True)
        if status >= _REFUSED:
            refused += 1
            over += took > GOAL
    print(f"{len(attacks)} bodies, {refused} refused, {over} of those for more than {GOAL:.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
