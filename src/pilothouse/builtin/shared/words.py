"""The small vocabularies of names and values, as checks that give the original's messages (none: the text is fine)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Any, Final

Whys = Sequence[str]
FINE: Final[Whys] = ()

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_UNDERSCORED: Final = re.compile(r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*", re.ASCII)
_UNDERSCORED_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_1035: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LABEL_1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and "
    "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_QUALIFIED: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_QUALIFIED_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_CONFIG_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+", re.ASCII)
_ENV: Final = re.compile(r"[ -<>-~]+", re.ASCII)
_HEADER: Final = re.compile(r"[-A-Za-z0-9]+", re.ASCII)
_PORT: Final = re.compile(r"[-a-z0-9]+", re.ASCII)
_PERCENT: Final = re.compile(r"[0-9]+%", re.ASCII)
_HTTP_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)

PERCENT_TEXT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def label(text: str) -> Whys:
    """A DNS-1123 label: up to 63 of a-z, 0-9 and `-`."""
    if len(text) <= 63 and _LABEL.fullmatch(text):
        return FINE
    whys = [] if len(text) <= 63 else [_too_long(63)]
    if not _LABEL.fullmatch(text):
        whys.append("must not contain dots" if _SUBDOMAIN.fullmatch(text) else _LABEL_TEXT)
    return whys


def subdomain(text: str) -> Whys:
    """A DNS-1123 subdomain: up to 253 characters of labels and dots."""
    if len(text) <= 253 and _SUBDOMAIN.fullmatch(text):
        return FINE
    whys = [] if len(text) <= 253 else [_too_long(253)]
    if not _SUBDOMAIN.fullmatch(text):
        whys.append(_SUBDOMAIN_TEXT)
    return whys


def underscored_subdomain(text: str) -> Whys:
    """A subdomain whose labels may begin with `_` (DNS search paths)."""
    whys = [] if len(text) <= 253 else [_too_long(253)]
    if not _UNDERSCORED.fullmatch(text):
        whys.append(_UNDERSCORED_TEXT)
    return whys


def label_1035(text: str) -> Whys:
    """A DNS-1035 label: begins with a letter."""
    if len(text) <= 63 and _LABEL_1035.fullmatch(text):
        return FINE
    whys = [] if len(text) <= 63 else [_too_long(63)]
    if not _LABEL_1035.fullmatch(text):
        whys.append(_LABEL_1035_TEXT)
    return whys


def qualified(text: str) -> Whys:
    """A label key or the like: an optional `subdomain/` and a name of up to 63 characters."""
    if "/" not in text and len(text) <= 63 and _QUALIFIED.fullmatch(text):
        return FINE
    parts = text.split("/")
    if len(parts) > 2:
        return [
            f"a valid label key {_QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    whys: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        if not parts[0]:
            whys.append("prefix part must be non-empty")
        else:
            whys += [f"prefix part {why}" for why in subdomain(parts[0])]
    if not name:
        whys.append("name part must be non-empty")
    elif len(name) > 63:
        whys.append("name part must be no more than 63 bytes")
    if not _QUALIFIED.fullmatch(name):
        whys.append("name part " + _QUALIFIED_TEXT)
    return whys


def label_value(text: str) -> Whys:
    if len(text) <= 63 and _VALUE.fullmatch(text):
        return FINE
    whys = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not _VALUE.fullmatch(text):
        whys.append(_VALUE_TEXT)
    return whys


def config_key(text: str) -> Whys:
    """A key of a ConfigMap or Secret: a file name."""
    whys = [] if len(text) <= 253 else [_too_long(253)]
    if not _CONFIG_KEY.fullmatch(text):
        whys.append(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
            "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        )
    if text.startswith("."):
        if text == ".":
            whys.append("must not be '.'")
        elif text == "..":
            whys.append("must not be '..'")
        elif text.startswith(".."):
            whys.append("must not start with '..'")
    return whys


def env_name(text: str) -> Whys:
    """An environment variable's name, in the lenient form of today."""
    if _ENV.fullmatch(text):
        return FINE
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def header_name(text: str) -> Whys:
    if _HEADER.fullmatch(text):
        return FINE
    return [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
        "validation is '[-A-Za-z0-9]+')"
    ]


def port_name(text: str) -> Whys:
    """An IANA service name: up to 15 of a-z, 0-9 and single `-`, with a letter in it."""
    whys = []
    if len(text) > 15:
        whys.append(_too_long(15))
    if not _PORT.fullmatch(text):
        whys.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        whys.append("must contain at least one letter (a-z)")
    if "--" in text:
        whys.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        whys.append("must not begin or end with a hyphen")
    return whys


def port_number(value: int) -> Whys:
    return FINE if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address a text means; leading zeros of IPv4 parts are passed over, as the original does for old fields."""
    plain = text
    if "." in text and ":" not in text:
        plain = ".".join(
            part.lstrip("0") or "0" if part.isdigit() and len(part) > 1 else part for part in text.split(".")
        )
    try:
        return ipaddress.ip_address(plain) if "%" not in plain else None
    except ValueError:
        return None


def ip(text: str) -> Whys:
    return FINE if address(text) is not None else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def network(text: str) -> Any:
    """The ipaddress network (host bits allowed) a CIDR text means; None for others."""
    base, slash, bits = text.partition("/")
    if not slash or not bits.isdigit() or (len(bits) > 1 and bits.startswith("0")):
        return None
    found = address(base)
    if found is None:
        return None
    try:
        return ipaddress.ip_interface(f"{found}/{bits}")
    except ValueError:
        return None


def cidr(text: str) -> Whys:
    return FINE if network(text) is not None else ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]


def path_segment(text: str) -> Whys:
    """A name that becomes a part of a URL path."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{one}'" for one in "/%" if one in text]


def percent(text: str) -> int | None:
    """The number before the `%`; None where the text is no percentage."""
    return int(text[:-1]) if _PERCENT.fullmatch(text) else None


def domain_path(text: str) -> bool:
    """`example.com/some/path`: a subdomain, a slash, and a path."""
    domain, slash, path = text.partition("/")
    return bool(slash and path) and not subdomain(domain) and bool(_HTTP_PATH.fullmatch(path))
