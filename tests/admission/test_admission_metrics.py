"""How long admission takes is told for each plug-in that was asked, and for both steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.measured import Measured, measured

PLUGIN = "apiserver_admission_controller_admission_duration_seconds"
STEP = "apiserver_admission_step_admission_duration_seconds"
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("admission")) as server:
        server.make("/api/v1/namespaces", {"metadata": {"name": "here"}})
        yield server


def test_each_plugin_that_is_for_the_kind_is_measured_once(server: Measured) -> None:
    labels = {"operation": "CREATE", "type": "admit", "rejected": "false"}
    with (
        server.grows(f"{PLUGIN}_count", name="Priority", **labels),
        server.grows(f"{PLUGIN}_count", name="DefaultTolerationSeconds", **labels),
        server.grows(f"{PLUGIN}_count", 0.0, name="DefaultStorageClass"),
        server.grows(f"{STEP}_count", **labels),
        server.grows(f"{STEP}_summary_count", **labels),
        server.grows(f"{PLUGIN}_count", name="PodSecurity", operation="CREATE", type="validate", rejected="false"),
    ):
        server.make("/api/v1/namespaces/here/pods", POD)


def test_a_refusal_is_told_of_the_plugin_and_of_the_step_and_of_nobody_after_them(server: Measured) -> None:
    labels = {"operation": "CREATE", "type": "admit"}
    pod = {**POD, "metadata": {"name": "b"}, "spec": {**POD["spec"], "priorityClassName": "none"}}  # type: ignore[dict-item]
    with (
        server.grows(f"{PLUGIN}_count", name="Priority", rejected="true", **labels),
        server.grows(f"{PLUGIN}_count", 0.0, name="Priority", rejected="false", **labels),
        server.grows(f"{PLUGIN}_count", 0.0, name="DefaultTolerationSeconds", **labels),
        server.grows(f"{STEP}_count", rejected="true", **labels),
        server.grows(f"{STEP}_count", 0, rejected="false", **labels),
        server.grows(f"{STEP}_count", 0, type="validate"),
    ):
        assert server.ask("POST /api/v1/namespaces/here/pods", pod).status == 403


def test_plugins_that_were_never_asked_are_not_shown(server: Measured) -> None:
    assert "CertificateSigning" not in server.scrape().labels(f"{PLUGIN}_count", "name")


def test_the_summary_tells_of_the_last_durations(server: Measured) -> None:
    server.make("/api/v1/namespaces/here/configmaps", {"metadata": {"name": "a"}})
    scrape = server.scrape()
    labels = {"operation": "CREATE", "type": "admit", "rejected": "false"}
    median = scrape.value(f"{STEP}_summary", quantile="0.5", **labels)
    assert 0 < median <= scrape.value(f"{STEP}_summary", quantile="0.99", **labels) < 5.0
    assert scrape.value(f"{STEP}_summary_sum", **labels) == scrape.value(f"{STEP}_sum", **labels)


def test_buckets_are_those_of_the_original(server: Measured) -> None:
    bounds = {"0.005", "0.025", "0.1", "0.5", "1", "2.5", "+Inf"}
    scrape = server.scrape()
    assert scrape.labels(f"{PLUGIN}_bucket", "le") == scrape.labels(f"{STEP}_bucket", "le") == bounds
