"""Modules that are compiled when pilothouse is installed, and what is installed where they cannot be."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import hatch_build
import pytest

PLAIN = "running as plain Python"


def names() -> list[str]:
    return [module.removesuffix(".py").replace("/", ".") for module in hatch_build.modules()]


@pytest.mark.skipif(os.environ.get("PILOTHOUSE_PLAIN") == "1" or bool(hatch_build.hindrance()), reason=PLAIN)
def test_the_listed_modules_run_compiled_where_there_is_a_compiler() -> None:
    interpreted = [name for name in names() if (importlib.import_module(name).__file__ or "").endswith(".py")]
    assert not interpreted


def test_what_gives_way_to_other_threads_is_interpreted() -> None:
    assert "pilothouse.kit.giveway" not in names()


def test_the_list_is_in_order() -> None:
    assert names() == sorted(set(names()))


def test_without_a_compiler_it_is_said_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(hatch_build.SWITCH, raising=False)
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("PATH", "")
    assert hatch_build.hindrance() == "there is no C compiler (no-such-compiler)"


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hatch_build.SWITCH, "0")
    assert hatch_build.hindrance() == "PILOTHOUSE_COMPILE=0 is set"


@pytest.mark.slow
def test_a_wheel_of_plain_python_is_for_every_machine(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", hatch_build.ROOT, checkout], check=True)
    wheels = tmp_path / "wheels"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    environment = {**os.environ, hatch_build.SWITCH: "0"}
    subprocess.run([*command, "--wheel-dir", wheels, checkout], env=environment, check=True)
    (wheel,) = wheels.iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    contents = zipfile.ZipFile(wheel).namelist()
    assert "pilothouse/kit/giveway.py" in contents
    assert not [name for name in contents if name.endswith((".so", ".pyd"))]
