"""What a plain YAML scalar means: YAML 1.1 in Go's reading (`y` and `on` are true, 012 is 10, dates are text)."""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any, Final

TAG: Final = "tag:yaml.org,2002:"

WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER: Final = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))", re.ASCII
)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_DATE: Final = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d\d:\d\d(?:\.\d*)?[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?)?)?", re.ASCII
)
_SIXTY: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_LONGEST: Final = 4000  # characters that are read as a whole number
_BASES: Final = (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10))
NUMERIC: Final = frozenset("+-.0123456789")  # how numbers begin


class ScalarError(ValueError):
    """A scalar that does not fit its tag."""


def resolve(text: str) -> Any:
    """The value of a plain scalar."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMERIC:
        return text
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    if text.count(".") > 1:  # an address, or a version
        return None
    if text[0] == ".":
        return float(text) if _FLOAT.fullmatch(text) else None
    plain = text.replace("_", "")
    found = _INTEGER.fullmatch(plain)
    if found is not None:
        for name, base in _BASES:
            if found[name] is not None and len(plain) <= _LONGEST:
                value = int(found[name], base) * (-1 if plain.startswith("-") else 1)
                if -(2**63) <= value < 2**64:
                    return value
    if _FLOAT.fullmatch(plain) is None:
        return None
    real = float(plain)
    return real if math.isfinite(real) else None  # too large for a number stays a text


def tagged(tag: str, text: str) -> Any:
    """The value of a scalar with an explicit tag. Raises ScalarError."""
    short = tag.removeprefix(TAG)
    if short == "binary":
        try:
            return base64.b64decode(text, validate=False).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            raise ScalarError("!!binary value contains invalid base64 data") from None
    if short not in ("int", "float", "bool", "null"):
        return text
    value = resolve(text)
    fits = {
        "int": value.__class__ is int,
        "float": value.__class__ in (int, float),
        "bool": value.__class__ is bool,
        "null": value is None,
    }
    if not fits[short]:
        raise ScalarError(f"cannot decode !!str `{text}` as a !!{short}")
    return value


def is_plain(text: str) -> bool:
    """True when a plain scalar of this text is read as the text again, by us and by other readers of YAML 1.1."""
    return resolve(text).__class__ is str and _DATE.fullmatch(text) is None and _SIXTY.fullmatch(text) is None
