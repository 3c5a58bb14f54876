"""An API server of one's own behind pilothouse: the example in `examples/`, used as any other API."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from pilothouse.extension import Extension, Upstream, in_cluster
from pilothouse.extension.schemas import schema_of

from .support import Far, Front, echo, front, run

GROUP = "weather.example.com"
EXAMPLE = Path(__file__).parents[2] / "examples" / "weather.py"
FORECASTS = f"/apis/{GROUP}/v1/namespaces/default/forecasts"
READINGS = f"/apis/{GROUP}/v1/readings"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def example() -> Extension:
    spec = importlib.util.spec_from_file_location("weather", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Extension = module.weather
    return found


@asynccontextmanager
async def behind(here: Front, pki: Path, extension: Extension) -> AsyncIterator[None]:
    """The extension server, registered and available."""
    upstream = Upstream(f"http://127.0.0.1:{here.edge.port}", token="admin-token")
    certificate = (pki / "serving.crt", pki / "serving.key")
    async with extension.serving(port=0, host="127.0.0.1", certificate=certificate, upstream=upstream) as port:
        stand_in = Far(echo)
        stand_in.port = port
        await here.available(await here.register(stand_in, extension.group))
        yield


def settings(pki: Path) -> dict[str, Any]:
    return {
        "requestheader_client_ca_file": pki / "ca.crt",
        "proxy_client_cert_file": pki / "admin.crt",
        "proxy_client_key_file": pki / "admin.key",
        "authorization_mode": ("RBAC",),
    }


def forecast(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Forecast", "metadata": {"name": name}, "spec": spec}


def test_objects_that_clients_write(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here, behind(here, pki, example()):
            made = await here.make(FORECASTS, forecast("a", city="Oslo"))
            assert made["spec"] == {"city": "Oslo", "degrees": 20} and made["metadata"]["uid"]
            status, _, body = await here.call("POST", FORECASTS, forecast("b", degrees="warm"))
            assert status == 422 and b"spec.city: Required value" in body
            patch = {"spec": {"degrees": 5}}
            status, _, body = await here.call(
                "PATCH", f"{FORECASTS}/a", patch, Content_Type="application/merge-patch+json"
            )
            assert status == 200 and json.loads(body)["spec"]["degrees"] == 5
            table = await here.get(FORECASTS, Accept=TABLE)
            assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "City"]
            assert table["rows"][0]["cells"] == ["a", "Oslo"]
            wire = await here.wire()
            version = made["metadata"]["resourceVersion"]
            head = "HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n"
            wire.send(f"GET {FORECASTS}?watch=1&resourceVersion={version} {head}".encode())
            await wire.until(b'"type":"MODIFIED"')
            assert (await here.call("DELETE", f"{FORECASTS}/a"))[0] == 200
            await wire.until(b'"type":"DELETED"')

    run(scenario)


def test_objects_that_a_function_makes(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here, behind(here, pki, example()):
            found = await here.get(READINGS)
            assert found["kind"] == "ReadingList"
            assert [one["metadata"]["name"] for one in found["items"]] == ["oslo", "rome"]
            assert -20 <= (await here.get(f"{READINGS}/oslo"))["degrees"] <= 40
            assert (await here.call("GET", f"{READINGS}/paris"))[0] == 404
            assert (await here.call("DELETE", f"{READINGS}/oslo"))[0] == 405
            only = await here.get(f"{READINGS}?fieldSelector=metadata.name%3Drome")
            assert [one["metadata"]["name"] for one in only["items"]] == ["rome"]

    run(scenario)


def test_changes_of_computed_objects_are_events(tmp_path: Path, pki: Path) -> None:
    values = {"a": 1}
    extension = Extension(GROUP, "v1")

    async def compute() -> list[dict[str, Any]]:
        return [{"metadata": {"name": name}, "value": value} for name, value in values.items()]

    extension.computed("Reading", "readings", compute, namespaced=False, every=0.02)

    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here, behind(here, pki, extension):
            version = (await here.get(READINGS))["metadata"]["resourceVersion"]
            wire = await here.wire()
            head = "HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n"
            wire.send(f"GET {READINGS}?watch=1&resourceVersion={version} {head}".encode())
            await wire.until(b"\r\n\r\n")
            values["b"] = 2
            assert b'"name":"b"' in await wire.until(b'"value":2')
            values.pop("a")
            await wire.until(b'"type":"DELETED"')

    run(scenario)


def test_the_front_decides_who_may(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here, behind(here, pki, example()):
            assert (await here.call("GET", FORECASTS, user="alice"))[0] == 403
            role = {"rules": [{"apiGroups": [GROUP], "resources": ["forecasts"], "verbs": ["list"]}]}
            where = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
            await here.make(f"{where}/roles", {"metadata": {"name": "r"}, **role})
            binding = {
                "metadata": {"name": "r"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
                "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
            }
            await here.make(f"{where}/rolebindings", binding)
            await here.until(FORECASTS, lambda status, body: status == 200, user="alice")
            assert (await here.call("POST", FORECASTS, forecast("x", city="y"), user="alice"))[0] == 403

    run(scenario)


def test_documents_of_the_extension_are_those_of_the_front(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here, behind(here, pki, example()):
            listed = await here.get(f"/apis/{GROUP}/v1")
            verbs = {one["name"]: one["verbs"] for one in listed["resources"]}
            assert verbs["readings"] == ["get", "list", "watch"] and "create" in verbs["forecasts"]
            path = f"/openapi/v3/apis/{GROUP}/v1"
            document = await here.until(path, lambda status, body: status == 200)
            schema = next(
                value for name, value in document["components"]["schemas"].items() if name.endswith(".Forecast")
            )
            spec = schema["properties"]["spec"]
            assert spec["description"] == "What somebody expects." and spec["required"] == ["city"]
            assert spec["properties"]["degrees"]["description"] == "Celsius"

    run(scenario)


def test_nobody_gets_in_beside_the_front(tmp_path: Path, pki: Path) -> None:
    from pilothouse.serving.client import Destination
    from pilothouse.serving.dialing import client_tls

    async def scenario() -> None:
        async with front(tmp_path, **settings(pki)) as here:
            upstream = Upstream(f"http://127.0.0.1:{here.edge.port}", token="admin-token")
            certificate = (pki / "serving.crt", pki / "serving.key")
            async with example().serving(port=0, host="127.0.0.1", certificate=certificate, upstream=upstream) as port:
                here.at = Destination("127.0.0.1", port, client_tls("", careless=True))
                claims = {"X_Remote_User": "admin", "X_Remote_Group": "system:masters"}
                assert (await here.call("GET", FORECASTS, user="", **claims))[0] == 403
                assert (await here.call("GET", "/healthz", user=""))[2] == b"ok"

    run(scenario)


@dataclass
class Inner:
    kind: Literal["a", "b"]
    weights: dict[str, float] = field(default_factory=dict)


@dataclass
class Outer:
    """Described."""

    names: list[str]
    inner: Inner | None = None
    anything: Any = None


def test_schemas_follow_from_types() -> None:
    assert schema_of(Outer) == {
        "type": "object",
        "description": "Described.",
        "required": ["names"],
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "inner": {
                "type": "object",
                "nullable": True,
                "required": ["kind"],
                "properties": {
                    "kind": {"type": "string", "enum": ["a", "b"]},
                    "weights": {"type": "object", "additionalProperties": {"type": "number"}},
                },
            },
            "anything": {"x-kubernetes-preserve-unknown-fields": True},
        },
    }
    with pytest.raises(TypeError):
        schema_of(set[str])


def test_a_pod_finds_its_server(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "ca.crt").write_bytes(b"")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    in_cluster(environment, tmp_path)
    with pytest.raises(KeyError):
        in_cluster({}, tmp_path)
