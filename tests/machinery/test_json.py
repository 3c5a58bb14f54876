"""JSON as Go reads and writes it: refusals in its words, its escapes, its numbers, its depth."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery import jsonexact
from pilothouse.machinery.jsoncodec import (
    GoFloat,
    JSONError,
    Literal,
    dumps,
    dumps_pretty,
    duplicates,
    exact,
    go_float,
    loads,
    may_hold,
    plain_floats,
    preview,
    surely_unique,
    type_meta,
)

SHARED = Path(__file__).parents[3] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=3, alphabet="ab<\u2028é\""), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b"{'a': 1}", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a":1} {"b"', "invalid character '{' after top-level value"),
        (b'{"a": {"b": "c"', "unexpected end of JSON input"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 2}', "invalid character '2' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'"a\tb"', "invalid character '\\t' in string literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u12g"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-a", "invalid character 'a' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"nope", "invalid character 'o' in literal null (expecting 'u')"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
        (b"\x00", "invalid character '\\x00' looking for beginning of value"),
        (b"[" * 10_001, "invalid character '[' exceeded max depth"),
    ],
)
def test_refusals_are_worded_as_go_words_them(document: bytes, message: str) -> None:
    with pytest.raises(JSONError) as refused:
        loads(document)
    assert str(refused.value) == message
    with pytest.raises(JSONError):
        exact(document)


def test_what_is_no_unicode_becomes_replacement_characters() -> None:
    assert loads(b'"\\ud800x"') == "\ufffdx"
    assert loads(b'["\\ud83d\\ude00", {"\\udc00": ["\xff\xfe"]}]') == ["\U0001f600", {"\ufffd": ["\ufffd\ufffd"]}]


def test_ten_thousand_levels_are_read_and_written() -> None:
    for document in (b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000):
        assert dumps(loads(document)) == document
        assert dumps(plain_floats(exact(document)[0])) == document
        assert duplicates(document) == []
    deep = b"[" * 5_000 + b'{"a":"\\ud800","a":["\xc3\xa9"]}' + b"]" * 5_000
    assert duplicates(deep) == ['duplicate field "' + "[0]" * 5_000 + '.a"']


@pytest.mark.parametrize("levels", [100, 300, 900, 1500])
def test_numbers_and_texts_are_written_alike_however_deep_they_are(levels: int) -> None:
    items = b'1,-2,1.5,1e+21,1e-7,9223372036854775807,"0.5","\xc3\xa9\\n<",{},[],null,true'.replace(b"<", b"\\u003c")
    for inner in (items, items.replace(b"1.5,1e+21,1e-7,", b"")):
        document = b"[" * levels + inner + b"]" * levels
        value = plain_floats(exact(document)[0])
        assert dumps(value) == document
        assert (may_hold(value, b"null"), may_hold(value, b"nil")) == (True, levels > 1000)
        assert surely_unique(document, value)
        assert not surely_unique(document[:levels] + b'{"a":1,"a":1},' + document[levels:], value)


def test_duplicates_are_told_with_their_paths() -> None:
    document = b'{"metadata":{"name":"a","name":"b"},"list":[{"k":1,"k":2,"k":3}],"list":[],"x.y":{"z":1,"z":2}}'
    assert duplicates(document) == [
        'duplicate field "metadata.name"',
        'duplicate field "list[0].k"',
        'duplicate field "list"',
        'duplicate field "x.y.z"',
    ]
    assert duplicates(b'{"a":{"b":1},"c":{"b":2}}') == []


def test_of_many_duplicates_the_first_hundred_are_told() -> None:
    items = [f'{{"n":"],{{","a":{number},"a":2}}' for number in range(20_000)]
    for start, end in (('{"k":1,"x":[', "]}"), ('{"y":2,"y":[', '],"y":3}'), ('[{"x":[', "]}]")):
        found = duplicates((start + ",".join(items) + end).encode())
        assert len(found) == 100
        assert found == duplicates((start + ",".join(items[:150]) + end).encode())


def test_the_exact_form_keeps_the_text_of_numbers() -> None:
    value, repeated = exact(b"[1.50, 1e3, 7, 123456789012345678901234567890]")
    assert [getattr(item, "text", item) for item in value] == ["1.50", "1e3", 7, "123456789012345678901234567890"]
    assert isinstance(value[0], Literal) and value[0] == 1.5 and not repeated


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_a_document_without_duplicates_has_none(value: Any, indent: int | None, spaced: bool) -> None:
    text = json.dumps(value, indent=indent, separators=(", ", " : ") if spaced else None, ensure_ascii=False)
    data = text.encode()
    assert duplicates(data) == []
    assert loads(data) == json.loads(text)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=4),
    st.integers(0, 10),
    st.sampled_from(["", " ", "\n"]),
)
def test_a_repeated_member_is_never_overlooked(value: dict[str, Any], pick: int, space: str) -> None:
    keys = list(value)
    members = [f"{json.dumps(key)}{space}:{json.dumps(value[key])}" for key in [*keys, keys[pick % len(keys)]]]
    data = ("{" + ",".join(members) + "}").encode()
    assert not surely_unique(data, loads(data))
    assert len(duplicates(data)) == 1


@pytest.mark.parametrize("colon", [r"\u003a", r"\u003A"])
def test_an_escaped_colon_does_not_hide_a_repeated_member(colon: str) -> None:
    data = f'{{"a": 1, "a": "{colon}"}}'.encode()
    assert not surely_unique(data, loads(data))
    assert duplicates(data) == ['duplicate field "a"']


def test_html_and_line_separators_are_escaped() -> None:
    assert dumps({"<&>": "a\u2028b\u2029c/\x7fé"}) == '{"\\u003c\\u0026\\u003e":"a\\u2028b\\u2029c/\x7fé"}'.encode()
    assert dumps_pretty({"a": [1, {}, []], "b": {"c": None}}) == (
        b'{\n  "a": [\n    1,\n    {},\n    []\n  ],\n  "b": {\n    "c": null\n  }\n}'
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e20, "100000000000000000000"), (1e21, "1e+21"), (1e-6, "0.000001"),
        (9.99e-7, "9.99e-7"), (1.5e-5, "0.000015"), (1e-7, "1e-7"), (-1e-9, "-1e-9"), (123456.789, "123456.789"),
        (1.2345678901234567e19, "12345678901234567000"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (5e-324, "5e-324"), (1e16, "10000000000000000"), (2.5e-5, "0.000025"),
    ],
)  # fmt: skip
def test_floats_are_written_as_go_writes_them(number: float, text: str) -> None:
    assert go_float(number) == text
    assert dumps(plain_floats({"n": [number]})) == f'{{"n":[{text}]}}'.encode()


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_being_written(number: float) -> None:
    text = go_float(number)
    assert float(text) == number
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-][1-9]\d*)?", text)
    assert dumps(plain_floats([number])) == f"[{text}]".encode()


def test_whole_numbers_beyond_int64_are_floats_as_in_go() -> None:
    made = plain_floats([2**63 - 1, 12345678901234567890, 1.0])
    assert made == [2**63 - 1, 12345678901234567890.0, 1] and isinstance(made[1], GoFloat)
    assert dumps(made) == b"[9223372036854775807,12345678901234567000,1]"
    assert dumps({"n": 2**70}) == b'{"n":1180591620717411303424}'


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_the_writer_without_recursion_agrees_with_the_fast_one(value: Any) -> None:
    value = plain_floats(value)
    assert loads(jsonexact.dumps(value, go_float)) == loads(dumps(value))
    assert loads(jsonexact.dumps(value, go_float, indent=2)) == loads(dumps(value))
    assert plain_floats(loads(dumps(value))) == value


def test_kind_and_version_are_had_or_refused() -> None:
    assert type_meta(loads(b'{"kind":"Pod","apiVersion":"v1"}')) == ("v1", "Pod")
    assert type_meta(None) == ("", "") and type_meta({}) == ("", "")
    with pytest.raises(JSONError, match=r"number into Go struct field \.kind of type string"):
        type_meta({"kind": 7})
    with pytest.raises(JSONError, match=r"json: cannot unmarshal array into Go value of type struct"):
        type_meta([])


@pytest.mark.shared
@needs_shared
def test_bad_bodies_are_refused_as_recorded() -> None:
    import yaml

    cases = yaml.load((SHARED / "conformance/cases/objects.yaml").read_text(), Loader=yaml.CSafeLoader)
    bodies = next(case["steps"] for case in cases if case["case"] == "bad-bodies")
    answers = json.loads((SHARED / "conformance/expected/objects.json").read_text())["bad-bodies"]
    compared = 0
    for sent, answer in zip(bodies, answers, strict=True):
        message = answer["body"]["message"]
        data = sent["raw"].encode()
        if "json parse error" not in message:
            continue
        try:
            type_meta(loads(data))
            told = ""
        except JSONError as refused:
            told = str(refused)
        told = told if told.startswith("couldn't") else f"couldn't get version/kind; json parse error: {told}"
        assert message == f"the object provided is unrecognized (must be of type ConfigMap): {told} ({preview(data)})"
        compared += 1
    assert compared > 6


@pytest.mark.shared
@needs_shared
def test_recorded_answers_are_written_to_the_byte() -> None:
    for answer in json.loads((SHARED / "facts/wire/text.json").read_text())["answers"]:
        if "json" in answer and answer["json"].endswith("\n"):
            value = plain_floats(loads(answer["json"].encode()))
            assert dumps(value) + b"\n" == answer["json"].encode(), answer["why"]


def test_what_was_read_in_vain_leaves_no_duplicates() -> None:
    twice, once = ",".join(['{"a":1,"a":2}'] * 40), ",".join(['{"a":1}'] * 400)
    document = '{"l":[%s],"deep":%s,"m":[%s]}' % (twice, "[" * 1500 + "]" * 1500, once)  # noqa: UP031
    assert duplicates(document.encode()) == [f'duplicate field "l[{index}].a"' for index in range(40)]
    value, repeated = exact(document.encode())
    assert {*map(id, value["l"])} == set(repeated)  # not of objects that are gone, whose place others may take


@pytest.mark.parametrize("count", [1, 63, 64, 65, 300])
def test_each_byte_that_is_no_utf8_becomes_a_sign(count: int) -> None:
    texts = b",".join([b'"\xe2\x80\xffx\xc3\xa9\xed\xa0\x80"'] * count)
    assert loads(b"[" + texts + b"]") == ["\ufffd\ufffd\ufffdxé\ufffd\ufffd\ufffd"] * count
    assert loads(b'{"\xff":' + b"[" * 2_000 + texts + b"]" * 2_000 + b"}").keys() == {"\ufffd"}
    with pytest.raises(JSONError, match=r"^invalid character '\\u0080' looking for beginning of value$"):
        loads(b"[" + texts + b",1,\x80]")
    with pytest.raises(JSONError, match=r"^invalid character 'y' after array element$"):
        loads(b"[" + texts + b" " * 5_000 + b"y]")
