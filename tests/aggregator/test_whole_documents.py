"""All documents of a running server, compared whole with those that were recorded of kube-apiserver."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .support import front, run

RECORDED = Path(__file__).parents[3] / "shared" / "facts"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
JSON = "application/json"
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")
_OF_THE_BUILD = ("compiler", "goVersion", "gitCommit")  # docs/differences.md

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not RECORDED.exists(), reason="the recorded facts are not here"),
]


def asked(name: str) -> tuple[str, str]:
    """Path and Accept of a recorded document."""
    first, _, rest = name.partition(".")
    if first == "aggregated":
        return f"/{rest.partition('.')[0]}", AGGREGATED
    if first == "root-paths":
        return "/", JSON
    group, _, version = rest.rpartition(".")
    if first == "apis" and _VERSION.fullmatch(version):
        return f"/apis/{group}/{version}", JSON
    return f"/{first}/{rest}".rstrip("/"), JSON


def without_what_must_differ(path: str, document: Any) -> Any:
    if path == "/version":
        return {key: value for key, value in document.items() if key not in _OF_THE_BUILD}
    if path == "/api":
        return {**document, "serverAddressByClientCIDRs": []}  # where this very server listens
    return document


def test_discovery_is_that_of_the_original(tmp_path: Path) -> None:
    names = sorted(file.stem for file in (RECORDED / "discovery").glob("*.json"))
    assert len(names) > 40

    async def scenario() -> None:
        async with front(tmp_path, authorization_mode=("RBAC",)) as here:
            for name in names:
                path, accept = asked(name)
                got = without_what_must_differ(path, await here.get(path, Accept=accept))
                want = json.loads((RECORDED / "discovery" / f"{name}.json").read_bytes())
                assert json.dumps(got) == json.dumps(without_what_must_differ(path, want)), path  # and in this order

    run(scenario)


def test_openapi_has_the_paths_and_definitions_of_the_original(tmp_path: Path) -> None:
    index = json.loads((RECORDED / "openapi" / "v3-index.json").read_bytes())
    swagger = json.loads(gzip.decompress((RECORDED / "openapi" / "v2.json.gz").read_bytes()))

    async def scenario() -> None:
        async with front(tmp_path, authorization_mode=("RBAC",)) as here:
            assert list((await here.get("/openapi/v3"))["paths"]) == list(index["paths"])
            got = await here.get("/openapi/v2")
            assert list(got) == list(swagger)
            for part in ("paths", "definitions", "parameters"):
                assert list(got[part]) == list(swagger[part])

    run(scenario)
