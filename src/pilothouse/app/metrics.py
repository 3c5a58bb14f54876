"""Metrics read off what is there, at a scrape: the size of the store, features, the build."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pilothouse
from pilothouse.app.settings import Settings
from pilothouse.builtin import enablement
from pilothouse.kit.metrics import Gauge, Registry
from pilothouse.serving.process_metrics import constant

_SIZE: Final = "[STABLE] Size of the storage database file physically allocated in bytes."
_FEATURES: Final = "[BETA] This metric records the data about the stage and enablement of a k8s feature."
_BUILD: Final = (
    "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree "
    "state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is "
    "running."
)
_VERSION: Final = (
    "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the "
    "component, usually kube, but is relevant for aggregated-apiservers."
)
SETTLED_EVERY: Final = 1.0  # seconds
Samples = Iterator[tuple[tuple[str, ...], float]]


async def keep_settled(registry: Registry) -> None:
    """Never ends by itself."""
    while True:
        await asyncio.sleep(SETTLED_EVERY)
        registry.settle()


def add_server_metrics(registry: Registry, settings: Settings, version: str) -> None:
    """`version`: that of Kubernetes, as in 1.37.2."""

    def size() -> Samples:
        if settings.storage == "sqlite":
            yield ("sqlite",), float(sum(map(_file_size, ("store.db", "store.db-wal"))))

    def _file_size(name: str) -> int:
        try:
            return os.stat(Path(settings.data) / name).st_size
        except OSError:
            return 0

    registry.add(Gauge("apiserver_storage_size_bytes", _SIZE, ("storage_cluster_id",), size))
    features = registry.add(Gauge("kubernetes_feature_enabled", _FEATURES, ("name", "stage")))
    on = enablement.gates(settings.feature_gates)
    for name, stage in enablement.stages().items():
        features.bind(name, stage).set(float(on[name]))
    major, minor, _ = version.split(".")
    build = {
        "build_date": "",
        "compiler": f"cpython-{platform.python_version()}",
        "git_commit": "",
        "git_tree_state": "",
        "git_version": f"v{version}",
        "go_version": f"pilothouse-{pilothouse.__version__}",
        "major": major,
        "minor": minor,
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    registry.add(constant("kubernetes_build_info", _BUILD, build))
    short = f"{major}.{minor}"
    compatible = {"component": "kube", "binary": version, "emulation": short, "min_compat": short}
    registry.add(constant("version_info", _VERSION, compatible))
