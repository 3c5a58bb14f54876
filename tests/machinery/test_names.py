"""Names of all sorts: what is fine, and what is said of what is not."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery import names

ENDS = "and must start and end with an alphanumeric character"
LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
LABEL = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {ENDS} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL_FORM}')"
)
SUBDOMAIN = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {ENDS} "
    rf"(e.g. 'example.com', regex used for validation is '{LABEL_FORM}(\.{LABEL_FORM})*')"
)
NAME_PART = (
    f"name part must consist of alphanumeric characters, '-', '_' or '.', {ENDS} (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {ENDS} "
    "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def test_labels() -> None:
    assert names.label("my-name") == [] and names.label("1" * 63) == []
    assert names.label("My") == [LABEL] and names.label("") == [LABEL] and names.label("a\n") == [LABEL]
    assert names.label("a.b") == ["must not contain dots"]
    assert names.label("a" * 64) == ["must be no more than 63 characters"]
    assert names.label("A" * 64) == ["must be no more than 63 characters", LABEL]
    assert names.label_1035("1a")[0].startswith("a DNS-1035 label must consist of")
    assert names.label_1035("a1") == []


def test_subdomains() -> None:
    assert names.subdomain("a.b-c.d") == [] and names.subdomain("a" * 253) == []
    assert names.subdomain("Bad_Name") == [SUBDOMAIN] and names.subdomain("a..b") == [SUBDOMAIN]
    assert names.subdomain("a" * 254) == ["must be no more than 253 characters"]
    assert names.mixed_case_subdomain("Example.com") == [] and "an RFC 1123" in names.mixed_case_subdomain("a_b")[0]
    assert names.underscored_subdomain("_a.b_c") == [] and "'_', '-' or '.'" in names.underscored_subdomain("A")[0]
    assert names.wildcard_subdomain("*.example.com") == [] and names.wildcard_subdomain("example.com")


def test_label_keys() -> None:
    assert names.qualified_name("example.com/My_name.1") == [] and names.qualified_name("a") == []
    assert names.qualified_name("-bad") == [NAME_PART]
    assert names.qualified_name("") == ["name part must be non-empty", NAME_PART]
    assert names.qualified_name("/a") == ["prefix part must be non-empty"]
    assert names.qualified_name("Example.com/a") == [f"prefix part {SUBDOMAIN}"]
    assert names.qualified_name("a" * 64) == ["name part must be no more than 63 bytes"]
    assert names.qualified_name("a/b/c")[0].startswith("a valid label key must consist of")
    assert names.qualified_name("a/b/c")[0].endswith(
        "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    )
    assert names.annotation_key("Upper.Prefix/Name") == []


def test_label_values() -> None:
    assert names.label_value("") == [] and names.label_value("My_value.1") == []
    assert names.label_value("no spaces") == [VALUE]
    assert names.label_value("v" * 64) == ["must be no more than 63 bytes"]


def test_path_segments() -> None:
    assert names.path_segment("system:node") == []
    assert names.path_segment(".") == ["may not be '.'"] and names.path_segment("..") == ["may not be '..'"]
    assert names.path_segment("a/b%") == ["may not contain '/'", "may not contain '%'"]


def test_prefixes_for_generated_names_may_end_in_a_dash() -> None:
    check = names.prefix_of(names.label)
    assert check("web-") == [] and check("web") == [] and check("-") == [LABEL] and check("Web-") == [LABEL]


def test_ports() -> None:
    assert names.port_name("http-2") == []
    assert names.port_name("UPPER") == [
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        "must contain at least one letter (a-z)",
    ]
    assert names.port_name("a--b-") == ["must not contain consecutive hyphens", "must not begin or end with a hyphen"]
    assert names.port_name("a" * 16) == ["must be no more than 15 characters"]
    assert names.port_number(0) == ["must be between 1 and 65535, inclusive"] and names.port_number(65535) == []
    assert names.within(5, 1, 4) == ["must be between 1 and 4, inclusive"]


def test_smaller_vocabularies() -> None:
    assert names.environment_name("a b.c") == [] and names.environment_name("A=B") and names.environment_name("é")
    assert names.c_identifier("a_1") == [] and "C identifier" in names.c_identifier("1a")[0]
    assert names.config_key("a.b_C-1") == [] and names.config_key("..") == ["must not be '..'"]
    assert names.config_key("..a") == ["must not start with '..'"] and "config key" in names.config_key("a/b")[0]
    assert names.header_name("X-A") == [] and "valid HTTP header" in names.header_name("a b")[0]
    assert names.percent("5%") == [] and "valid percent string" in names.percent("5")[0]
    assert names.url_path("/a%20b") == [] and names.url_path("a b")


def test_addresses_and_networks() -> None:
    assert (
        names.address("10.9.8.7") == [] and names.address("2001:db8::ffff") == [] and names.address("010.1.1.1") == []
    )
    for wrong in ("", "1.2.3", "1.2.3.4.5", "x", "fe80::1%eth0", "1.2.3.4/8"):
        assert names.address(wrong) == ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    assert names.network("10.9.8.7/24") == [] and names.network("2001:db8::/64") == []
    for wrong in ("", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/255.0.0.0", "10.0.0.0/-1"):
        assert names.network(wrong) == ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]


def test_generated_names_are_cut_and_have_five_letters_more() -> None:
    choose = random.Random(1).choice
    made = names.generate_name("a" * 70, choose)
    assert len(made) == 63 and made[:58] == "a" * 58 and set(made[58:]) <= set(names.SUFFIX_ALPHABET)
    assert names.generate_name("web-", choose) != names.generate_name("web-", choose)


@pytest.mark.parametrize(
    "check", [names.label, names.subdomain, names.qualified_name, names.label_value, names.port_name]
)
@settings(deadline=None)
@given(text=st.text(max_size=6))
def test_whatever_is_fine_is_ascii_without_white_space(check: object, text: str) -> None:
    assert callable(check)
    if check(text) == []:
        assert text.isascii() and not any(sign.isspace() for sign in text)


@given(
    st.lists(st.text("ab.-_A9\n/é", max_size=4) | st.sampled_from(("", ".", "..", "a" * 253, "a" * 254)), max_size=4)
)
def test_keys_that_are_judged_together_are_judged_as_each_would_be(texts: list[str]) -> None:
    good = all(not names.config_key(text) for text in texts)
    assert names.are_config_keys(texts) <= good
    if good and not any(text.startswith(".") for text in texts):
        assert names.are_config_keys(texts)


@pytest.mark.parametrize(
    ("all_of", "check"),
    [
        (names.are_labels, names.label),
        (names.are_labels_1035, names.label_1035),
        (names.are_subdomains, names.subdomain),
        (names.are_qualified_names, names.qualified_name),
        (names.are_label_values, names.label_value),
        (names.are_environment_names, names.environment_name),
    ],
)
@settings(deadline=None)
@given(
    st.lists(
        st.text("ab.-_A9\n/é ", max_size=5)
        | st.sampled_from(("", "a.b/c", "a" * 63, "a" * 64, "a" * 253, "a" * 254, "a" * 253 + "/b", "a" * 254 + "/b")),
        max_size=4,
    )
)
def test_names_that_are_judged_together_are_judged_as_each_would_be(
    all_of: Callable[[Collection[str]], bool], check: Callable[[str], list[str]], texts: list[str]
) -> None:
    good = all(not check(text) for text in texts)
    assert all_of(texts) <= good
    if good and all(sign not in text for text in texts for sign in ("..", "--", "-.", ".-")):
        assert all_of(texts)
