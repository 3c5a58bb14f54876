"""The corpus of nasty bodies: each has an answer that says what is wrong, in bounded time, and nobody else waits."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from hostile import nasty
from support.api import Api
from support.canary import unharmed
from support.server import Server

MOST = 4.0  # seconds of CPU for one body: they take 0.05 to 0.6; what grows faster than the body would take minutes
FAILURES = ("failed to create typed patch object", "etcdserver: request is too large")  # the original's own 500s


@pytest.fixture(scope="module")
def caller(target: Server) -> Iterator[Api]:
    with target.api(timeout=60.0) as api:
        assert (
            api.post(f"{nasty.NAMESPACE}/configmaps", {"metadata": {"name": "there"}, "data": {"a": "b"}}).status == 201
        )
        container = {"name": "c", "image": "i"}
        pod = {"metadata": {"name": "there"}, "spec": {"containers": [container]}}
        assert api.post(f"{nasty.NAMESPACE}/pods", pod).status == 201
        yield api


def spent(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("method", "form"), [("POST", "protobuf"), ("POST", "json"), ("POST", "yaml"), ("PATCH", "")])
def test_nasty_bodies_are_answered_and_nobody_waits(target: Server, caller: Api, method: str, form: str) -> None:
    bodies = [(*one, body()) for *one, body in nasty.requests() if one[1] == method and one[3].endswith(form)]
    assert len(bodies) > 10
    wrong: list[str] = []

    def attack() -> None:
        wrong.clear()
        for name, verb, path, media_type, body in bodies:
            before = spent(target.pid)
            # Strictly: a thousand warnings are more than this client takes.
            answer = caller.request(verb, f"{path}&fieldValidation=Strict", body, kind=media_type)
            used = spent(target.pid) - before
            message = answer.json().get("message", "")
            if answer.status >= 500 and not message.startswith(FAILURES):
                wrong.append(f"{name}: {answer.status} {message[:300]}")
            if used > MOST or len(answer.body) > 4 << 20:
                wrong.append(f"{name}: {used:.1f} s, {len(answer.body)} bytes")

    unharmed(target, attack, worst=0.2)
    assert not wrong, "\n".join(wrong)
