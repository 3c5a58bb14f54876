"""docs/metrics.md says what is measured and what is not; the dashboard asks for nothing that is not there."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import pytest

from .support import Front, far, front, run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
DASHBOARD = ROOT / "docs" / "grafana-dashboard.json"
RECORDED = ROOT.parent / "shared" / "facts" / "metrics.txt"
_WORDS = frozenset(("sum", "by", "rate", "topk", "histogram_quantile", "code", "verb", "le", "resource", "result"))
_WORDS |= {"request_kind", "WATCH", "m"}


def rows(heading: str) -> list[str]:
    """The names in the first column of the table under a heading."""
    section = PAGE.read_text().partition(heading)[2].partition("\n## ")[0]
    table = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for cell in table for name in re.findall(r"`([^`]+)`", cell)]


async def samples(here: Front) -> set[str]:
    """Names of all samples of a server that has served something."""
    await here.call("GET", "/readyz")
    await here.call("GET", "/api/v1/namespaces")
    await here.call("GET", "/api/v1/namespaces", user="nobody")
    await here.call("GET", "/api/v1/namespaces", user="alice")
    wire = await here.wire()
    wire.send(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n")
    await wire.until(b"\r\n\r\n")
    text = (await here.call("GET", "/metrics"))[2].decode()
    return set(re.findall(r"^([A-Za-z_]+)[{ ]", text, re.MULTILINE))


def test_each_query_of_the_dashboard_finds_data(tmp_path: Path, pki: Path) -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]

    async def scenario() -> None:
        async with front(tmp_path, authorization_mode=("RBAC",)) as here, far(pki) as there:
            await here.available(await here.register(there))
            known = await samples(here)
            for panel in panels:
                query = re.sub(r"\{[^}]*\}|\[[^]]*\]", "", panel["targets"][0]["expr"])
                asked = {word for word in re.findall(r"[A-Za-z_]+", query) if word not in _WORDS}
                assert asked and asked <= known, panel["title"]

    run(scenario)


@pytest.mark.shared
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded facts are not here")
def test_the_page_tells_of_every_metric_of_the_original(tmp_path: Path) -> None:
    original = {line.split()[2] for line in RECORDED.read_text().splitlines() if line.startswith("# TYPE")}
    missing = rows("## What is not here, and why")
    shown = rows("## What is here")

    async def scenario() -> None:
        async with front(tmp_path, authorization_mode=("RBAC",)) as here:
            text = (await here.call("GET", "/metrics"))[2].decode()
        present = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        for name in original - present:
            assert any(fnmatch.fnmatch(name, pattern) for pattern in missing), f"{name} is not told of"
        for pattern in missing:
            there = [name for name in original - present if fnmatch.fnmatch(name, pattern)]
            assert there, f"{pattern} is out of date"
        for name in present:
            assert any(fnmatch.fnmatch(name, pattern) for pattern in shown), f"{name} is not told of"

    run(scenario)
