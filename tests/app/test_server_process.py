"""The command as a child process: it starts, says how to use it, and ends by signals."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SMALL = str(Path(__file__).with_name("small.py"))
DEADLINE = 20.0


class Child:
    """A running server."""

    def __init__(self, data: Path, *flags: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.data = data
        self.process = subprocess.Popen(
            [sys.executable, SMALL, "--port", "0", "--data", str(data), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        self.banner = "".join(self.process.stdout.readline() for _ in range(3))
        found = re.search(r"https://127\.0\.0\.1:(\d+)", self.banner)
        assert found is not None, self.banner + self.process.communicate()[1]
        self.port = int(found[1])

    def connect(self) -> http.client.HTTPSConnection:
        trust = ssl.create_default_context(cafile=str(self.data / "pki" / "ca.crt"))
        trust.load_cert_chain(self.data / "pki" / "admin.crt", self.data / "pki" / "admin.key")
        return http.client.HTTPSConnection("localhost", self.port, timeout=DEADLINE, context=trust)

    def get(self, path: str) -> tuple[int, bytes]:
        connection = self.connect()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def ends(self) -> tuple[int, str]:
        """Exit code and what it still said on standard output."""
        out, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, out


@contextmanager
def child(data: Path, *flags: str) -> Iterator[Child]:
    started = Child(data, *flags)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
        started.process.communicate()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "data"


def test_it_serves_and_ends(data: Path) -> None:
    with child(data) as server:
        assert f"kubectl --kubeconfig {data}/kubeconfig get namespaces" in server.banner
        assert server.get("/readyz") == (200, b"")
        assert server.get("/") == (200, b"certificate")
        server.process.send_signal(signal.SIGINT)
        assert server.ends() == (0, "stopped\n")


def test_a_running_request_is_finished_and_a_watch_ended(data: Path) -> None:
    with child(data) as server:
        slow, watch = server.connect(), server.connect()
        slow.request("GET", "/slow")
        watch.request("GET", "/watch")
        events = watch.getresponse()
        assert events.read(5) == b"event"
        server.process.send_signal(signal.SIGTERM)
        assert events.read() == b""  # a clean end
        answer = slow.getresponse()
        assert (answer.status, answer.getheader("connection")) == (200, "close")
        assert answer.read() == b"certificate"
        assert server.ends() == (0, "stopped\n")
        slow.close()
        watch.close()


def test_a_second_signal_ends_it_at_once(data: Path) -> None:
    with child(data, "--shutdown-delay-duration", "1m") as server:
        idle = server.connect()
        idle.request("GET", "/")
        idle.getresponse().read()
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + DEADLINE
        while server.get("/readyz")[0] != 500:
            assert time.monotonic() < end
        assert server.get("/")[0] == 200  # not ready, but serving
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == (1, "stopped\n")
        assert time.monotonic() - began < DEADLINE
        idle.close()


def test_a_signal_ends_it_before_it_is_ready(data: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NEVER_READY": "1"}
    command = [sys.executable, SMALL, "--port", "0", "--data", str(data)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "starting\n"
        one.send_signal(signal.SIGTERM)
        assert one.communicate(timeout=DEADLINE)[0] == "stopped\n"
        assert one.returncode == 0


def test_a_port_in_use_is_explained(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, SMALL, "--port", port, "--data", str(data)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=DEADLINE)
    assert done.returncode == 1
    assert done.stderr == (
        f"pilothouse serve: 127.0.0.1:{port} is in use already; stop the other server or choose another --port\n"
    )
