"""Quantities: how they are read, shown, compared and added."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.quantity import (
    BINARY,
    WRONG_FORMAT,
    WRONG_NUMBER,
    WRONG_SUFFIX,
    Quantity,
    QuantityError,
    compare,
    of,
    of_milli,
    parse,
    shown,
)


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        # recorded
        ("1.2", "1200m"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("2000m", "2"), ("2048M", "2048M"), ("1e10", "10e9"),
        ("0.5", "500m"), ("1000Ki", "1000Ki"), ("1e0", "1e0"), ("0.1Gi", "107374182400m"), ("1500m", "1500m"),
        ("1000000", "1M"), ("1000", "1k"), ("2e3", "2e3"), ("10000Mi", "10000Mi"), ("1E", "1E"), ("1000000k", "1G"),
        ("007", "007"), ("12E6", "12E6"), ("+3", "+3"), ("1073741824", "1073741824"), ("1048576Ki", "1Gi"),
        ("1e9", "1e9"), ("12E", "12E"), ("1024", "1024"), ("1e-3", "1e-3"), (".5", "500m"), ("-1", "-1"),
        ("9Ei", "9223372036854775807"),
        # by the same rules
        ("5.", "5."), ("0", "0"), ("0.0", "0"), ("0Gi", "0"), ("0.5Ki", "512"), ("-1.5Gi", "-1536Mi"), ("1n", "1n"),
        ("0.0000000001", "1n"), ("-0.0000000001", "-1n"), ("12345678901234567890", "9223372036854775807"),
    ],
)  # fmt: skip
def test_quantities_are_shown_in_canonical_form_unless_they_nearly_are(sent: str, answered: str) -> None:
    assert shown(sent) == answered


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", WRONG_FORMAT), ("lots", WRONG_FORMAT), ("1e3m", WRONG_FORMAT), ("1 Gi", WRONG_FORMAT),
        ("10GB", WRONG_FORMAT), ("true", WRONG_FORMAT), ("1.2.3", WRONG_FORMAT), ("Ki", WRONG_FORMAT),
        ("+", WRONG_FORMAT), ("5mi", WRONG_SUFFIX),
        ("1K", WRONG_SUFFIX), ("1e", WRONG_SUFFIX), (".", WRONG_NUMBER), ("٣", WRONG_FORMAT),
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_in_the_original_s_words(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as refused:
        shown(text)
    assert str(refused.value) == message


def test_quantities_compare_by_amount_whatever_their_suffix() -> None:
    assert compare("1Gi", "1024Mi") == 0 and compare("1", "1000m") == 0 and compare("1e3", "1k") == 0
    assert compare("1G", "1Gi") == -1 and compare("-1", "-2") == 1
    assert parse("1Gi") == parse("1024Mi") and hash(parse("1")) == hash(parse("1000m"))
    assert parse("100m") < parse("1") <= parse("1000m")


def test_sums_keep_the_family_of_the_first() -> None:
    assert str(parse("1Gi") + parse("1Mi")) == "1025Mi"
    assert str(parse("100m") + parse("1")) == "1100m"
    assert str(parse("0") + parse("2Gi")) == "2Gi"
    assert str(parse("1Gi") - parse("1Gi")) == "0"
    assert str(-parse("1500m")) == "-1500m"


def test_values_are_rounded_away_from_zero() -> None:
    assert parse("1500m").value() == 2 and parse("-1500m").value() == -2
    assert parse("1100u").milli_value() == 2 and parse("1").milli_value() == 1000
    assert str(parse("100u").rounded_up(-3)) == "1m" and str(parse("0.25").rounded_up(-3)) == "250m"
    assert parse("1500m").scaled(0) == 2 and parse("1500m").scaled(-3) == 1500
    assert parse("2").whole and not parse("1500m").whole
    assert (parse("-1").sign, parse("0").sign, parse("1m").sign) == (-1, 0, 1) and not parse("0")
    assert of(5) == parse("5") and of_milli(250) == parse("250m") and str(of(1024**2, BINARY)) == "1Mi"


def test_absurd_exponents_cost_nothing() -> None:
    assert shown("1e1000000000") == "9223372036854775807"
    assert shown("1e-1000000000") == "1e-9"


@settings(deadline=None)
@given(st.integers(-(10**17), 10**17), st.sampled_from(["n", "u", "m", "", "k", "M", "Ki", "Mi", "e3", "E-3"]))
def test_the_canonical_form_is_the_same_amount_and_stays(number: int, suffix: str) -> None:
    quantity = parse(f"{number}{suffix}")
    text = str(quantity)
    assert parse(text) == quantity
    assert str(parse(text)) == text
    assert parse(shown(f"{number}{suffix}")) == quantity


@settings(deadline=None)
@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_arithmetic_is_exact(one: int, other: int) -> None:
    assert (Quantity(one) + Quantity(other)).nanos == one + other
    assert (Quantity(one) - Quantity(other)).nanos == one - other


@pytest.mark.parametrize(("sent", "answered"), [(" 1", "1"), ("1500m ", "1500m"), ("  +3 ", "+3"), (" 0.5Gi", "512Mi")])
def test_spaces_around_a_quantity_do_not_count(sent: str, answered: str) -> None:
    assert shown(sent) == answered


@pytest.mark.parametrize("text", ["0" * 300_000 + "!", "1." + "0" * 300_000 + "!", "1e" + "9" * 300_000 + "!"])
def test_very_many_digits_with_something_odd_behind_them_are_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(QuantityError):
        shown(text)
    assert time.process_time() - began < 1.0  # the square of their number would be hours
