"""Label and field selectors: what they match, how they are written, and what a client is told about a bad one."""

from __future__ import annotations

import json
import urllib.parse
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.errors import APIError
from pilothouse.machinery.requirements import escape_value
from pilothouse.machinery.selectors import (
    NOTHING,
    SelectorError,
    label_selector_of,
    parse_field_selector,
    parse_label_selector,
    read_field_selector,
    read_label_selector,
    unescape_value,
)

SHARED = Path(__file__).parents[3] / "shared" / "conformance"


def matches(text: str, **labels: str) -> bool:
    return parse_label_selector(text).matches(labels)


def test_every_operator_matches_as_documented() -> None:
    assert matches("tier=back", tier="back") and not matches("tier=back", tier="front") and not matches("tier=back")
    assert matches("tier==back", tier="back")
    assert matches("tier!=back", tier="front") and matches("tier!=back") and not matches("tier!=back", tier="back")
    assert matches("tier in (back, front)", tier="front") and not matches("tier in (back,front)")
    assert matches("tier notin (back)", tier="front") and matches("tier notin (back)")
    assert matches("tier", tier="") and not matches("tier")
    assert matches("!tier") and not matches("!tier", tier="")
    assert matches("size>9", size="10") and not matches("size>9", size="9") and not matches("size>9", size="big")
    assert matches("size<9", size="-1") and not matches("size<9")
    assert matches("tier=") is False and matches("tier=", tier="")
    assert matches("a=b,!c,d in (e)", a="b", d="e") and not matches("a=b,!c,d in (e)", a="b", c="", d="e")


def test_an_empty_selector_matches_everything() -> None:
    assert parse_label_selector("").empty
    assert matches("", any="thing")
    assert parse_field_selector("").empty


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("b=2,a=1", "a=1,b=2"),
        ("x in (c, a ,b)", "x in (a,b,c)"),
        ("x notin ()", "x notin ()"),
        ("x,!y", "x,!y"),
        ("x == 1", "x==1"),
        ("x != 1", "x!=1"),
        ("n>1,n<5", "n>1,n<5"),
        ("in in (in)", "in in (in)"),
        ("x in (,a)", "x in (,a)"),
    ],
)
def test_selectors_are_written_canonically(text: str, canonical: str) -> None:
    assert str(parse_label_selector(text)) == canonical


def test_the_struct_form_means_the_same() -> None:
    struct = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["a", "b"]},
            {"key": "env", "operator": "NotIn", "values": ["dev"]},
            {"key": "track", "operator": "Exists"},
            {"key": "canary", "operator": "DoesNotExist"},
        ],
    }
    selector = label_selector_of(struct)
    assert selector.matches({"app": "web", "tier": "a", "track": ""})
    assert not selector.matches({"app": "web", "tier": "c", "track": ""})
    assert not selector.matches({"app": "web", "tier": "a", "track": "", "env": "dev"})
    assert not selector.matches({"app": "web", "tier": "a", "track": "", "canary": ""})
    assert label_selector_of({}).matches({"a": "b"})
    assert label_selector_of(None) is NOTHING and not NOTHING.matches({}) and not NOTHING.empty
    assert str(read_label_selector("b=2,a=1")) == "a=1,b=2"


def test_the_struct_form_refuses_what_has_no_meaning() -> None:
    for expression in (
        {"key": "a", "operator": "Near", "values": ["x"]},
        {"key": "a", "operator": "In"},
        {"key": "a", "operator": "Exists", "values": ["x"]},
        {"key": "a b", "operator": "Exists"},
    ):
        with pytest.raises(SelectorError):
            label_selector_of({"matchExpressions": [expression]})


def test_field_selectors_compare_texts() -> None:
    selector = parse_field_selector("metadata.name=a,status.phase!=Running,,spec.nodeName==")
    assert selector.labels() == ["metadata.name", "status.phase", "spec.nodeName"]
    assert selector.exact("metadata.name") == "a" and selector.exact("status.phase") is None
    assert selector.exact("spec.nodeName") == ""
    assert selector.matches({"metadata.name": "a", "status.phase": "Pending"})
    assert not selector.matches({"metadata.name": "a", "status.phase": "Running"})
    assert not selector.matches({"metadata.name": "a", "spec.nodeName": "n"})


