"""The real kubectl and helm, run as a user runs them in a shell."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.places import search_path

LONGEST = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str


class Failed(AssertionError):
    """A command did not do what it should; the text shows what it said."""


class Shell:
    """Runs commands with one kubeconfig, in a folder of its own."""

    def __init__(self, folder: Path, kubeconfig: Path, cache: Path, namespace: str = "default") -> None:
        """`cache`: where kubectl keeps discovery; shared by tests of one server, which makes kubectl faster."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.namespace = namespace
        self.environment = {
            "PATH": search_path(),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(cache),
            "HELM_NAMESPACE": namespace,
            "TERM": "dumb",
            "TZ": "UTC",
            "LANG": os.environ.get("LANG", "C.UTF-8"),
        }

    def run(self, *words: str, given: str = "", code: int | None = 0) -> Done:
        """Run a command; `given` is its standard input. `code`: the exit code it must have, None for any."""
        done = subprocess.run(
            words,
            input=given.encode(),
            capture_output=True,
            cwd=self.folder,
            env=self.environment,
            timeout=LONGEST,
            check=False,
        )
        result = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        if code is not None and result.code != code:
            raise Failed(f"$ {' '.join(words)}\n{result.out}{result.err}=> {result.code}, not {code}")
        return result

    def kubectl(self, *words: str, given: str = "", code: int | None = 0) -> Done:
        return self.run("kubectl", "--namespace", self.namespace, *words, given=given, code=code)

    def helm(self, *words: str, code: int | None = 0) -> Done:
        return self.run("helm", *words, code=code)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on (a watch); the caller ends it."""
        return subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env=self.environment,
            text=True,
        )

    def write(self, name: str, text: str) -> str:
        """A file in the folder; returns its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name
