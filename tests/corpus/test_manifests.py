"""Real manifests are stored by a running server as the original stores them: the whole answer, warnings too.

The two numbers in ratchet.json only rise. The corpus is not in the project; without it the test is skipped.
"""

from __future__ import annotations

import concurrent.futures
import csv
import functools
import importlib
import json
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.fixtures import StartServer
from support.places import CONFORMANCE, SHARED, TOKENS
from support.server import Server

CASES = SHARED / "corpus" / "manifests" / "cases" / "manifests.yaml"
RATCHET = Path(__file__).with_name("ratchet.json")
JOBS = 4

Answers = dict[str, Any]


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program of the recorded conversations, as a module."""
    monkeypatch.syspath_prepend(str(CONFORMANCE))
    return importlib.import_module("replay")


def replayed(replay: ModuleType, server: Server) -> Answers:
    """What the server answers to each case; each thread keeps one connection."""
    tokens = {row[1]: row[0] for row in csv.reader(TOKENS.read_text().splitlines()) if row}
    own = threading.local()
    clients: list[Any] = []
    replay.far_side()

    def begin() -> None:
        own.client = replay.Client(server.url, tokens)
        own.client.connect = functools.partial(server.api(timeout=30.0).connect)
        clients.append(own.client)

    def one(case: dict[str, Any]) -> tuple[str, Any]:
        return case["case"], replay.run_case(case, own.client)

    with concurrent.futures.ThreadPoolExecutor(JOBS, initializer=begin) as pool:
        answers = dict(pool.map(one, replay.load(CASES)))
    for client in clients:
        client.conn.close()
    return answers


def differ(expected: Answers, answers: Answers) -> list[str]:
    return sorted(name for name in expected if expected[name] != answers.get(name))


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not CASES.exists(), reason="the corpus is not here")
def test_real_manifests_are_stored_as_the_original_stores_them(start_server: StartServer, replay: ModuleType) -> None:
    expected = json.loads(replay.expected_path(CASES).read_text())
    answers = replayed(replay, start_server())
    bare = replay.without_managed_fields
    found = {
        "with managed fields": differ(expected, answers),
        "without managed fields": differ(bare(expected), bare(answers)),
    }
    equal = {name: len(expected) - len(names) for name, names in found.items()}
    known = json.loads(RATCHET.read_text())
    for name, number in known.items():
        assert equal[name] >= number, f"{name}: {equal[name]} are equal, it was {number}; these differ: {found[name]}"
    assert equal == known, f"more are equal now: write the numbers into {RATCHET.name}"
