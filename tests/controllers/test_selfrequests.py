"""What the controllers of a server ask is counted as its own requests."""

from __future__ import annotations

from pathlib import Path

from pilothouse.controllers.manager import ControllerSettings
from pilothouse.kit import exposition
from support.inprocess import asked, running
from support.measured import ADMIN, Scrape

from .servers import eventually, run

NAME = "apiserver_selfrequest_total"


def test_requests_of_controllers_are_counted_and_those_of_others_are_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, ADMIN, ControllerSettings()) as server:
            labels = {"verb": "POST", "group": "", "resource": "serviceaccounts", "subresource": ""}

            def made() -> float:
                return Scrape(exposition.text(server.metrics).decode()).value(NAME, **labels)

            async def settled() -> bool:
                return made() == 4  # of the namespaces of a new cluster

            await eventually(settled, "each namespace has an account")
            await server.handler(asked("POST /api/v1/namespaces", {"metadata": {"name": "a"}}, token="admin"))
            accounts = "/api/v1/namespaces/a/serviceaccounts"
            await server.handler(asked(f"POST {accounts}", {"metadata": {"name": "b"}}, token="admin"))

            async def one_more() -> bool:
                return made() == 5

            await eventually(one_more, "so has the new one")

    run(scenario())
