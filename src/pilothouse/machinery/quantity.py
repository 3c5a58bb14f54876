"""Resource quantities: `100m`, `1.5Gi`, `12e6` read, compared, added and written as the original does.

A quantity is an exact decimal and the family of its suffix (decimal, binary or exponent). Amounts are kept as whole
nano-units,
the finest that the original holds. Binary, long or very fine numbers are capped at plus or minus 2^63-1 units; short
decimal ones
are not (`12E` stays `12E`, `12Ei` becomes 9223372036854775807).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Final

from pilothouse.machinery.digits import whole

DECIMAL: Final = "DecimalSI"
BINARY: Final = "BinarySI"
EXPONENT: Final = "DecimalExponent"

WRONG_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # as clients see it
)
WRONG_SUFFIX: Final = "unable to parse quantity's suffix"
WRONG_NUMBER: Final = "unable to parse numeric part of quantity"

_NANO: Final = 10**9
_MOST: Final = (2**63 - 1) * _NANO
# Digits are not given back: of very many, with something odd behind them, each would be tried as the last.
_FORM: Final = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)", re.ASCII)
_EXPONENT: Final = re.compile(r"[eE][-+]?[0-9]+", re.ASCII)
_DECIMALS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARIES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_is_canonical: Final = re.compile(r"(?!0)[0-9]{1,18}(?<!000)[numkMGTPE]?", re.ASCII).fullmatch  # as are most
_STEPS: Final = {suffix: 10 ** (9 + power) for suffix, power in _DECIMALS.items()}
_DECIMAL_NAMES: Final = {power: name for name, power in _DECIMALS.items()}
_BINARY_NAMES: Final = ("", *_BINARIES)
_FAST_DIGITS: Final = 18  # a decimal number with more digits is capped
_MOST_DIGITS: Final = 400
_SHORT: Final = 40  # texts up to here are remembered
_FAR: Final = 1000  # exponents beyond this are capped too, so that nobody makes us write a million zeros


class QuantityError(ValueError):
    """Not a quantity; the text is the original's."""


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An amount in nano-units and the suffix family it is written in. Equality and order are by amount alone."""

    nanos: int
    form: str = DECIMAL

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __add__(self, other: Quantity) -> Quantity:
        """Zero takes over the family of the other, as in the original."""
        return Quantity(self.nanos + other.nanos, self.form if self.nanos else other.form)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos - other.nanos, self.form if self.nanos else other.form)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nanos, self.form)

    def __bool__(self) -> bool:
        return self.nanos != 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.nanos > 0) - (self.nanos < 0)

    @property
    def whole(self) -> bool:
        """True when there is nothing after the point."""
        return self.nanos % _NANO == 0

    def value(self) -> int:
        """In units, rounded away from zero."""
        return _away(self.nanos, _NANO)

    def milli_value(self) -> int:
        """In thousandths, rounded away from zero."""
        return _away(self.nanos, 10**6)

    def scaled(self, power: int) -> int:
        """In units of 10**power (power from -9 up), rounded away from zero."""
        return _away(self.nanos, 10 ** (power + 9))

    def rounded_up(self, power: int) -> Quantity:
        """To a multiple of 10**power, away from zero (resource lists are kept in thousandths: -3)."""
        step = 10 ** (power + 9)
        return Quantity(_away(self.nanos, step) * step, self.form)

    def __str__(self) -> str:
        """The canonical form: no fraction, the largest suffix that allows it."""
        if self.nanos == 0:
            return "0"
        if self.form == BINARY and self.whole and abs(self.nanos) >= 1024 * _NANO:
            return _binary(self.nanos // _NANO)
        if self.form == EXPONENT:
            digits, power = _decimal(self.nanos, _FAR)
            return f"{digits}e{power}" if power else str(digits)
        digits, power = _decimal(self.nanos)
        return f"{digits}{_DECIMAL_NAMES[power]}"


def _away(amount: int, step: int) -> int:
    return amount // step if amount < 0 else -(-amount // step)


def _binary(units: int) -> str:
    step = 0
    while units % 1024 == 0 and step < 6:
        units //= 1024
        step += 1
    return f"{units}{_BINARY_NAMES[step]}"


def _decimal(nanos: int, most: int = 18) -> tuple[int, int]:
    """Digits and the largest power of a thousand (at most `most`, E where it is a suffix) that leaves no fraction."""
    power = -9
    while nanos % 1000 == 0 and power < most:
        nanos //= 1000
        power += 3
    return nanos, power


def _split(text: str) -> tuple[str, str, str, str]:
    found = _FORM.fullmatch(text)
    if found is None or not text:
        raise QuantityError(WRONG_FORMAT)
    sign, whole, fraction, suffix = found.groups()
    if not whole and not fraction:
        # A sign or suffix alone is no number; a lone point is one without digits.
        raise QuantityError(WRONG_NUMBER if "." in text and not suffix else WRONG_FORMAT)
    return sign, whole.lstrip("0") or "0", fraction or "", suffix


def _family(suffix: str) -> tuple[str, int, int]:
    """Family, base and power of a suffix."""
    if suffix in _DECIMALS:
        return DECIMAL, 10, _DECIMALS[suffix]
    if suffix in _BINARIES:
        return BINARY, 2, _BINARIES[suffix]
    if _EXPONENT.fullmatch(suffix) is None:
        raise QuantityError(WRONG_SUFFIX)
    power = whole(suffix[1:])
    if abs(power) >= 2**31:
        raise QuantityError(WRONG_SUFFIX)
    return EXPONENT, 10, power


def _plain(text: str) -> tuple[Quantity, bool] | None:
    """As `_read`, of digits with one letter or none behind them, which most are."""
    head = text if text[-1:].isdigit() else text[:-1]
    step = _STEPS.get(text[len(head) :])
    if step is None or len(head) > _FAST_DIGITS or not head.isdigit() or not head.isascii():
        return None
    amount = int(head)
    return Quantity(amount * step), amount != 0 and amount % 1000 != 0


def _read(text: str) -> tuple[Quantity, bool]:
    """The quantity, and whether the original would show it as it was sent."""
    plain = _plain(text)
    if plain is not None:
        return plain
    sign, whole, fraction, suffix = _split(text)
    form, base, power = _family(suffix)
    digits = whole + fraction
    amount, dropped = _amount(digits)
    scale = power - len(fraction)
    short = base == 10 and len(digits) <= _FAST_DIGITS and -9 <= scale <= _FAR
    kept = short and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    if base == 2:
        nanos = _nanos(amount << power, 9 - len(fraction) + dropped)
    else:
        nanos = _nanos(amount, 9 + scale + dropped)
    if not short:
        nanos = min(nanos, _MOST)
    return Quantity(-nanos if sign == "-" else nanos, form), kept


def _amount(digits: str) -> tuple[int, int]:
    """The number, of absurdly many digits only the first (rounded up), and how many were dropped."""
    dropped = max(0, len(digits) - _MOST_DIGITS)
    if not dropped:
        return int(digits), 0
    return int(digits[:_MOST_DIGITS]) + (1 if digits[_MOST_DIGITS:].strip("0") else 0), dropped


def _nanos(amount: int, power: int) -> int:
    """amount * 10**power rounded up: the least that can be had is one nano-unit. Capped a little above the most."""
    if amount == 0:
        return 0
    if power >= 0:
        return amount * int(10 ** min(power, _FAR + 9))
    return -(-amount // int(10**-power)) if -power <= len(str(amount)) else 1


def parse(text: str) -> Quantity:
    """Read a quantity. Raises QuantityError with the original's text."""
    return (_known if len(text) < _SHORT else _read)(text)[0]


def shown(text: str) -> str:
    """The text that the original answers for a quantity that was sent as `text`: mostly its canonical form.

    Decimal numbers that are canonical but for a sign, leading zeros or an exponent of their own stay as they are
    (`+3`, `12E6`). Spaces around it do not count. Raises QuantityError.
    """
    return _known_shown(text) if len(text) < _SHORT else _shown(text)


def _shown(text: str) -> str:
    if _is_canonical(text):
        return text
    text = text.strip(" ")
    quantity, kept = _read(text)
    return text if kept else str(quantity)


# The same few quantities come again and again.
_known: Final = lru_cache(4096)(_read)
_known_shown: Final = lru_cache(4096)(_shown)


def compare(one: str, other: str) -> int:
    """-1, 0 or 1 for two texts. Raises QuantityError."""
    first, second = parse(one), parse(other)
    return (first.nanos > second.nanos) - (first.nanos < second.nanos)


def of(units: int, form: str = DECIMAL) -> Quantity:
    """A quantity of whole units."""
    return Quantity(units * _NANO, form)


def of_milli(thousandths: int, form: str = DECIMAL) -> Quantity:
    """A quantity of thousandths."""
    return Quantity(thousandths * 10**6, form)
