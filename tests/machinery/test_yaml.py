"""YAML as the original reads it (YAML 1.1, Go's rules) and writes it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.jsoncodec import loads as loads_json
from pilothouse.machinery.yamlcodec import YAMLError, dumps, duplicates_text, loads, loads_noting
from pilothouse.machinery.yamlcodec.write import natural

SHARED = Path(__file__).parents[3] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True), ("Off", False), ("~", None), ("", None), ("012", 10), ("0o14", 12), ("0x1F", 31), ("0b11", 3),
        ("1_000", 1000), ("08", 8), ("1e3", 1000), ("1.5", 1.5), (".5", 0.5), ("+1", 1), ("-1.", -1), ("=", "="),
        ("2026-01-02", "2026-01-02"), ("12:30:45", "12:30:45"), ("'1'", "1"), ('"yes"', "yes"), ("!!str 5", "5"),
        ("!!int '5'", 5), ("!!binary aGk=", "hi"), ("1.2.3", "1.2.3"),
        (".", "."), ("0.5m", "0.5m"),
    ],
)  # fmt: skip
def test_plain_scalars_mean_what_go_takes_them_for(text: str, value: Any) -> None:
    made = loads(f"a: {text}\n".encode())["a"]
    assert (type(made), made) == (type(value), value)


def test_only_the_first_document_is_read() -> None:
    assert loads(b"---\na: 1\n---\nb: [\n") == {"a": 1}
    assert loads(b"# nothing\n") is None


def test_members_are_sorted_and_keys_are_texts() -> None:
    made = loads(b"b: 1\na: {d: 1, c: 2}\n1: x\non: z\n1.5: w\n")
    assert list(made) == ["1", "1.5", "a", "b", "true"] and list(made["a"]) == ["c", "d"]
    with pytest.raises(YAMLError):
        loads(b"? [a]\n: b\n")


def test_aliases_are_copies_and_merges_are_merged() -> None:
    made = loads(b"a: &x {b: 1, e: 0}\nc: *x\nd: {<<: *x, e: 2}\n")
    assert made == {"a": {"b": 1, "e": 0}, "c": {"b": 1, "e": 0}, "d": {"b": 1, "e": 2}}
    assert made["a"] is not made["c"]


def test_repeated_keys_count_last_and_are_noted_with_their_line() -> None:
    value, repeated = loads_noting(b"data:\n  k: one\n  l: two\n  k: three\n")
    assert value == {"data": {"k": "three", "l": "two"}}
    assert repeated == ['line 4: key "k" already set in map']
    assert duplicates_text(repeated) == 'yaml: unmarshal errors:\n  line 4: key "k" already set in map'
    assert loads_noting(b'{"a": 1, "a": 2}') == ({"a": 2}, ['line 1: key "a" already set in map'])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: c\n",
            "yaml: line 4: found character that cannot start any token",
        ),
        (b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c\n", "yaml: line 3: did not find expected ',' or '}'"),
        (b"a: *x", "yaml: unknown anchor 'x' referenced"),
        (b"a: &x [*x]", "yaml: anchor 'x' value contains itself"),
        (b"a: .nan", "json: unsupported value: NaN"),
        (b"a: \x07", "yaml: control characters are not allowed"),
        (b"- " * 20_000 + b"1", "yaml: exceeded max depth of 10000"),
        (b"a: {<<: 1}", "yaml: map merge requires map or sequence of maps as the value"),
    ],
)
def test_refusals_are_worded_like_the_original_s(document: bytes, message: str) -> None:
    with pytest.raises(YAMLError) as refused:
        loads(document)
    assert str(refused.value) == message


def test_aliases_cannot_be_a_bomb() -> None:
    lines = [b"a: &a [x,x,x,x,x,x,x,x,x]"]
    for letter in range(98, 107):
        inner = b",".join([b"*%c" % (letter - 1)] * 9)
        lines.append(b"%c: &%c [%s]" % (letter, letter, inner))
    with pytest.raises(YAMLError, match="excessive aliasing"):
        loads(b"\n".join(lines))


def test_keys_are_written_in_natural_order() -> None:
    keys = ["a10", "b", "a9", "a1", "B", "a-1", "a", "10", "9", "a2b", "a01"]
    assert natural(keys) == ["9", "10", "B", "a", "a-1", "a1", "a01", "a2b", "a9", "a10", "b"]


def test_texts_are_quoted_only_where_they_must() -> None:
    shown = dumps(
        {
            "a": "yes",
            "b": "x",
            "c": "1",
            "d": "a\nb",
            "e": "",
            "f": "a: b",
            "g": [],
            "h": {},
            "i": None,
            "j": "2026-01-02",
        }
    )
    assert shown == (
        b'a: "yes"\nb: x\nc: "1"\nd: |-\n  a\n  b\ne: ""\nf: \'a: b\'\ng: []\nh: {}\ni: null\nj: "2026-01-02"\n'
    )
    with pytest.raises(YAMLError, match="control characters are not allowed"):
        dumps({"a": "\x7f"})


@pytest.mark.parametrize("between", ["\n", "\r\n", " \n ", "\n\t"])
def test_json_whose_colon_is_in_another_line_is_no_yaml(between: str) -> None:
    with pytest.raises(YAMLError):
        loads(f'{{"a"{between}: 1}}'.encode())


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
LIKE_OTHERS = st.from_regex(r"[-+0-9.eExob_:yYnNoOfF~ #&*!|>'\"%@`{}\[\],]{1,6}", fullmatch=True)
NAMES = (TEXTS | LIKE_OTHERS).filter(lambda name: name != "<<")  # that one the original cannot read again itself
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS | LIKE_OTHERS
    | st.floats(-1e15, 1e15).map(lambda number: number if not number.is_integer() else int(number))
    | st.lists(TEXTS, max_size=3).map("\n".join),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0, abs_tol=0)
    return type(one) is type(other) and one == other


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert same(loads(dumps(value)), value)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_json_is_read_as_yaml(value: Any) -> None:
    assert same(loads(json.dumps({"a": value}, ensure_ascii=False).encode()), {"a": value})


@pytest.mark.shared
@needs_shared
def test_recorded_answers_are_written_to_the_byte_and_read_again() -> None:
    compared = 0
    for answer in json.loads((SHARED / "facts/wire/text.json").read_text())["answers"]:
        if answer.get("status_yaml") != 200 or "json" not in answer or answer["why"] == "a list of custom resources":
            continue
        value = loads_json(answer["json"].encode())
        assert dumps(value).decode() == answer["yaml"], answer["why"]
        assert loads(answer["yaml"].encode()) == value
        compared += 1
    assert compared > 8


def test_plain_scalars_that_stand_in_a_document_often_mean_the_same_each_time() -> None:
    made = loads(b"[1, '1', \"1\", !!str 1, 1, 1.5, 1.5, on, 'on', on, ~, '~', &a 1, *a]")
    assert made == [1, "1", "1", "1", 1, 1.5, 1.5, True, "on", True, None, "~", 1, 1]
    assert [type(one) for one in made[:5]] == [int, str, str, str, int]


def test_repeated_members_of_json_in_one_line_are_noted_as_those_of_yaml() -> None:
    """One is read by another reader than the other: a comment makes the difference."""
    document = (
        b'{"b": {"x": 1, "x": [{"y": 1, "y": 2}]}, "a": [], "b": {"c": {"k": 1, "k": 2}}, "a": 1, "z": [[{"k": 1}]]}'
    )
    value, notes = loads_noting(document)
    assert (value, notes) == loads_noting(document + b" # JSON has none")
    assert [note.split(" already")[0].split()[-1] for note in notes] == ['"y"', '"x"', '"k"', '"b"', '"a"']
    assert value == {"a": 1, "b": {"c": {"k": 2}}, "z": [[{"k": 1}]]}


def test_a_hundred_thousand_repeated_keys_are_noted_a_thousand_times() -> None:
    value, repeated = loads_noting(b"a: 1\n" * 5000)
    assert (value, len(repeated)) == ({"a": 1}, 1000)


_FILL = b"# as long as what is looked through before it is read\n" * 800


@pytest.mark.parametrize("before", [b"", _FILL])
@pytest.mark.parametrize(
    ("document", "line", "message"),
    [
        (b"<<: a\nb: [c]]\n", 1, "did not find expected key"),
        (b"~: a\nb: c: d\n", 2, "mapping values are not allowed in this context"),
        (b"a: &a [*a]\nb: 'c\n", 3, "found unexpected end of stream"),
        (b"a: .inf\nb: \x01\n", 0, "control characters are not allowed"),
        (b"a: *b\nc: [\n", 0, "unknown anchor 'b' referenced"),
    ],
)
def test_what_is_wrong_with_the_text_is_told_before_what_is_wrong_with_its_values(
    document: bytes, line: int, message: str, before: bytes
) -> None:
    with pytest.raises(YAMLError) as raised:
        loads(before + document)
    where = f"line {line + len(before.splitlines())}: " if line else ""
    assert str(raised.value) == f"yaml: {where}{message}"


@pytest.mark.parametrize("behind", [b"", _FILL])
def test_what_stands_behind_the_first_document_is_not_read(behind: bytes) -> None:
    assert loads(b"[a]\nb: c\n" + behind) == ["a"]
    assert loads(b"a: b\n---\nc: [\n" + behind) == {"a": "b"}
    assert loads(b"a: b\n...\nc: [\n" + behind) == {"a": "b"}


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_long_documents_are_read_as_short_ones(value: Any) -> None:
    written = dumps({"a": value})
    assert same(loads(written + _FILL), loads(written))


@pytest.mark.parametrize(
    ("item", "tells"),
    [
        (b"- a\n", ""),
        (b"- [b, 1.5]\n", ""),
        (b"- a\n- ]\n", "did not find expected node content"),
        (b"- ? [a]\n  : b\n", "invalid map key"),
        (b"- .inf\n", "unsupported value"),
    ],
)
def test_a_long_list_that_stands_alone_is_a_list_or_is_refused_as_a_short_one(item: bytes, tells: str) -> None:
    for many in (1, 30_000):
        if tells:
            with pytest.raises(YAMLError, match=tells):
                loads(item * many)
        else:
            assert isinstance(loads(item * many), list)


def test_a_tab_behind_a_document_begins_no_token() -> None:
    for document in (b'{"a":1}\n\t', b"[1]\n\t\n"):
        with pytest.raises(YAMLError, match="cannot start any token"):
            loads(document)


def test_keys_that_are_maps_or_lists_are_shown_as_go_shows_them() -> None:
    for text, shown in (
        (
            "? {a: b, c: [1, ~]}\n: d",
            'map[interface {}]interface {}{"a":"b", "c":[]interface {}{1, interface {}(nil)}}',
        ),
        ("? [a]\n: d", '[]interface {}{"a"}'),
    ):
        with pytest.raises(YAMLError) as found:
            loads(text.encode())
        assert str(found.value) == f"yaml: invalid map key: {shown}"
