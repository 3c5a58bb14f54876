"""The recorded conversations as a ratchet: we answer what a real kube-apiserver answered, with named exceptions.

Each suite has a file `pending/SUITE.txt` with the cases that are not equal yet, one a line, with a word of reason
behind `#`. A case that is not there must be equal; a case that is there must not: the list only shrinks.
"""

from __future__ import annotations

import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUITES = sorted(path.stem for path in (HERE / "pending").glob("*.txt"))
EVERY_VERSION = ("--runtime-config=api/all=true", "--feature-gates=GenericWorkload=true")
FLAGS = {"versions": EVERY_VERSION}  # by suite; the others need none
START_SECONDS = 30.0


def pending(suite: str) -> set[str]:
    lines = (HERE / "pending" / f"{suite}.txt").read_text().splitlines()
    return {line.partition("#")[0].strip() for line in lines} - {""}


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all suites of the same flags, started as the reference was."""
    folder = tmp_path_factory.mktemp("conformance")
    port = free_port()
    command = ["bash", str(ROOT / "scripts/conformance-server"), "--port", str(port), "--data", str(folder / "data")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, *request.param], stdout=log, stderr=log)
        try:
            wait_ready(port, process, folder / "log")
            yield f"https://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_ready(port: int, process: subprocess.Popen[bytes], log: pathlib.Path) -> None:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    deadline = time.monotonic() + START_SECONDS
    while True:
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass  # not listening yet
        finally:
            connection.close()
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"not ready in {START_SECONDS} s: {log.read_text()}"
        time.sleep(0.05)


def replay(suite: str, server: str) -> set[str]:
    """The cases of a suite that differ from what was recorded. Those that do mostly wait for what never comes."""
    jobs = 3 + len(pending(suite)) // 4
    done = subprocess.run(
        [sys.executable, str(HERE / "replay.py"), "check", suite, "--server", server, "--quiet", "--jobs", str(jobs)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith(f"{suite}: ")), None)
    assert line is not None, done.stdout + done.stderr
    _, _, differ = line.partition("; differ: ")
    return {name.strip() for name in differ.split(",")} - {""}


@pytest.mark.parametrize(
    ("server", "suite"), [(FLAGS.get(suite, ()), suite) for suite in SUITES], ids=SUITES, indirect=["server"]
)
def test_suite_answers_as_recorded(suite: str, server: str) -> None:
    known = pending(suite)
    cases = json.loads((HERE / "expected" / f"{suite}.json").read_text())
    assert known <= set(cases), f"pending/{suite}.txt names cases that are not there: {sorted(known - set(cases))}"
    differ = replay(suite, server)
    worse = differ - known
    if worse:  # a busy machine may have been too slow for a watch with a time-out: once more
        worse &= replay(suite, server)
    assert not worse, f"{suite}: no longer equal: {sorted(worse)}; see replay.py check {suite} --case NAME"
    better = known - differ
    assert not better, f"{suite}: equal now, take out of pending/{suite}.txt: {sorted(better)}"
