"""Many quantities at once are what each of them is by itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.quantity import QuantityError, parse, shown
from pilothouse.machinery.quantitylists import are_coarse, are_readable, odd_places, shown_all, with_thousandths

TEXTS = (
    st.from_regex(r"[0-9]{1,19}[numkMGTPE]?", fullmatch=True)
    | st.from_regex(r"[-+]?[0-9]{1,3}[.0-9]{0,4}([KMG]i|[eE]-?[0-9]|u)?", fullmatch=True)
    | st.text("0123456789mknMi.e+- \n\u0661", max_size=5)
    | st.sampled_from(["000", "0", "0100m", "1000", "100n", "1.5", "+1", "1Ki", "1e3", "", "m", "9" * 18, "1\n"])
)


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=40), st.booleans())
def test_many_are_shown_as_each_of_them_is(texts: list[str], good: bool) -> None:
    each: list[str | None] = []
    for text in texts:
        try:
            each.append(shown(text))
        except QuantityError:
            each.append(None)
    if good:
        texts = [text for text, one in zip(texts, each, strict=True) if one is not None]
        each = [one for one in each if one is not None]
    if None in each:
        with pytest.raises(QuantityError):
            shown_all(texts)
        assert not are_readable(texts)
    else:
        assert shown_all(texts) == each
    odd = odd_places(texts)
    assert all(one == text for place, (text, one) in enumerate(zip(texts, each, strict=True)) if place not in odd)


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_what_is_taken_for_coarse_at_a_glance_is_so(texts: list[str]) -> None:
    made = []
    for text in texts:
        try:
            made.append(shown(text))
        except QuantityError:
            continue
    if are_coarse(made):
        assert all(parse(text).nanos % 10**6 == 0 for text in made)


def test_few_are_looked_at_closer() -> None:
    texts = [f"{number}m" for number in range(1, 3000)]
    assert list(odd_places(texts)) == [999, 1999]
    assert list(odd_places([*texts, "1\n2"])) == list(range(3000))


@pytest.mark.parametrize(
    "text", ["1.5", "12.25", "0.5", "1.50", "10.125", "3.0", "1.5Gi", "12e3", "12E6", "1000e3", "x.5", "5"]
)
def test_digits_behind_a_point_become_thousandths(text: str) -> None:
    (made,) = with_thousandths([text])
    assert with_thousandths([text, "7", text]) == [made, "7", made]
    if made != text:
        assert made == shown(text)
