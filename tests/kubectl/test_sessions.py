"""The recorded kubectl and helm sessions, as a ratchet.

What is not yet equal stands in pending.yaml, step by step, with a reason. Everything else must be equal; and an entry
that has become equal must be taken out, so that it stays so.
"""

from __future__ import annotations

import argparse
import csv
import gc
import importlib.util
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from support.fixtures import needs
from support.places import CONFORMANCE, TOKENS, search_path
from support.server import CONFORMANCE_FLAGS, Server

SESSIONS = CONFORMANCE / "kubectl" / "sessions"
FILES = sorted(path.stem for path in SESSIONS.glob("*.yaml"))
PENDING = Path(__file__).with_name("pending.yaml")
JOBS = 3
LINES = 30  # of difference shown for a step


@pytest.fixture(scope="module")
def replay() -> Iterator[ModuleType]:
    """kubectl_replay.py, which imports its neighbours by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CONFORMANCE))
        patch.setenv("PATH", search_path())
        spec = importlib.util.spec_from_file_location("kubectl_replay", CONFORMANCE / "kubectl_replay.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
        for name in ("replay", "hooks"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def sessions_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Sessions look at the whole cluster: no other test shares their server."""
    server = Server(tmp_path_factory.mktemp("sessions"), *CONFORMANCE_FLAGS)
    yield server
    server.kill()


def pending() -> dict[str, dict[str, Any]]:
    """By "file/session": `steps`, a list of numbers or "all" (nothing of the session is judged yet), and `why`."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(PENDING.read_text()) or {}
    return found


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the replay lets go of connections without closing them
@pytest.mark.parametrize("file", FILES)
def test_sessions_look_as_recorded(file: str, replay: ModuleType, sessions_server: Server) -> None:
    needs("kubectl")
    needs("helm")
    with TOKENS.open() as table:
        tokens = {row[1]: row[0] for row in csv.reader(table) if row}
    arguments = argparse.Namespace(server=sessions_server.url, tokens=str(TOKENS))
    sessions = yaml.safe_load((SESSIONS / f"{file}.yaml").read_text())
    expected = json.loads((CONFORMANCE / "kubectl" / "expected" / f"{file}.json").read_text())
    with ThreadPoolExecutor(JOBS) as pool:
        answers = list(pool.map(lambda session: replay.try_session(session, arguments, tokens), sessions))
    gc.collect()  # connections of the replay, while their warnings are passed over
    waiting = pending()
    problems: list[str] = []
    for session, have in zip(sessions, answers, strict=True):
        entry = waiting.get(f"{file}/{session['session']}", {"steps": []})
        problems += judged(replay, f"{file}/{session['session']}", session, expected[session["session"]], have, entry)
    assert not problems, "\n".join(problems)


def judged(
    replay: ModuleType,
    name: str,
    session: dict[str, Any],
    want: list[dict[str, Any]],
    have: list[dict[str, Any]],
    entry: dict[str, Any],
) -> list[str]:
    """What is wrong with one session: steps that differ and are not pending, and those that are pending and equal."""
    if len(want) != len(have) and entry["steps"] != "all":
        return [f"{name}: {len(want)} steps recorded, {len(have)} run: {have[-1:]}"]
    differ = [number for number, (a, b) in enumerate(zip(want, have, strict=False)) if a != b]
    allowed = entry["steps"]
    if allowed == "all":
        return [] if differ else [f"{name}: it is equal now: take it out of pending.yaml"]
    lines: list[str] = []
    for number in differ:
        if number not in allowed:
            lines.append(f"{name}: step {number} differs: {session['steps'][number]['run']}")
            lines += [f"    {line}" for line in replay.differences(want[number], have[number], LINES)]
    passed = sorted(set(allowed) - set(differ))
    if passed:
        lines.append(f"{name}: steps {passed} are equal now: take them out of pending.yaml")
    return lines


def test_pending_names_what_there_is() -> None:
    known = {
        f"{file}/{session['session']}": len(session["steps"])
        for file in FILES
        for session in yaml.safe_load((SESSIONS / f"{file}.yaml").read_text())
    }
    for name, entry in pending().items():
        assert name in known, name
        assert entry["why"], name
        assert entry["steps"] == "all" or all(0 <= number < known[name] for number in entry["steps"]), name
