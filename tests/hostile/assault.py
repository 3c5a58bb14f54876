"""Sends nasty bodies one after the other, and tells which had a bad answer or took too long."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from hostile.nasty import SIZE
from support.api import Api
from support.canary import unharmed
from support.server import Server

# Seconds of CPU for one body: they take up to a fifth of it. What grows faster than the body would take minutes.
MOST = 0.6 * max(1.0, SIZE / 262_144)
# The original's own 500s.
FAILURES = (
    "failed to create typed patch object", "failed to convert new object", "etcdserver: request is too large",
)  # fmt: skip
# More of them, which only those meet who try anything (tests/conformance/expected has most of them).
MORE_FAILURES = (
    *FAILURES, "unknown patch type: ", "map: map[", "The order in patch list:",
    "unable to find api field in struct ", "list element types are not identical: ",
    "expected slice or array type, but got: ",
    "merging lists cannot yet be specified", "expected a []interface {}",
    "expected a map[string]interface {}", "converting (", "strconv.ParseUint: ",
    "resourceVersion", "target.kind: ", "target.name: ", "failed to prune fields: ",
    "Internal error occurred: testing value ", "Internal error occurred: json: cannot unmarshal ",
    "Internal error occurred: failed to allocate ", "Internal error occurred: the spec replicas field ",
)  # fmt: skip
Attack = tuple[str, str, str, str, Callable[[], bytes]]  # name, method, path, media type, the body


def spent(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ended_well(server: Server) -> None:
    """A server that was attacked is alive and well, and ends in good order."""
    assert server.is_ready()
    assert server.stop() == 0
    said = server.said()
    assert "Traceback" not in said, said[-6000:]


def survived(target: Server, caller: Api, attacks: Iterable[Attack], failures: tuple[str, ...] = FAILURES) -> None:
    """Each has an answer that says what is wrong, in bounded time, and nobody else waits.

    Where the path says nothing of validation it is strict: a thousand warnings are more than this client takes.
    """
    bodies = [(*one, body()) for *one, body in attacks]
    assert len(bodies) > 10
    wrong: list[str] = []

    def attack() -> None:
        wrong.clear()
        for name, verb, path, media_type, body in bodies:
            before = spent(target.pid)
            asked = path if "fieldValidation=" in path else f"{path}&fieldValidation=Strict"
            answer = caller.request(verb, asked, body, kind=media_type)
            used = spent(target.pid) - before
            message = answer.json().get("message", "")
            if answer.status >= 500 and not message.startswith(failures):
                wrong.append(f"{name}: {answer.status} {message[:300]}")
            if used > MOST or len(answer.body) > 4 << 20:
                wrong.append(f"{name}: {used:.1f} s, {len(answer.body)} bytes")

    unharmed(target, attack, worst=0.2)
    assert not wrong, "\n".join(wrong)
