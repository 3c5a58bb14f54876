"""Spans of requests, as a collector gets them; the file that says where they go; a collector that is away."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from admission.far import MAPS, VALIDATING, Far, config_map, configure, far_side
from app.collector import ALL, Collector, collector, config, facts
from builtin.inside import Inside, run, server
from pilothouse.app.settings import BadSetting, Settings, read_settings
from pilothouse.app.tracing import TracingConfiguration, build_tracing, read_tracing
from pilothouse.filters.tracing import SHORTEST
from pilothouse.serving.http import Answer, Response
from support.inprocess import asked

NAMESPACE = "/api/v1/namespaces/default"
GET_NAMESPACE = "GET /api/v1/namespaces/{:name}"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
SAMPLED = {"Traceparent": f"00-{TRACE}-{SPAN}-01"}
UNSAMPLED = {"Traceparent": f"00-{TRACE}-{SPAN}-00"}
HEADER = "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n"


async def get(api: Inside, path: str = NAMESPACE, token: str = "admin-token", **headers: str) -> Answer:
    sent: Mapping[str, str] = headers
    return await api.application.handler(asked(f"GET {path}", token=token, headers=sent))


def test_a_request_of_the_administrator_is_part_of_his_trace(tmp_path: Path) -> None:
    with collector() as far:
        file = far.config(tmp_path)

        async def story() -> None:
            async with server(tmp_path, tracing_config_file=file) as api:
                answer = await get(api, **SAMPLED, **{"audit-id": "0000-1"})
                assert answer.status == 200

        run(story())
        (span,) = far.of(GET_NAMESPACE)
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
    assert far.services == {"apiserver"}
    told = facts(span.attributes)
    assert (told["http.request.method"], told["url.path"]) == ("GET", NAMESPACE)
    assert (told["http.response.status_code"], told["audit-id"]) == (200, "0000-1")


def test_nothing_is_sent_where_nothing_is_sampled(tmp_path: Path) -> None:
    with collector() as far:
        file = far.config(tmp_path)

        async def story() -> None:
            async with server(tmp_path, tracing_config_file=file) as api:
                assert (await get(api)).status == 200
                assert (await get(api, **UNSAMPLED)).status == 200
                assert (await get(api, token="alice-token", **SAMPLED)).status == 200  # she may not ask for it

        run(story())
        assert far.sent == []


def test_others_begin_a_trace_with_a_link_to_theirs(tmp_path: Path) -> None:
    with collector() as far:
        file = far.config(tmp_path, ALL)

        async def story() -> None:
            async with server(tmp_path, tracing_config_file=file) as api:
                await get(api, token="alice-token", **UNSAMPLED)

        run(story())
        (span,) = far.of(GET_NAMESPACE)
    assert span.trace_id.hex() != TRACE
    assert span.parent_span_id == b""
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [(TRACE, SPAN)]


def test_webhooks_are_told_of_the_trace_and_waiting_for_them_is_a_span(tmp_path: Path) -> None:
    with collector() as far:
        asyncio.run(_with_webhook(tmp_path, far))
        (span,) = far.of("POST /api/v1/namespaces/{:namespace}/configmaps")
        waits = [one for one in far.spans if one.parent_span_id == span.span_id]
    assert span.trace_id.hex() == TRACE
    assert any("webhook" in one.name for one in waits), [one.name for one in far.spans]
    for one in waits:
        assert one.trace_id == span.trace_id
        assert span.start_time_unix_nano <= one.start_time_unix_nano < one.end_time_unix_nano <= span.end_time_unix_nano


async def _long_enough(hook: Far) -> None:
    """Until the second call has waited for so long that it is told."""
    async with asyncio.timeout(10):
        while len(hook.seen) < 2:
            await asyncio.sleep(0)
        until = time.time_ns() + 2 * SHORTEST
        while time.time_ns() < until:
            await asyncio.sleep(0)


async def _with_webhook(folder: Path, far: Collector) -> None:
    async with far_side(folder) as hook, server(folder, tracing_config_file=far.config(folder)) as api:
        await configure(api, VALIDATING, "v", hook.hook("yes"))
        await api.make(MAPS, config_map("untraced"))
        hook.held["yes"] = asyncio.Event()
        body = config_map("traced")
        asking = asyncio.ensure_future(
            api.application.handler(asked(f"POST {MAPS}", body, token="admin-token", headers=SAMPLED))
        )
        await _long_enough(hook)
        hook.held["yes"].set()
        assert (await asking).status == 201
        untraced, traced = hook.heads
        assert b"traceparent" not in untraced
        assert f"traceparent: 00-{TRACE}-".encode() in traced
        assert SPAN.encode() not in traced  # it is called in our span, not in that of the caller


def test_a_collector_that_is_away_holds_up_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    silent = socket.socket()  # takes connections, and never says a word
    silent.bind(("127.0.0.1", 0))
    silent.listen()
    file = config(tmp_path, f"127.0.0.1:{silent.getsockname()[1]}", ALL)

    async def story() -> float:
        async with server(tmp_path, tracing_config_file=file) as api:
            for _ in range(600):  # more than a batch: it is being sent already
                answer = await get(api)
                assert isinstance(answer, Response)
            began = time.monotonic()
            tracing = api.application.tracing
            assert tracing is not None
            await tracing.stop()
            return time.monotonic() - began

    with silent:
        assert asyncio.run(story()) < 3.0


def test_what_the_file_may_say(tmp_path: Path) -> None:
    file = tmp_path / "tracing.yaml"
    file.write_text(HEADER)
    assert read_tracing(file) == TracingConfiguration("localhost:4317", 0)
    for endpoint in ("collector:4317", "[::1]:4317", "dns:///collector:4317", "unix:/run/collector.sock"):
        file.write_text(HEADER + f"endpoint: '{endpoint}'\nsamplingRatePerMillion: {ALL}\n")
        assert read_tracing(file) == TracingConfiguration(endpoint, ALL)
    assert read_settings([f"--tracing-config-file={file}"], {}).tracing_config_file == file
    assert build_tracing(None) is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is no TracingConfiguration"),
        ("a: [", "tracing.yaml: "),
        ("apiVersion: apiserver.config.k8s.io/v1\nkind: Tracing\n", "kind must be TracingConfiguration, not 'Tracing'"),
        ("apiVersion: v1\nkind: TracingConfiguration\n", "apiVersion must be apiserver.config.k8s.io/v1 or "),
        (HEADER + "samplingRate: 1\n", "there is no field 'samplingRate'"),
        (HEADER + "endpoint: http://collector:4317\n", "endpoint must be a host and a port"),
        (HEADER + "endpoint: collector\n", "not 'collector'"),
        (HEADER + "endpoint: 4317\n", "not 4317"),
        (HEADER + "endpoint: collector:70000\n", "not 'collector:70000'"),
        (HEADER + "samplingRatePerMillion: -1\n", "samplingRatePerMillion must be a whole number from 0 to 1000000"),
        (HEADER + "samplingRatePerMillion: 1000001\n", "not 1000001"),
        (HEADER + "samplingRatePerMillion: 0.5\n", "not 0.5"),
        (HEADER + "samplingRatePerMillion: true\n", "not True"),
    ],
)
def test_what_is_wrong_in_the_file_is_told(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "tracing.yaml"
    file.write_text(text)
    with pytest.raises(BadSetting) as refused:
        read_settings(["--tracing-config-file", str(file)], {})
    assert str(refused.value).startswith(f"--tracing-config-file: {file}: ")
    assert wrong in str(refused.value)


def test_without_the_packages_the_start_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = config(tmp_path, "localhost:4317")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace.export", None)
    with pytest.raises(BadSetting) as refused:
        read_settings([f"--tracing-config-file={file}"], {})
    assert "pip install 'pilothouse[tracing]'" in str(refused.value)
    assert read_settings([], {}) == Settings()
