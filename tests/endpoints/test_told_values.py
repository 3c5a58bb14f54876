"""What refusals show of the values that clients sent: quoted as the original quotes, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served
from pilothouse.endpoints.options import write_options
from pilothouse.endpoints.requestinfo import parse_query
from pilothouse.machinery.errors import APIError


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


@pytest.mark.parametrize(
    ("name", "shown"), [("a<b>&", '"a<b>&"'), ("a\n", '"a\\n"'), ('a"', '"a\\""'), ("a\x00", '"a\\x00"')]
)
def test_names_and_values_are_quoted(served: Served, place: str, name: str, shown: str) -> None:
    made = served.ask(f"POST {place}/configmaps", config_map(name))
    assert made.message.startswith(f"ConfigMap {shown} is invalid: metadata.name: Invalid value: {shown}: a lowercase")
    labelled = served.ask(f"POST {place}/configmaps", config_map("a", labels={"k": name}))
    assert f"metadata.labels: Invalid value: {shown}: a valid label" in labelled.message


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        ("\u00b2", 500, 'strconv.ParseUint: parsing "\u00b2": invalid syntax'),
        ("18446744073709551616", 500, 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
        ("1", 409, "the object has been modified"),
        ("00", 200, ""),
    ],
)
def test_a_resource_version_is_a_number(served: Served, place: str, sent: str, code: int, message: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))
    found = served.ask(f"PUT {place}/configmaps/a", config_map("a", resourceVersion=sent))
    assert found.status == code
    assert not message or message in found.message


def test_a_resource_version_with_zeros_before_it_is_the_same(served: Served, place: str) -> None:
    made = served.make(f"{place}/configmaps", config_map("a"))
    version = made["metadata"]["resourceVersion"]
    assert served.ask(f"PUT {place}/configmaps/a", config_map("a", resourceVersion=f"00{version}")).status == 200
    assert served.ask(f"POST {place}/configmaps", config_map("b", resourceVersion="18446744073709551616")).status == 201


def test_a_field_manager_is_measured_in_bytes() -> None:
    assert write_options(parse_query("fieldManager=" + "%C3%A9" * 64), "CreateOptions")[1] == "\u00e9" * 64
    with pytest.raises(APIError, match="may not be more than 128 bytes"):
        write_options(parse_query("fieldManager=" + "%C3%A9" * 65), "CreateOptions")
    with pytest.raises(APIError, match=r'Invalid value: "\u00e9\\x7f": invalid character U\+007F \(at position 2\)'):
        write_options(parse_query("fieldManager=%C3%A9%7F"), "CreateOptions")


def test_labels_and_options_that_nobody_knows_are_quoted_too(served: Served, place: str) -> None:
    found = served.ask(f"GET {place}/configmaps?fieldSelector=a%22b%3Dc")
    assert found.message == '"a\\"b" is not a known field selector: only "metadata.name", "metadata.namespace"'
    accept = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    found = served.ask(f"GET {place}/configmaps?includeObject=%22", headers=accept)
    assert 'includeObject: Invalid value: "\\"": must be' in found.message


def test_a_version_in_a_new_object_is_the_last_thing_that_is_wrong_with_it(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))
    assert served.ask(f"POST {place}/configmaps", config_map("a", resourceVersion="7")).status == 500
    assert served.ask(f"POST {place}/configmaps", config_map("A", resourceVersion="7")).status == 422
    assert served.ask(f"POST {place}/configmaps?dryRun=All", config_map("b", resourceVersion="7")).status == 201
