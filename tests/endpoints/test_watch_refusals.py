"""What is wrong with a watch is told in order: what it asks for first, that it cannot stream so last."""

from __future__ import annotations

import pytest

from endpoints.served import YAML, Served

STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"


@pytest.mark.parametrize(
    ("query", "status"), [("fieldSelector=none=x", 400), ("resourceVersion=abc", 500), ("sendInitialEvents=1", 422)]
)
def test_a_bad_watch_in_yaml_is_a_bad_watch(served: Served, place: str, query: str, status: int) -> None:
    found = served.ask(f"GET {place}/configmaps?watch=1&{query}", headers={"Accept": f"{YAML}, */*"})
    assert (found.status, found.kind) == (status, YAML)


def test_a_good_watch_in_yaml_is_not_acceptable(served: Served, place: str) -> None:
    accept = f"application/yaml;as=Table;g=meta.k8s.io;v=v1, {YAML}"
    found = served.ask(f"GET {place}/configmaps?watch=1&includeObject=Many", headers={"Accept": accept})
    assert found.status == 400  # how rows shall look is read before
    found = served.ask(f"GET {place}/configmaps?watch=1", headers={"Accept": accept})
    assert found.status == 406
    assert STREAMS in found.body.decode().replace("\n ", "")


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_patch_of_no_type_and_no_bytes(served: Served, place: str, kind: str) -> None:
    message = "415: Unsupported Media Type"
    assert served.ask(f"PATCH {place}/configmaps/a", b"{}", kind).message == message
    found = served.ask(f"PATCH {place}/configmaps/a", b"", kind)
    assert (found.status, found.message) == (415, f"{message}\n\nAvailable representations: ")
