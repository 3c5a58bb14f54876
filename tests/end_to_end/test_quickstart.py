"""docs/quickstart.md does what it says: its commands are typed into one bash, in order, in an empty folder."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.fixtures import needs
from support.places import ROOT, search_path
from support.server import eventually

PAGE = ROOT / "docs" / "quickstart.md"
DEADLINE = 20.0  # seconds for one command
_BLOCK = re.compile(r"^```(console|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"this as `([\w.]+)`")
_END = re.compile(r"^#end (\d+)$")
_REFUSAL = re.compile(r"^error:|is invalid:", re.MULTILINE)
_ALIKE = (
    (re.compile(r"\b\d+m?s\b"), "AGE"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class File:
    """A file that the reader is told to save."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line to type, and the lines shown below it."""

    text: str
    shown: tuple[str, ...]


def steps(page: str) -> Iterator[File | Command]:
    """What the page tells the reader to do."""
    before = 0
    for block in _BLOCK.finditer(page):
        if block[1] == "yaml":
            name = _NAMED.findall(page[before : block.start()])[-1]
            yield File(name, block[2])
        else:
            for part in re.split(r"^\$ ", block[2], flags=re.MULTILINE)[1:]:
                text, *shown = part.splitlines()
                yield Command(text, tuple(line for line in shown if line.strip() not in ("", "...")))
        before = block.end()


def alike(line: str, folder: Path) -> str:
    """The line without what is different each time."""
    line = line.replace(str(folder), "/home/you")
    for pattern, word in _ALIKE:
        line = pattern.sub(word, line)
    return line.strip()


class Terminal:
    """One bash that remembers what was printed, by it and by what runs behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: list[str] = []
        self._watched = False
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=_environment(folder),
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._bash.stdout is not None
        for line in self._bash.stdout:
            self._lines.append(line.rstrip("\n"))

    def type(self, command: Command) -> None:
        """Run it; fails unless it ends well and all lines shown appear."""
        assert self._bash.stdin is not None
        begin = len(self._lines)
        self._bash.stdin.write(f'{command.text}\nprintf "\\n#end %d\\n" $?\n')
        self._bash.stdin.flush()
        try:
            ended = eventually(lambda: [found for line in self._lines[begin:] if (found := _END.match(line))], DEADLINE)
        except AssertionError:
            raise AssertionError(f"{self._told(command, begin)}\nit did not end") from None
        refused = _REFUSAL.search("\n".join(command.shown)) is not None
        assert (ended[0][1] != "0") is refused, self._told(command, begin)
        self._watched = self._watched or command.text.endswith("&")
        try:
            eventually(lambda: not self._missing(command, begin))
        except AssertionError:
            missing = self._missing(command, begin)
            raise AssertionError(f"{self._told(command, begin)}\nnot found: {missing}") from None

    def _missing(self, command: Command, begin: int) -> list[str]:
        """The lines that were not printed. What runs behind may print into the middle of a line: then words count."""
        printed = [alike(line, self.folder) for line in self._lines[begin:]]
        text = "\n".join(printed)
        wanted = [alike(line, self.folder) for line in command.shown]
        absent = [line for line in wanted if line not in printed]
        return [line for line in absent if not self._watched or any(word not in text for word in line.split())]

    def _told(self, command: Command, begin: int) -> str:
        return "\n".join([f"$ {command.text}", *self._lines[begin:]])

    def close(self) -> None:
        """End bash and all that it started."""
        assert self._bash.stdin is not None
        self._bash.stdin.close()
        with contextlib.suppress(ProcessLookupError):  # all ended by themselves
            os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.wait()
        self._reader.join()
        assert self._bash.stdout is not None
        self._bash.stdout.close()


def _environment(folder: Path) -> dict[str, str]:
    """As a reader's, but for the port: others may test on this machine."""
    commands = folder / "bin"
    commands.mkdir()
    pilothouse = commands / "pilothouse"
    pilothouse.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pilothouse.app.main "$@"\n')
    pilothouse.chmod(0o755)
    return {
        "PATH": os.pathsep.join((str(commands), search_path())),
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        "HOME": str(folder),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PILOTHOUSE_PORT": "0",
        "TERM": "dumb",
    }


def test_the_quickstart_does_what_it_says(tmp_path: Path) -> None:
    needs("kubectl")
    needs("helm")
    terminal = Terminal(tmp_path)
    try:
        for step in steps(PAGE.read_text()):
            if isinstance(step, File):
                (tmp_path / step.name).write_text(step.text)
            else:
                terminal.type(step)
    finally:
        terminal.close()


@pytest.mark.parametrize("word", ["serve", "create", "apply", "watch", "explain", "CustomResourceDefinition", "helm"])
def test_the_quickstart_shows(word: str) -> None:
    assert word in PAGE.read_text()
