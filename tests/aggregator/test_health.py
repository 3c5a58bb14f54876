"""Health checks, and the hooks that readiness waits for."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from pilothouse.kit.metrics import Registry
from pilothouse.serving.body import NO_BODY
from pilothouse.serving.health import Check, CheckFailed, Health, HealthMetrics, always_well, health_handler
from pilothouse.serving.hooks import Hooks
from pilothouse.serving.http import Request, Response

from .support import front, run

RECORDED = Path(__file__).parents[3] / "shared" / "facts" / "health-checks.json"


async def sick() -> None:
    raise CheckFailed("the password is hunter2")


async def ask(health: Health, path: str, query: str = "") -> tuple[int, str]:
    answer = await health_handler(health)(Request("GET", path.encode(), query, [], NO_BODY))
    assert isinstance(answer, Response) and isinstance(answer.body, bytes)
    return answer.status, answer.body.decode()


def test_clients_learn_which_check_fails_and_the_log_learns_why(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        registry = Registry()
        health = Health("readyz", [Check("ping", always_well), Check("etcd", sick)], HealthMetrics(registry))
        assert await ask(health, "/readyz") == (
            500,
            "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n",
        )
        assert await ask(health, "/readyz/etcd") == (500, "internal server error: reason withheld\n")
        assert await ask(health, "/readyz/ping", "verbose") == (200, "ok")
        assert await ask(health, "/readyz", "exclude=etcd") == (200, "ok")
        status, text = await ask(health, "/readyz", "verbose&exclude=etcd&exclude=b&exclude=a")
        assert (status, text) == (
            200,
            "[+]ping ok\n[+]etcd excluded: ok\n"
            'warn: some health checks cannot be excluded: no matches for "a","b"\nreadyz check passed\n',
        )
        for path in ("/readyz/nope", "/readyz/", "/readyz/ping/"):
            assert await ask(health, path) == (404, "404 page not found\n")
        found = {family.name: dict(family.samples()) for family in registry.families()}  # type: ignore[arg-type]
        assert found["kubernetes_healthcheck"] == {("ping", "readyz"): 1.0, ("etcd", "readyz"): 0.0}
        assert found["kubernetes_healthchecks_total"]["etcd", "readyz", "error"] == 2.0

    with caplog.at_level(logging.WARNING):
        run(scenario)
    assert "hunter2" in caplog.text


def test_liveness_forgives_what_it_may_while_its_grace_lasts() -> None:
    async def scenario() -> None:
        grace = True
        checks = [Check("slow", sick, forgiven=True), Check("ping", always_well)]
        health = Health("livez", checks, HealthMetrics(), lambda: grace)
        assert (await ask(health, "/livez"))[0] == 200
        grace = False
        assert (await ask(health, "/livez"))[0] == 500
        grace = True
        health = Health("livez", [Check("other", sick)], HealthMetrics(), lambda: grace)
        assert (await ask(health, "/livez"))[0] == 500

    run(scenario)


def test_hooks_are_tried_until_they_work_and_may_wait_for_others() -> None:
    async def scenario() -> None:
        hooks = Hooks(("first", "second", "idle"))
        order: list[str] = []

        async def first() -> None:
            order.append("first")
            if len(order) == 1:
                raise OSError("the store is not there yet")

        async def second() -> None:
            await hooks.done("first")
            order.append("second")

        hooks.add("second", second)
        hooks.add("first", first)
        ready = hooks.all_finished("first", "idle")
        checks = {check.name: check for check in hooks.checks()}
        assert list(checks) == ["poststarthook/first", "poststarthook/second", "poststarthook/idle"]
        assert not ready()
        with pytest.raises(CheckFailed):
            await checks["poststarthook/second"].probe()
        await hooks.start()
        assert order == ["first", "first", "second"]
        assert ready() and ready()
        await checks["poststarthook/second"].probe()
        with pytest.raises(KeyError):
            hooks.add("no such hook", first)

    run(scenario)


def test_what_was_begun_is_ended_in_turn_whatever_fails() -> None:
    async def scenario() -> None:
        hooks = Hooks(("stuck",))
        ended: list[str] = []

        async def fails() -> None:
            ended.append("fails")
            raise OSError

        async def ends() -> None:
            ended.append("ends")

        hooks.add("stuck", lambda: asyncio.sleep(3600))
        hooks.at_end(ends)
        hooks.at_end(fails)
        starting = asyncio.ensure_future(hooks.start())
        await asyncio.sleep(0)
        await hooks.stop()
        assert ended == ["fails", "ends"]
        assert (await asyncio.gather(starting, return_exceptions=True))[0].__class__ is asyncio.CancelledError

    run(scenario)


@pytest.mark.shared
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded facts are not here")
def test_the_checks_are_those_of_the_original(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            for endpoint, names in json.loads(RECORDED.read_bytes()).items():
                status, _, body = await here.call("GET", f"/{endpoint}?verbose")
                lines = [f"[+]{name} ok" for name in names]
                assert (status, body.decode().splitlines()) == (200, [*lines, f"{endpoint} check passed"])

    run(scenario)


def test_a_server_that_ends_is_not_ready_but_alive(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            await here.application.begin_shutdown()
            status, _, body = await here.call("GET", "/readyz")
            assert status == 500 and body.endswith(b"[-]shutdown failed: reason withheld\nreadyz check failed\n")
            assert (await here.call("GET", "/livez"))[0] == 200

    run(scenario)
