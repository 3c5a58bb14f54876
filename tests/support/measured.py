"""A whole server in this process whose `/metrics` a test reads before and after it did something."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pilothouse.app.wiring import Application
from pilothouse.kit import exposition
from pilothouse.serving.http import Answer, Response
from support.inprocess import JSON, NO_HEADERS, asked, body_of, running

T = TypeVar("T")
_PATIENCE = 10.0  # seconds
ADMIN = 'admin,admin,1,"system:masters"\n'
USERS = ADMIN + "alice,alice,2,developers\n"
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
Labels = frozenset[tuple[str, str]]


class Scrape:
    """What `/metrics` told."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._samples: dict[str, dict[Labels, float]] = {}
        for name, labels, value in _SAMPLE.findall(text):
            self._samples.setdefault(name, {})[frozenset(_LABEL.findall(labels))] = float(value)

    def value(self, name: str, /, **labels: str) -> float:
        """The sum of all samples that have these labels; 0 where there is none."""
        wanted = set(labels.items())
        return sum(value for has, value in self._samples.get(name, {}).items() if wanted <= has)

    def labels(self, name: str, label: str) -> set[str]:
        """All values of a label."""
        return {dict(has)[label] for has in self._samples.get(name, {})}


class Measured:
    """Requests come from an administrator unless `token` says else."""

    def __init__(self, application: Application, loop: asyncio.AbstractEventLoop) -> None:
        self.application = application
        self.loop = loop

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(story, 30.0))

    async def answer(
        self,
        what: str,
        body: object = None,
        kind: str = JSON,
        *,
        token: str = "admin",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Answer:
        return await self.application.handler(asked(what, body, kind, token=token, headers=headers))

    def ask(
        self,
        what: str,
        body: object = None,
        kind: str = JSON,
        *,
        token: str = "admin",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Response:
        """A whole answer to METHOD PATH[?QUERY]."""
        answer = self.run(self.answer(what, body, kind, token=token, headers=headers))
        assert isinstance(answer, Response), answer
        return answer

    def make(self, path: str, body: object, *, token: str = "admin") -> None:
        answer = self.ask(f"POST {path}", body, token=token)
        assert answer.status == 201, body_of(answer)

    def scrape(self) -> Scrape:
        """The text of `/metrics`, without a request that would be measured, too."""
        self.application.metrics.settle()
        return Scrape(exposition.text(self.application.metrics).decode())

    def reaches(self, name: str, value: float, /, **labels: str) -> None:
        """Wait until the metric is so large: for what goes on beside requests."""
        end = time.monotonic() + _PATIENCE
        while self.scrape().value(name, **labels) < value:
            assert time.monotonic() < end, (name, labels)
            self.run(asyncio.sleep(0.005))

    @contextmanager
    def grows(self, name: str, by: float = 1.0, /, **labels: str) -> Iterator[None]:
        """What happens inside makes the metric grow by so much."""
        before = self.scrape().value(name, **labels)
        yield
        assert self.scrape().value(name, **labels) - before == by, (name, labels)


@contextmanager
def measured(folder: Path, tokens: str = USERS, **settings: Any) -> Iterator[Measured]:
    """A server with RBAC, unless `settings` say else."""
    loop = asyncio.new_event_loop()
    life = running(folder, tokens, **{"authorization_mode": ("RBAC",), **settings})
    try:
        yield Measured(loop.run_until_complete(life.__aenter__()), loop)
    finally:
        loop.run_until_complete(life.__aexit__(None, None, None))
        loop.close()
