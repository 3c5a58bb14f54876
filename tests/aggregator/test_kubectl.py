"""Real kubectl through the front: `top` with a metrics server made of a few lines, `get --raw`, `api-resources`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pilothouse.extension import Extension
from support.fixtures import needs
from support.places import tool

from .support import Far, Front, echo, front, run
from .test_extension import settings

GROUP = "metrics.k8s.io"
TIMES = {"timestamp": "2026-11-29T21:00:00Z", "window": "10s"}


def metrics_server() -> Extension:
    async def nodes() -> list[dict[str, Any]]:
        return [{"metadata": {"name": "worker"}, **TIMES, "usage": {"cpu": "250m", "memory": "1Gi"}}]

    async def pods() -> list[dict[str, Any]]:
        usage = [{"name": "main", "usage": {"cpu": "10m", "memory": "20Mi"}}]
        return [{"metadata": {"name": "web", "namespace": "default"}, **TIMES, "containers": usage}]

    server = Extension(GROUP, "v1beta1")
    server.computed("NodeMetrics", "nodes", nodes, namespaced=False)
    server.computed("PodMetrics", "pods", pods)
    return server


async def kubectl(here: Front, folder: Path, *words: str) -> str:
    binary = tool("kubectl")
    assert binary is not None
    server = f"--server=http://127.0.0.1:{here.edge.port}"
    process = await asyncio.create_subprocess_exec(
        binary, server, *words, env={"HOME": str(folder), "PATH": "/usr/bin"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0, err.decode()
    return out.decode()


def test_kubectl_top(tmp_path: Path, pki: Path) -> None:
    needs("kubectl")

    async def scenario() -> None:
        from pilothouse.extension import Upstream

        chosen = {**settings(pki), "authorization_mode": ("AlwaysAllow",)}
        async with front(tmp_path, **chosen) as here:
            upstream = Upstream(f"http://127.0.0.1:{here.edge.port}", token="admin-token")
            files = (pki / "serving.crt", pki / "serving.key")
            async with metrics_server().serving(port=0, host="127.0.0.1", certificate=files, upstream=upstream) as port:
                stand_in = Far(echo)
                stand_in.port = port
                await here.available(await here.register(stand_in, GROUP, "v1beta1"))
                capacity = {"cpu": "1", "memory": "2Gi"}
                node = {"metadata": {"name": "worker"}, "status": {"capacity": capacity, "allocatable": capacity}}
                await here.make("/api/v1/nodes", node)
                found = await kubectl(here, tmp_path, "top", "nodes")
                assert found.split("\n")[1].split() == ["worker", "250m", "25%", "1024Mi", "50%"]
                found = await kubectl(here, tmp_path, "top", "pods")
                assert found.split("\n")[1].split() == ["web", "10m", "20Mi"]
                raw = await kubectl(here, tmp_path, "get", "--raw", f"/apis/{GROUP}/v1beta1/nodes/worker")
                assert '"kind":"NodeMetrics"' in raw
                listed = await kubectl(here, tmp_path, "api-resources", f"--api-group={GROUP}", "--no-headers")
                assert [line.split()[-1] for line in listed.splitlines()] == ["NodeMetrics", "PodMetrics"]

    run(scenario)
