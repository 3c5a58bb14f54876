"""A search as strangers make it: `python tests/hostile/search.py SECONDS [SEED [KEEP]]`, with the project's Python.

Objects of all kinds, grown to about `NASTY_SIZE` bytes (1 MiB unless told), damaged, in every form, sent to a server
with every version of every kind. Prints each failure and broken connection at once, and at the end for each form how
many milliseconds of CPU a body cost: in the middle, 99 of 100, the worst; for bodies that were refused and for others.
What cost more than the goal is kept as files in the folder KEEP. Objects of the shared folder are used where it is.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    os.environ.setdefault("NASTY_SIZE", str(1 << 20))
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.assault import MORE_FAILURES
from hostile.cost import GOAL, spent
from hostile.known import known_seeds, prepare
from hostile.nasty import SIZE
from hostile.stranger import EVERYTHING, FORMS, Seed, Sent, named, requests, seeds
from support.api import Api
from support.places import SHARED
from support.server import CONFORMANCE_FLAGS, Server

_CORPUS: Final = SHARED / "corpus" / "api-roundtrip-1.37.tar.gz"
_REFUSED: Final = 400
_HURTS: Final = 4  # damaged versions of each grown object
_AGAIN: Final = 2  # tries more of what cost too much, the least of all counts


def shared_seeds(served: list[Seed]) -> Iterator[Seed]:
    """The original's own objects of these kinds."""
    if not _CORPUS.exists():
        return
    places = {seed.kind: seed for seed in served}
    with tarfile.open(_CORPUS) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".json") else None
            value: dict[str, Any] = json.load(file) if file is not None else {}
            seed = places.get(f"{value.get('apiVersion')} {value.get('kind')}")
            if seed is not None:
                yield Seed(seed.path, named(value, "new"), seed.message, seed.verbs, seed.subresources)


def stream(chance: random.Random, pool: list[Seed]) -> Iterator[Sent]:
    while True:
        yield from requests(chance, chance.choice(pool), chance.choice(FORMS), SIZE, _HURTS)


class Search:
    """Sends bodies and keeps notes."""

    def __init__(self, server: Server, caller: Api, keep: Path | None) -> None:
        self._server = server
        self._caller = caller
        self._keep = keep
        self._costs: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._kept = 0

    def send(self, one: Sent) -> None:
        cost, status, message = self._once(one)
        for _ in range(_AGAIN):
            if cost > GOAL:
                cost = min(cost, self._once(one)[0])
        self._costs[one.media_type, "refused" if status >= _REFUSED else "accepted"].append(cost)
        failed = not status or (status >= 500 and not message.startswith(MORE_FAILURES))
        if failed:
            print(f"FAILED {status} {message} {one}", flush=True)
        if self._keep is not None and (failed or (cost > GOAL and status >= _REFUSED)):
            self._kept += 1
            (self._keep / f"{self._kept}.body").write_bytes(one.body)
            (self._keep / f"{self._kept}.txt").write_text(f"{cost:.1f} ms {status} {one}\n{message}\n")

    def _once(self, one: Sent) -> tuple[float, int, str]:
        """Milliseconds of CPU, the status (0 where the connection broke), and what was said."""
        before = spent(self._server.pid)
        status, message = 0, ""
        try:
            answer = self._caller.request(one.method, one.path, one.body, kind=one.media_type)
            status = answer.status
            message = answer.json()["message"] if status >= _REFUSED else ""
        except (OSError, HTTPException) as error:
            message = repr(error)
        time.sleep(0.01)  # what is left to do after the answer counts too
        return spent(self._server.pid) - before, status, message[:300]

    def tell(self) -> None:
        for (media_type, end), costs in sorted(self._costs.items()):
            costs.sort()
            middle, most = costs[len(costs) // 2], costs[len(costs) * 99 // 100]
            over = sum(cost > GOAL for cost in costs)
            print(f"{media_type:45} {end:8} {len(costs):5} bodies: {middle:6.1f} {most:6.1f} {costs[-1]:6.1f} ms, "
                  f"{over} over {GOAL:.0f} ms")  # fmt: skip


def main(seconds: float, seed: int, keep: Path | None) -> None:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), *CONFORMANCE_FLAGS, *EVERYTHING)
        try:
            with server.api(timeout=60.0) as caller:
                prepare(caller)
                served = [*seeds(caller)]
                search = Search(server, caller, keep)
                end = time.monotonic() + seconds
                for one in stream(random.Random(seed), [*served, *shared_seeds(served), *known_seeds() * 8]):
                    if time.monotonic() > end:
                        break
                    search.send(one)
                search.tell()
        finally:
            print("ended in good order" if server.stop() == 0 else "did NOT end in good order")


if __name__ == "__main__":
    main(
        float(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 1,
        Path(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
