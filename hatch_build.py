"""Compiles the modules that pyproject.toml lists under `tool.pilothouse`, with mypyc, when pilothouse is installed.

Python stays the source, and runs as it is where this cannot be done: without a C compiler, or with
`PILOTHOUSE_COMPILE=0`. Where a compiler is there, a module that it does not take is an error. See
docs/designs/compiled.md.

Run as a program it compiles this checkout in place: `scripts/compile`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent
SOURCE: Final = ROOT / "src"
SWITCH: Final = "PILOTHOUSE_COMPILE"
_LIBRARY: Final = "pilothouse.native"  # mypyc's name for what the modules have in common: native__mypyc beside them
_BUILT_FROM: Final = SOURCE / "pilothouse" / "native__mypyc.sources"
_SETUP: Final = """
import sys
from mypyc.build import mypycify
from setuptools import setup

folder, library, *modules = sys.argv[1:]
options = ["--config-file=", "--cache-dir", folder + "/mypy"]
options += ["--ignore-missing-imports", "--disable-error-code=import-untyped"]
extensions = mypycify([*options, *modules], group_name=library, target_dir=folder, opt_level="2", debug_level="0")
setup(
    name="pilothouse", packages=[], ext_modules=extensions,
    script_args=["-q", "build_ext", "--inplace", "--build-temp", folder, "--build-lib", folder + "/lib"],
)
"""


def modules() -> list[str]:
    """The files that are compiled, from `src`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed: list[str] = project["tool"]["pilothouse"]["compiled"]
    return [f"{name.replace('.', '/')}.py" for name in listed]


def hindrance() -> str:
    """Why nothing can be compiled here; or nothing."""
    if os.environ.get(SWITCH) == "0":
        return f"{SWITCH}=0 is set"
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None and shutil.which("cc") is None:
        return f"there is no C compiler ({compiler})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's header files are not installed"
    return ""


def is_stale() -> bool:
    """Is what was compiled here not what the sources say now? It is used all the same, as Python's imports go."""
    return bool(_libraries()) and (not _BUILT_FROM.exists() or _BUILT_FROM.read_text() != _digest())


def clear() -> None:
    """Takes away what was compiled before: it would be used instead of newer Python."""
    _BUILT_FROM.unlink(missing_ok=True)
    for built in _libraries():
        built.unlink()


def compile_in_place() -> list[Path]:
    """The libraries made, beside their sources. Raises CalledProcessError; the compiler's words are shown."""
    clear()
    environment = dict(os.environ)
    if not shutil.which((environment.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]):
        environment["CC"] = "cc"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", _SETUP, folder, _LIBRARY, *modules()], cwd=SOURCE, env=environment, check=True
        )
    _BUILT_FROM.write_text(_digest())
    return _libraries()


def _libraries() -> list[Path]:
    return [built for suffix in ("so", "pyd") for built in SOURCE.rglob(f"*.{suffix}")]


def _digest() -> str:
    """Of all that is compiled."""
    return hashlib.sha256(b"".join((SOURCE / module).read_bytes() for module in modules())).hexdigest()


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program, where the builder is not needed
    BuildHookInterface = object


class CompiledModules(BuildHookInterface):  # type: ignore[misc,valid-type]
    """Puts the libraries beside the sources, for the wheel too."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        reason = hindrance()
        if reason:
            clear()
            self.app.display_warning(f"pilothouse runs as plain Python, and slower: {reason}")
            return
        built = compile_in_place()
        if version == "editable":
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update({str(path): str(path.relative_to(SOURCE)) for path in built})


def main() -> None:
    """Compiles this checkout, or says why not."""
    reason = hindrance()
    if reason:
        clear()
        sys.exit(f"nothing was compiled, pilothouse runs as plain Python: {reason}")
    print(f"compiled: {len(compile_in_place())} libraries beside their sources")


if __name__ == "__main__":
    main()
