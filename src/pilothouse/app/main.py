"""The command `pilothouse`: serve, version, help. Each imports what it needs when it runs: help must be instant."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pilothouse import __version__

if TYPE_CHECKING:
    from pilothouse.app.material import Material
    from pilothouse.app.server import Application
    from pilothouse.app.settings import Settings

_HELP = """\
pilothouse is the Kubernetes API server in Python.

Usage:
  pilothouse serve [flags]     run the server; `pilothouse serve --help` lists the flags
  pilothouse version           print the version
  pilothouse --help            print this

Try:
  pilothouse serve
  kubectl --kubeconfig .pilothouse/kubeconfig get namespaces
"""
KUBERNETES_VERSION = "v1.37.2"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code (0 good, 1 failed or cut off, 2 wrong usage)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command, rest = (words[0], words[1:]) if words else ("--help", [])
    if command in ("--help", "-h", "help"):
        sys.stdout.write(_HELP)
        return 0
    if command in ("version", "--version"):
        sys.stdout.write(f"pilothouse {__version__} (Kubernetes {KUBERNETES_VERSION})\n")
        return 0
    if command != "serve":
        sys.stderr.write(f"pilothouse: there is no command {command!r}. See `pilothouse --help`.\n")
        return 2
    return _serve(rest)


def _serve(arguments: Sequence[str]) -> int:
    from pilothouse.app.settings import BadSetting, read_settings
    from pilothouse.controllers.names import choose

    try:
        settings = read_settings(arguments, os.environ)
        chosen = choose(settings.controllers)
    except (BadSetting, ValueError) as error:
        sys.stderr.write(f"pilothouse serve: {error}\n")
        return 2
    gc.disable()  # what the start makes stays; the server tunes and enables it when all is loaded
    from pilothouse.app.identity import read_signing_keys
    from pilothouse.app.material import with_own_front_proxy
    from pilothouse.app.serve import serve
    from pilothouse.app.wiring import build_application
    from pilothouse.controllers.manager import ControllerSettings

    async def build(settings: Settings, material: Material) -> Application:
        settings = with_own_front_proxy(settings, material)
        client_ca = b"".join(path.read_bytes() for path in material.client_cas)
        controllers = ControllerSettings(chosen, material.ca.read_text())
        keys = read_signing_keys(settings, material.service_account_key)
        return await build_application(settings, client_ca, controllers, keys)

    return serve(settings, build)


if __name__ == "__main__":
    sys.exit(main())
