"""The pages for operators: metrics in their three forms, profiles that viewers read, stacks, flags, status."""

from __future__ import annotations

import gzip
import json
import logging
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse_text

from pilothouse.filters import metrics
from pilothouse.kit import exposition
from pilothouse.kit.metrics import Counter, Gauge, Histogram, Registry, Summary, Summed, Unheard, folded, quantiles
from pilothouse.serving.debug import set_verbosity
from pilothouse.serving.metrics_page import form_of
from pilothouse.serving.pprof import Profile
from support.protobuf import fields

from .support import front, run


def filled() -> Registry:
    registry = Registry()
    counter = registry.add(Counter("a_total", 'of "things"\nand others', ("one", "two")))
    counter.bind('quo"te', "back\\slash\nline").add(3)
    counter.bind("x", "y").add(0.5)
    registry.add(Gauge("b", "now", (), lambda: [((), 2.5)]))
    histogram = registry.add(Histogram("c_seconds", "how long", ("verb",), (0.1, 1.0)))
    for value in (0.05, 0.5, 5.0):
        histogram.bind("get").observe(value)
    seen = quantiles([4.0, 1.0, 3.0, 2.0], (0.5, 0.99))
    registry.add(Summary("d_seconds", "of late", ("verb",), lambda: [Summed(("get",), 4, 10.0, seen)]))
    return registry


def test_the_usual_parser_reads_the_text() -> None:
    families = list(parse_text(exposition.text(filled()).decode()))
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}
    assert found["a_total", (("one", 'quo"te'), ("two", "back\\slash\nline"))] == 3.0
    assert found["c_seconds_bucket", (("le", "+Inf"), ("verb", "get"))] == 3.0
    assert found["c_seconds_bucket", (("le", "0.1"), ("verb", "get"))] == 1.0
    assert found["c_seconds_sum", (("verb", "get"),)] == 5.55
    assert found["d_seconds", (("quantile", "0.5"), ("verb", "get"))] == 2.0
    assert found["d_seconds", (("quantile", "0.99"), ("verb", "get"))] == 4.0
    assert found["d_seconds_count", (("verb", "get"),)] == 4.0


def test_the_binary_form_has_every_family() -> None:
    data = exposition.protobuf(filled())
    names = []
    while data:
        size = data[0] if data[0] < 0x80 else (data[0] & 0x7F) | data[1] << 7
        start = 1 if data[0] < 0x80 else 2
        family = fields(data[start : start + size])
        names.append((family[0][1], [value for number, value in family if number == 3]))
        data = data[start + size :]
    assert names == [(b"a_total", [0]), (b"b", [1]), (b"c_seconds", [4]), (b"d_seconds", [2])]


def test_a_quantile_of_nothing_is_no_number() -> None:
    registry = Registry()
    registry.add(Summary("d_seconds", "of late", (), lambda: [Summed((), 0, 0.0, quantiles([], (0.5,)))]))
    assert exposition.text(registry).splitlines()[2:] == [
        b'd_seconds{quantile="0.5"} NaN', b"d_seconds_sum 0", b"d_seconds_count 0",
    ]  # fmt: skip


def test_fine_buckets_are_folded_to_coarse_ones() -> None:
    assert folded([1, 2, 3, 4], (0.1, 0.5, 1.0), (0.5,)) == [3, 7]
    assert folded([1, 2, 3, 4], (0.1, 0.5, 1.0), (0.1, 1.0)) == [1, 5, 4]


def test_series_that_may_come_are_shown_once_they_did() -> None:
    histogram = Histogram("c_seconds", "how long", ("verb",), (1.0,), sparse=True)
    get, _ = histogram.bind("get"), histogram.bind("list")
    assert histogram.samples() == []
    get.observe(0.5)
    assert histogram.samples() == [(("get",), [1, 0], 0.5)]
    histogram.reset()
    assert histogram.samples() == []


def test_what_nobody_asks_about_is_not_kept() -> None:
    registry = Unheard()
    shown = registry.add(Histogram("c_seconds", "how long", ("verb",), (1.0,)))
    beside = registry.beside(Histogram("", "", (), (1.0,)))
    for series in (shown.bind("get"), beside.bind()):
        series.observe(0.5)
        series.observe_all([1.5, 2.5])
        assert (series.counts, series.total) == ([0, 0], 0.0)
    assert registry.families() == []


def test_a_registry_counts_its_metrics() -> None:
    registry = Registry()
    registry.show_itself()
    registry.add(Gauge("b", "[STABLE] now", ()))
    (family, _) = registry.families()
    assert isinstance(family, Counter)
    assert family.samples() == [(("ALPHA", ""), 0.0), (("BETA", ""), 1.0), (("STABLE", ""), 1.0)]


def test_a_scrape_of_many_series_is_quick() -> None:
    registry = Registry()
    histogram = registry.add(Histogram("c_seconds", "how long", ("verb",), tuple(float(n) for n in range(1, 21))))
    for number in range(400):
        histogram.bind(str(number)).observe(1.0)
    began = time.thread_time()
    exposition.text(registry)
    assert time.thread_time() - began < 0.2


