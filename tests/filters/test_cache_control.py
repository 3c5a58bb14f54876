"""Nobody between server and client keeps answers."""

from __future__ import annotations

from filters.asking import TEXT, answers, ask, fine
from pilothouse.filters.cache_control import cache_control
from pilothouse.filters.chain import compose


def test_answers_are_not_to_be_cached() -> None:
    assert ask(compose([cache_control()], fine)).headers["Cache-Control"] == "no-cache, private"


def test_refusals_are_not_either() -> None:
    assert ask(compose([cache_control()], answers(404))).headers["Cache-Control"] == "no-cache, private"


def test_a_handler_may_know_better() -> None:
    handler = compose([cache_control()], answers(200, b"", TEXT, (b"Cache-Control", b"public, max-age=60")))
    assert ask(handler).headers["Cache-Control"] == "public, max-age=60"