def test_field_values_are_escaped() -> None:
    selector = parse_field_selector(r"data=a\,b\=c\\d")
    assert selector.exact("data") == r"a,b=c\d"
    assert str(selector) == r"data=a\,b\=c\\d"
    with pytest.raises(SelectorError, match="invalid escape sequence"):
        read_field_selector("a=b\\")


@settings(deadline=None)
@given(st.text())
def test_any_field_value_survives_escaping(text: str) -> None:
    assert unescape_value(escape_value(text)) == text
    assert read_field_selector(f"a={escape_value(text)}").exact("a") == text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("()", {""}), ("(b)", {"b"}), ("(b,)", {"b", ""}), ("(,b)", {"", "b"}), ("(,)", {""}),
        ("(b,,c)", {"b", "", "c"}),
        ("(b,,,c)", {"b", "", "c"}), ("(in,notin)", {"in", "notin"}), ("( b , c )", {"b", "c"}),
    ],
)  # fmt: skip
def test_sets_of_values(text: str, values: set[str]) -> None:
    selector = read_label_selector(f"a in {text}")
    assert {value for value in ("", "b", "c", "d", "in", "notin") if selector.matches({"a": value})} == values


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(b", "found '', expected: ',' or ')'"),
        ("(b c)", "found 'c', expected: ',' or ')'"),
        ("(b,", "found '', expected: ',', or identifier"),
        ("(b,=)", "found '=', expected: ',', or identifier"),
        ("(b,,)", "found ')', expected: ',', or identifier"),
        ("(,,)", "found ')', expected: ',', or identifier"),
        ("(", "found '', expected: ',', ')' or identifier"),
        ("(=)", "found '=', expected: ',', ')' or identifier"),
    ],
)
def test_broken_sets_of_values(text: str, why: str) -> None:
    with pytest.raises(SelectorError) as refused:
        read_label_selector(f"a in {text}")
    assert str(refused.value) == f"unable to parse requirement: {why}"


def test_comparisons_are_of_64_bits() -> None:
    assert read_label_selector("a>9223372036854775807").matches({"a": "1"}) is False
    with pytest.raises(SelectorError, match="the value must be an integer"):
        read_label_selector("a<9223372036854775808")


WORDS = st.from_regex(r"[a-z]([-a-z0-9]{0,5}[a-z0-9])?", fullmatch=True)


@settings(deadline=None)
@given(st.dictionaries(WORDS, WORDS, max_size=5))
def test_a_map_of_labels_matches_itself_and_survives_its_text(labels: dict[str, str]) -> None:
    selector = label_selector_of({"matchLabels": labels})
    assert selector.matches(labels)
    assert read_label_selector(str(selector)) == selector


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab=!,() <>\"~-/'inot", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        selector = read_label_selector(text)
    except SelectorError:
        return
    assert str(read_label_selector(str(selector))) == str(selector)


def recorded() -> list[tuple[str, str, str]]:
    found = []
    for suite in ("lists", "watches"):
        if not SHARED.is_dir():
            return []
        cases = {
            case["case"]: case["steps"]
            for case in yaml.load((SHARED / "cases" / f"{suite}.yaml").read_text(), Loader=yaml.CSafeLoader)
        }
        for name, answers in json.loads((SHARED / "expected" / f"{suite}.json").read_text()).items():
            for step, answer in zip(cases.get(name, ()), answers, strict=False):
                _, _, query = step["do"].partition("?")
                for kind in ("labelSelector", "fieldSelector"):
                    given = urllib.parse.parse_qs(query).get(kind)
                    body = answer.get("body")
                    if given and answer.get("status") == 400 and isinstance(body, dict):
                        found.append((kind, given[0], body["message"]))
    return [case for case in found if "not a known" not in case[2] and "not supported" not in case[2]]


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")
def test_refusals_are_worded_as_recorded() -> None:
    cases = recorded()
    assert len(cases) > 20
    for kind, text, message in cases:
        with pytest.raises(APIError) as refused:
            (parse_label_selector if kind == "labelSelector" else parse_field_selector)(text)
        assert (text, refused.value.message, refused.value.code) == (text, message, 400)
