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
# Of the original, too, but the recorded one was not asked for its health, and nothing went wrong there.
BEYOND = frozenset(
    (
        "kube_apiserver_clusterip_allocator_allocation_errors_total",
        "kube_apiserver_nodeport_allocator_allocation_errors_total",
        "kube_apiserver_nodeport_allocator_allocation_total",
        "kubernetes_healthcheck",
        "kubernetes_healthchecks_total",
    )
)
_WORDS = frozenset(("sum", "by", "rate", "topk", "histogram_quantile", "code", "verb", "le", "resource", "result"))
_WORDS |= {"request_kind", "WATCH", "m", "name", "version"}


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
    await here.call("GET", "/api/v1/endpoints")
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


def recorded() -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Type, text and names of labels of each metric of the original."""
    found: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    texts: dict[str, str] = {}
    types: dict[str, str] = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            (texts if what == "HELP" else types)[name] = rest
        else:
            name, _, labels = line.rstrip("}").partition("{")
            found[name] = types[name], texts[name], tuple(label for label in labels.split(",") if label)
    return found


@pytest.mark.shared
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded facts are not here")
def test_metrics_have_the_types_texts_and_labels_of_the_original(tmp_path: Path) -> None:
    original = recorded()

    async def scenario() -> None:
        async with front(tmp_path, authorization_mode=("RBAC",)) as here:
            families = here.application.metrics.families()
        assert len({family.name for family in families}) == len(families)
        for family in families:
            if family.name not in BEYOND:
                shown = type(family).__name__.lower(), family.text, tuple(sorted(family.labels))
                assert shown == original[family.name], family.name

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
