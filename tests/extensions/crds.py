"""Definitions for tests, and a server in this process that serves them."""

from __future__ import annotations

import asyncio
from typing import Any

from builtin.inside import Inside, Object

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "farm.example.com"


def version(name: str = "v1", schema: Object | None = None, **more: Any) -> Object:
    """A served version; the storage version unless told otherwise."""
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", **(schema or {})}},
        **more,
    }


def spec_schema(**properties: Object) -> Object:
    return {"properties": {"spec": {"type": "object", "properties": properties}}}


def definition(plural: str, kind: str, *versions: Object, scope: str = "Namespaced", **names: Any) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions) or [version()],
        },
    }


def obj(kind: str, name: str, spec: Any = None, version: str = "v1", **more: Any) -> Object:
    made = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, **more}
    return made if spec is None else {**made, "spec": spec}


def path(plural: str, name: str = "", version: str = "v1", namespace: str = "default") -> str:
    where = f"namespaces/{namespace}/" if namespace else ""
    return f"/apis/{GROUP}/{version}/{where}{plural}" + (f"/{name}" if name else "")


async def define(api: Inside, body: Object) -> Object:
    """Create a definition and wait until its objects are served."""
    await api.make(DEFINITIONS, body)
    return await until(
        api, f"{DEFINITIONS}/{body['metadata']['name']}", lambda found: condition(found, "Established") == "True"
    )


def condition(found: Object, kind: str) -> str:
    conditions = (found.get("status") or {}).get("conditions") or ()
    return next((str(one["status"]) for one in conditions if one["type"] == kind), "")


async def until(api: Inside, where: str, good: Any, seconds: float = 5.0) -> Any:
    """GET until the answer is good; fails after some seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        reply = await api.send("GET", where)
        if good(reply.body):
            return reply.body
        assert loop.time() < deadline, reply.body
        await asyncio.sleep(0.005)


def gone(found: Any) -> bool:
    return isinstance(found, dict) and found.get("code") == 404
