"""What is asked of each byte of a document is what Python's own decoder, and a count, say."""

from __future__ import annotations

import random

from pilothouse.machinery.jsonbytes import goes_deeper, with_whole_signs

_PIECES = (
    b"a", b'"', b"\x80", b"\xc2\x80", b"\xc1\x80", b"\xdf", b"\xe0\xa0\x80", b"\xe0\x9f\x80", b"\xe2\x82",
    b"\xed\x9f\xbf", b"\xed\xa0\x80", b"\xef\xbf\xbf", b"\xf0\x90\x80\x80", b"\xf0\x8f\x80\x80", b"\xf4\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80", b"\xf5", b"\xff", b"\xf0\x9f\x98", "日".encode(),
)  # fmt: skip


def test_each_byte_that_is_no_utf8_becomes_one_sign() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        data = b"".join(chance.choice(_PIECES) for _ in range(chance.randint(0, 8)))
        expected = "".join(
            "\ufffd" if "\udc80" <= sign <= "\udcff" else sign for sign in data.decode("utf-8", "surrogateescape")
        )
        assert with_whole_signs(data).decode() == expected, data


def test_very_many_bytes_that_are_no_utf8_are_as_a_few() -> None:
    assert with_whole_signs(b"a\x80" * 100_000 + b"\xe2\x82") == "a\ufffd".encode() * 100_000 + "\ufffd\ufffd".encode()


def test_brackets_in_texts_are_no_levels() -> None:
    assert goes_deeper(b'[{"a":[', 2)
    assert not goes_deeper(b'[{"a":[', 3)
    assert not goes_deeper(b'["[[[[", "\\"[[[["]', 1)
    assert not goes_deeper(b"[]" * 1000, 1)
