"""What no text can hold is replaced, one sign for each."""

from __future__ import annotations

from pilothouse.kit.wholetext import whole_text


def test_each_lone_half_becomes_one_sign() -> None:
    assert whole_text("a\ud800b\udcff\udc80c") == "a\ufffdb\ufffd\ufffdc"
    assert whole_text(b"\xff\xfea\xe9".decode("utf-8", "surrogateescape")) == "\ufffd\ufffda\ufffd"


def test_whole_texts_stay() -> None:
    for text in ("", "plain", "é\U0001f600\ufffd"):
        assert whole_text(text) == text


def test_signs_that_stand_for_others_meanwhile_stay() -> None:
    for around in ("?", "\ue000?", "\uf8ff?", "\ue000\uf8ff?"):
        assert whole_text(f"{around}\udcff{around}") == f"{around}\ufffd{around}"
