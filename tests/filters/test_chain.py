"""The order of the chain: what `ORDER` says is what the server composes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from filters.asking import fine, get, seen
from pilothouse.app import wiring
from pilothouse.app.settings import Settings
from pilothouse.filters import chain
from pilothouse.filters.chain import OPTIONAL, ORDER, compose
from pilothouse.serving.http import Answer, Filter, Handler, Request

NO_PLACE_OF_THEIR_OWN = {"__init__", "chain", "front_proxy"}  # the last stands in for authentication


def composed(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Path) -> list[str]:
    """The filters that a server is given, by the names of their files."""
    found: list[str] = []

    def note(filters: Sequence[Filter], handler: Handler) -> Handler:
        found.extend(build.__module__.rpartition(".")[2] for build in filters)
        return compose(filters, handler)

    monkeypatch.setattr(wiring, "compose", note)

    async def main() -> None:
        application = await wiring.build_application(Settings(storage="memory", data=folder, **settings), b"")
        await application.stop()

    asyncio.run(main())
    return found


def test_the_server_composes_the_filters_in_the_order_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert composed(tmp_path, monkeypatch) == [name for name in ORDER if name not in OPTIONAL]


def test_what_is_optional_has_its_place_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracing = tmp_path / "tracing.yaml"
    tracing.write_text("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n")
    assert tuple(composed(tmp_path, monkeypatch, tracing_config_file=tracing)) == ORDER


def test_every_file_of_the_folder_is_a_filter_of_the_chain() -> None:
    files = {path.stem for path in Path(chain.__file__).parent.glob("*.py")}
    assert files - NO_PLACE_OF_THEIR_OWN == set(ORDER)


def test_order_that_must_hold() -> None:
    def before(first: str, second: str) -> bool:
        return ORDER.index(first) < ORDER.index(second)

    assert ORDER[0] == "recovery"  # nothing escapes it
    assert before("audit_id", "errors")  # refusals carry the identifier too
    assert before("metrics", "errors")  # and are counted with their status
    assert before("request_info", "in_flight")
    assert before("warnings", "authentication")  # which may warn
    assert before("authentication", "impersonation")
    assert before("impersonation", "authorization")  # the wanted user's rights count
    assert before("in_flight", "authorization")
    assert before("deadline", "authentication")  # a slow look-up of a token is bounded as well
    assert before("authorization", "tracing")  # whose trace goes on is known, and that he may ask
    assert before("authorization", "compression")  # what is refused is short


def test_the_first_filter_is_outermost() -> None:
    passed: list[str] = []

    def noting(name: str) -> Callable[[Handler], Handler]:
        def build(inner: Handler) -> Handler:
            async def handle(request: Request) -> Answer:
                passed.append(f"{name} in")
                answer = await inner(request)
                passed.append(f"{name} out")
                return answer

            return handle

        return build

    async def main() -> Answer:
        return await compose([noting("a"), noting("b")], fine)(get())

    assert seen(asyncio.run(main())).body == b"fine"
    assert passed == ["a in", "b in", "b out", "a out"]
