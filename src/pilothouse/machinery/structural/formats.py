"""Formats of strings that are checked (Kubernetes documentation, "Validation"; the rest are only words)."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from pilothouse.machinery import names

Format = Callable[[str], bool]

_DATE_TIME: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([zZ]|[+-]\d\d:?\d\d)")
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµμ]+)\s*")
_UNITS: Final = frozenset(
    {
        "ns", "us", "µs", "μs", "ms", "s", "m", "h", "nano", "nanos", "micro", "micros", "milli", "millis", "sec",
        "secs", "second", "seconds", "min", "mins", "minute", "minutes", "hr", "hrs", "hour", "hours", "d", "day",
        "days", "w", "wk", "week", "weeks",
    }
)  # fmt: skip
_MAC: Final = re.compile(
    r"[0-9A-Fa-f]{2}(([:-])[0-9A-Fa-f]{2})(\2[0-9A-Fa-f]{2}){4}((\2[0-9A-Fa-f]{2}){2}|(\2[0-9A-Fa-f]{2}){14})?"
    r"|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2}((\.[0-9A-Fa-f]{4})|(\.[0-9A-Fa-f]{4}){7})?"
)
_HOST_LABEL: Final = re.compile(r"[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?")
_EMAIL: Final = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[^\s@<>()\[\],;:\\\"]+")
_HEX: Final = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_RGB: Final = re.compile(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_SSN: Final = re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}")
_OBJECT_ID: Final = re.compile(r"[0-9a-fA-F]{24}")
_CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14}"
)


def _matches(form: re.Pattern[str]) -> Format:
    return lambda text: form.fullmatch(text) is not None


def _uuid(version: str = "") -> Format:
    """`version`: "3", "4", "5", or "" for any."""
    third = f"{version}[0-9a-f]{{3}}" if version else "[0-9a-f]{4}"
    fourth = "[89ab][0-9a-f]{3}" if version in ("4", "5") else "[0-9a-f]{4}"
    form = re.compile(rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}", re.IGNORECASE)
    return _matches(form)


def _date(text: str) -> bool:
    if len(text) != 10:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    if found is None or not _date("-".join(found.groups()[:3])):
        return False
    hour, minute, second = (int(part) for part in found.groups()[3:6])
    return hour < 24 and minute < 60 and second < 60


def _duration(text: str) -> bool:
    rest = text.strip().removeprefix("-").removeprefix("+")
    if rest == "0":
        return True
    at = 0
    while at < len(rest):
        found = _DURATION_PART.match(rest, at)
        if found is None or found[2] not in _UNITS:
            return False
        at = found.end()
    return at > 0


def _bytes(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _cidr(text: str) -> bool:
    return "/" in text and names.parse_network(text) is not None


def _hostname(text: str) -> bool:
    if not text or len(text) > 255:
        return False
    return all(_HOST_LABEL.fullmatch(part) for part in text.removesuffix(".").split("."))


def _uri(text: str) -> bool:
    """An absolute address, or a path from the root."""
    if not text or any(char.isspace() or ord(char) < 32 for char in text):
        return False
    try:
        found = urlsplit(text)
    except ValueError:
        return False
    return bool(found.scheme) or text.startswith("/")


def _isbn10(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not re.fullmatch(r"\d{9}[0-9X]", digits):
        return False
    return sum((10 if sign == "X" else int(sign)) * place for place, sign in enumerate(digits, 1)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not re.fullmatch(r"\d{13}", digits):
        return False
    return sum(int(sign) * (3 if place % 2 else 1) for place, sign in enumerate(digits)) % 10 == 0


def _card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not _CARD.fullmatch(digits):
        return False
    total = 0
    for place, sign in enumerate(reversed(digits)):
        value = int(sign) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _rgb(text: str) -> bool:
    found = _RGB.fullmatch(text)
    return found is not None and all(int(part) <= 255 for part in found.groups())


def _all_texts(text: str) -> bool:
    return True


FORMATS: Final[dict[str, Format]] = {
    "date": _date,
    "datetime": _date_time,
    "duration": _duration,
    "byte": _bytes,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "cidr": _cidr,
    "mac": _matches(_MAC),
    "uri": _uri,
    "email": _matches(_EMAIL),
    "hostname": _hostname,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
    "hexcolor": _matches(_HEX),
    "rgbcolor": _rgb,
    "password": _all_texts,
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _card,
    "ssn": _matches(_SSN),
    "bsonobjectid": _matches(_OBJECT_ID),
    "k8sshortname": lambda text: not names.label(text),
    "k8slongname": lambda text: not names.subdomain(text),
}


def format_of(word: str) -> Format | None:
    """The check of a format, None for one that is not checked. Dashes do not count."""
    return FORMATS.get(word.replace("-", ""))
