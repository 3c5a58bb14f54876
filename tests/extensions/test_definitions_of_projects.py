"""Definitions of well-known projects are accepted and served."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from builtin.inside import Object, run, server
from extensions.crds import DEFINITIONS, condition, until
from pilothouse.machinery import yamlcodec

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "crds.tar.gz"
EVERY = 6  # the whole corpus takes its time


def _definitions() -> Iterator[Object]:
    with tarfile.open(CORPUS) as archive:
        for member in archive.getmembers()[::EVERY]:
            data = archive.extractfile(member)
            for text in data.read().split(b"\n---") if data is not None else ():
                found = yamlcodec.loads(text.removeprefix(b"---")) if text.strip() else None
                if found and found.get("kind") == "CustomResourceDefinition":
                    yield found


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared folder is not here")
def test_definitions_of_projects_are_served(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            made = list(_definitions())
            assert len(made) > 30
            for one in made:
                await api.make(DEFINITIONS, one)
            for one in made:
                where = f"{DEFINITIONS}/{one['metadata']['name']}"
                await until(api, where, lambda found: condition(found, "Established") == "True")
                for version in one["spec"]["versions"]:
                    if version["served"]:
                        await api.get(
                            f"/apis/{one['spec']['group']}/{version['name']}/{one['spec']['names']['plural']}"
                        )

    run(story())