DELIMITED = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
PROMETHEUS = (  # what Prometheus 3 asks for
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;"
    "q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "form", "escaping"),
    [
        ("", "text", "underscores"),
        ("text/html", "text", "underscores"),
        ("*/*", "text", "underscores"),
        ("application/openmetrics-text;version=1.0.0", "text", "underscores"),
        ("application/vnd.google.protobuf;encoding=delimited", "text", "underscores"),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
            "text",
            "underscores",
        ),
        (DELIMITED, "protobuf", "underscores"),
        (f"text/plain;version=0.0.4,{DELIMITED}", "text", "underscores"),
        (f"text/plain;version=0.0.4;q=0.5,{DELIMITED}; escaping=dots;q=0.7", "protobuf", "dots"),
        (PROMETHEUS, "text", "allow-utf-8"),
        ("text/plain;escaping=odd", "text", "underscores"),
    ],
)
def test_the_form_is_the_best_liked_that_is_known(accept: str, form: str, escaping: str) -> None:
    assert form_of(accept) == (form, escaping)


def test_a_profile_names_functions_lines_and_values() -> None:
    stack = (("inner", "a.py", 10, 12), ("outer", "a.py", 1, 5))
    data = gzip.decompress(Profile((("samples", "count"),), {stack: (7,)}, 1, 2, 3).encode())
    found = fields(data)
    strings = [value for number, value in found if number == 6]
    assert strings[0] == b"" and {b"samples", b"count", b"inner", b"outer", b"a.py"} == set(strings[1:])
    sample = dict(fields(next(value for number, value in found if number == 2)))  # type: ignore[arg-type]
    assert sample == {1: b"\x01\x02", 2: b"\x07"}
    locations = [dict(fields(value)) for number, value in found if number == 4]  # type: ignore[arg-type]
    assert [dict(fields(one[4]))[2] for one in locations] == [12, 5]  # type: ignore[arg-type]


def test_profiles_of_a_running_server(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            status, headers, _ = await here.call("GET", "/debug/pprof")
            assert (status, headers["location"]) == (302, "/debug/pprof/")
            for name, query in (("profile", "seconds=0.05"), ("heap", "seconds=0.01"), ("goroutine", "")):
                status, headers, body = await here.call("GET", f"/debug/pprof/{name}?{query}")
                assert (status, headers["content-type"]) == (200, "application/octet-stream"), body
                assert fields(gzip.decompress(body))
            text = (await here.call("GET", "/debug/pprof/goroutine?debug=2"))[2].decode()
            assert "merged documents" in text and "thread MainThread" in text
            assert (await here.call("GET", "/debug/pprof/nope"))[::2] == (404, b"Unknown profile\n")
            assert (await here.call("GET", "/debug/pprof/profile?seconds=1e9"))[0] == 400
        async with front(tmp_path, profiling=False) as here:
            assert (await here.call("GET", "/debug/pprof/"))[0] == 404
            assert (await here.call("GET", "/statusz"))[0] == 200

    run(scenario)


def test_the_log_level_follows_the_flag() -> None:
    logger = logging.getLogger("a test of verbosity")
    logger.setLevel(logging.WARNING)
    change = set_verbosity(logger)
    change(2)
    assert logger.level == logging.INFO
    change(6)
    assert logger.level == logging.DEBUG
    change(0)
    assert logger.level == logging.WARNING


def test_metrics_of_a_running_server(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            await here.call("GET", "/readyz")
            _, headers, body = await here.call("GET", "/metrics")
            assert float(headers["process-start-time-unix"]) > 1e9
            names = {family.name for family in parse_text(body.decode())}
            assert {"apiserver_request", "process_resident_memory_bytes", "kubernetes_healthcheck"} <= names
            slis = (await here.call("GET", "/metrics/slis"))[2].decode()
            assert 'kubernetes_healthcheck{name="etcd",type="readyz"} 1' in slis and "apiserver_request" not in slis
            assert (await here.call("DELETE", "/metrics"))[2] == b"metrics reset\n"
            assert (await here.call("GET", "/metrics/nope"))[0] == 404

    run(scenario)


def test_status_and_flags_are_text_or_objects(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path, livez_grace_period=20.0) as here:
            wanted = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"
            flags = json.loads((await here.call("GET", "/flagz", Accept=wanted))[2])["flags"]
            assert flags["allow-privileged"] == "true" and flags["livez-grace-period"] == "20s"
            assert (await here.call("GET", "/flagz", Accept="text/html"))[0] == 406
            old = wanted.replace("v1beta1", "v1alpha1").replace("Flagz", "Statusz")
            _, headers, body = await here.call("GET", "/statusz", Accept=old)
            assert "deprecated" in headers["warning"] and json.loads(body)["apiVersion"] == "config.k8s.io/v1alpha1"
            assert b"uptimeSeconds" in (await here.call("GET", "/statusz"))[2]

    run(scenario)


def test_slow_requests_are_told_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "SLOW", 0.0)

    async def scenario() -> None:
        async with front(tmp_path) as here:
            await here.call("GET", "/api/v1/namespaces/default", user="alice")

    with caplog.at_level(logging.WARNING):
        run(scenario)
    assert any("GET /api/v1/namespaces/default by alice took" in line for line in caplog.messages)
