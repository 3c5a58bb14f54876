"""Escaped halves of signs are U+FFFD each; pairs are left alone, and so is what only looks like an escape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery import jsoncodec
from pilothouse.machinery.jsonhalves import may_have_halves, with_whole_escapes

PIECES = st.sampled_from(["\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\\\", "\\u0041", "ud800", "x", '\\"', "\\ud80"])


@given(st.lists(PIECES, max_size=8))
def test_each_half_without_the_other_becomes_one_sign(pieces: list[str]) -> None:
    document = f'"{"".join(pieces)}"'
    mended = with_whole_escapes(document.encode())
    assert len(mended) == len(document)
    try:
        wanted = whole_text(json.loads(document))
    except ValueError:
        return
    assert jsoncodec.loads(document.encode()) == json.loads(mended) == wanted
    assert not may_have_halves(mended.decode())


@pytest.mark.parametrize("document", ['["\\ud83d\\ude00"]', '["\\\\ud800"]', '["é"]', "[1]"])
def test_documents_without_halves_are_the_same(document: str) -> None:
    assert with_whole_escapes(document.encode()) == document.encode()


def test_halves_in_many_texts_are_all_found() -> None:
    data = b"[%b]" % b",".join([b'"a\\ud800b"'] * 30_000)
    assert jsoncodec.loads(data) == ["a\ufffdb"] * 30_000


def test_a_half_does_not_hide_what_is_wrong_elsewhere() -> None:
    with pytest.raises(jsoncodec.JSONError, match="invalid character 'x' looking for beginning of value"):
        jsoncodec.loads(b'{"a":"\\ud800","b":x}')
