"""The vocabularies of names: each check takes a text and returns the original's messages, an empty list when it is
fine.

Lengths are counted in characters, as the original's messages say, or in UTF-8 bytes where they say so.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from pilothouse.machinery.forms import Form

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253
SUFFIX_LENGTH: Final = 5
SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_BASE_LENGTH: Final = LABEL_LENGTH - SUFFIX_LENGTH

_LABEL_FORM: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORM: Final = rf"{_LABEL_FORM}(\.{_LABEL_FORM})*"
_MIXED_LABEL_FORM: Final = "[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?"
_UNDERSCORE_FORM: Final = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"
_LABEL_1035_FORM: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED_FORM: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORM: Final = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_C_IDENTIFIER_FORM: Final = "[A-Za-z_][A-Za-z0-9_]*"
_ENVIRONMENT_FORM: Final = r"[ -<>-~]+"
_CONFIG_KEY_FORM: Final = "[-._a-zA-Z0-9]+"
_HEADER_FORM: Final = "[-A-Za-z0-9]+"
_PERCENT_FORM: Final = "[0-9]+%"
_PATH_FORM: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


def _compiled(form: str) -> Callable[[str], object]:
    return re.compile(form, re.ASCII).fullmatch


_is_label = _compiled(_LABEL_FORM)
_is_subdomain = _compiled(_SUBDOMAIN_FORM)
_is_mixed_subdomain = _compiled(rf"{_MIXED_LABEL_FORM}(\.{_MIXED_LABEL_FORM})*")
_is_underscored = _compiled(_UNDERSCORE_FORM)
_is_label_1035 = _compiled(_LABEL_1035_FORM)
_is_qualified = _compiled(_QUALIFIED_FORM)
_is_value = _compiled(_VALUE_FORM)
_is_c_identifier = _compiled(_C_IDENTIFIER_FORM)
_is_environment = _compiled(_ENVIRONMENT_FORM)
_is_config_key = _compiled(_CONFIG_KEY_FORM)
_is_header = _compiled(_HEADER_FORM)
_is_percent = _compiled(_PERCENT_FORM)
_is_path = _compiled(_PATH_FORM)
_is_port = _compiled("[-a-z0-9]+")
_has_letter = re.compile("[a-z]").search


# What most names are like is found out sign by sign, much faster. What is not so may still be fine.
_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_SIMPLE: Final = f"{_SMALL}0123456789"
_LETTERS: Final = f"{_SIMPLE}{_SMALL.upper()}"
_LABEL: Final = Form(f"-{_SIMPLE}", _SIMPLE, _SIMPLE, LABEL_LENGTH)
_LABEL_1035: Final = Form(f"-{_SIMPLE}", _SMALL, _SIMPLE, LABEL_LENGTH)
_SUBDOMAIN: Final = Form(f"-{_SIMPLE}", _SIMPLE, _SIMPLE, SUBDOMAIN_LENGTH, points=True)
_NAME: Final = Form(f"-_.{_LETTERS}", _LETTERS, _LETTERS, LABEL_LENGTH)
_VALUE: Final = Form(f"-_.{_LETTERS}", _LETTERS, _LETTERS, LABEL_LENGTH, empty=True)
_CONFIG_KEY: Final = Form(f"-_.{_LETTERS}", f"-_{_LETTERS}", f"-_.{_LETTERS}", SUBDOMAIN_LENGTH)


def regex_message(text: str, form: str, *examples: str) -> str:
    """How the original says that a text does not match, with examples and the expression."""
    shown = "or ".join(f"'{example}',  " for example in examples[:-1])
    last = f"{'or ' if shown else ''}'{examples[-1]}', " if examples else ""
    return f"{text} (e.g. {shown}{last}regex used for validation is '{form}')"


_LABEL_TEXT: Final = regex_message(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character",
    _LABEL_FORM,
    "my-name",
    "123-abc",
)
_SUBDOMAIN_TEXT: Final = regex_message(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character",
    _SUBDOMAIN_FORM,
    "example.com",
)
_MIXED_SUBDOMAIN_TEXT: Final = regex_message(
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character",
    _SUBDOMAIN_FORM,  # the original shows the lower-case expression here
    "Example.com",
)
_UNDERSCORE_TEXT: Final = regex_message(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    "start and end with an alphanumeric character",
    _UNDERSCORE_FORM,
    "example.com",
)
_WILDCARD_FORM: Final = rf"\*\.{_SUBDOMAIN_FORM}"
_is_wildcard = _compiled(_WILDCARD_FORM)
_WILDCARD_TEXT: Final = regex_message(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    _WILDCARD_FORM,
    "*.example.com",
)
_LABEL_1035_TEXT: Final = regex_message(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _LABEL_1035_FORM,
    "my-name",
    "abc-123",
)
_QUALIFIED_TEXT: Final = regex_message(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _QUALIFIED_FORM,
    "MyName",
    "my.name",
    "123-abc",
)
_KEY_TEXT: Final = (
    f"a valid label key {_QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_VALUE_TEXT: Final = regex_message(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character",
    _VALUE_FORM,
    "MyValue",
    "my_value",
    "12345",
)
_C_IDENTIFIER_TEXT: Final = regex_message(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_'",
    _C_IDENTIFIER_FORM,
    "my_name",
    "MY_NAME",
    "MyName",
)
_ENVIRONMENT_TEXT: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_CONFIG_KEY_TEXT: Final = regex_message(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY_FORM,
    "key.name",
    "KEY_NAME",
    "key-name",
)
_HEADER_TEXT: Final = regex_message(
    "a valid HTTP header must consist of alphanumeric characters or '-'", _HEADER_FORM, "X-Header-Name"
)
PERCENT_TEXT: Final = regex_message(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT_FORM, "1%", "93%"
)
_PATH_TEXT: Final = regex_message("must be a valid URL path", _PATH_FORM, "/healthz")


def too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def too_many_bytes(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def label(text: str) -> list[str]:
    """A DNS-1123 label: up to 63 of a-z, 0-9 and inner `-`."""
    if _LABEL.fits(text):
        return []
    found = [too_long(LABEL_LENGTH)] if len(text) > LABEL_LENGTH else []
    if not _is_label(text):
        found.append("must not contain dots" if _is_subdomain(text) else _LABEL_TEXT)
    return found


def _formed(form: Callable[[str], object], limit: int, wrong: str) -> Callable[[str], list[str]]:
    """A check of length, then of form; both are told."""

    def check(text: str) -> list[str]:
        if len(text) <= limit and form(text):
            return []
        found = [too_long(limit)] if len(text) > limit else []
        return found if form(text) else [*found, wrong]

    return check


_subdomain = _formed(_is_subdomain, SUBDOMAIN_LENGTH, _SUBDOMAIN_TEXT)
mixed_case_subdomain = _formed(_is_mixed_subdomain, SUBDOMAIN_LENGTH, _MIXED_SUBDOMAIN_TEXT)
underscored_subdomain = _formed(_is_underscored, SUBDOMAIN_LENGTH, _UNDERSCORE_TEXT)
wildcard_subdomain = _formed(_is_wildcard, SUBDOMAIN_LENGTH, _WILDCARD_TEXT)
_label_1035 = _formed(_is_label_1035, LABEL_LENGTH, _LABEL_1035_TEXT)


def subdomain(text: str) -> list[str]:
    """A DNS-1123 subdomain: labels with points between."""
    return [] if _SUBDOMAIN.fits(text) else _subdomain(text)


def label_1035(text: str) -> list[str]:
    """A label that begins with a letter."""
    return [] if _LABEL_1035.fits(text) else _label_1035(text)


def qualified_name(text: str) -> list[str]:
    """A label key or the like: up to 63 signs, with an optional `subdomain/` before them."""
    if _is_plain_key(text):
        return []
    parts = text.split("/")
    if len(parts) > 2:
        return [_KEY_TEXT]
    found: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        else:
            found += [f"prefix part {message}" for message in subdomain(parts[0])]
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode()) > LABEL_LENGTH:
        found.append(f"name part {too_many_bytes(LABEL_LENGTH)}")
    if not _is_qualified(name):
        found.append(f"name part {_QUALIFIED_TEXT}")
    return found


def _is_plain_key(text: str) -> bool:
    prefix, slash, name = text.partition("/")
    return _SUBDOMAIN.fits(prefix) and _NAME.fits(name) if slash else _NAME.fits(text)


def annotation_key(text: str) -> list[str]:
    """As a label key, but capitals in the prefix are fine."""
    return qualified_name(text.lower())


def label_value(text: str) -> list[str]:
    """A label's value: empty, or up to 63 signs."""
    if _VALUE.fits(text):
        return []
    found = [too_many_bytes(LABEL_LENGTH)] if len(text.encode()) > LABEL_LENGTH else []
    return found if _is_value(text) else [*found, _VALUE_TEXT]


def path_segment(text: str) -> list[str]:
    """A name that is safe in a URL path (RBAC objects and others)."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{sign}'" for sign in ("/", "%") if sign in text]


def prefix_of(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A check for a generateName: a `-` at its end is fine, as more follows."""

    def checked(text: str) -> list[str]:
        return check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)

    return checked


def c_identifier(text: str) -> list[str]:
    return [] if _is_c_identifier(text) else [_C_IDENTIFIER_TEXT]


def environment_name(text: str) -> list[str]:
    """The name of an environment variable, as lenient as the original is today."""
    return [] if _is_environment(text) else [_ENVIRONMENT_TEXT]


def config_key(text: str) -> list[str]:
    """A key of a ConfigMap or Secret: a file name."""
    if _CONFIG_KEY.fits(text):
        return []
    found = [too_long(SUBDOMAIN_LENGTH)] if len(text) > SUBDOMAIN_LENGTH else []
    if not _is_config_key(text):
        found.append(_CONFIG_KEY_TEXT)
    if text in (".", ".."):
        found.append(f"must not be '{text}'")
    elif text.startswith(".."):
        found.append("must not start with '..'")
    return found


def _all_formed(form: str) -> Callable[[Collection[str]], bool]:
    """Whether texts surely have a form, all of them in one go. False only means: look at each.

    `form` matches no line break, and nothing that the check of one text finds a fault with.
    """
    fits = re.compile(rf"(?:{form})(?:\n(?:{form}))*", re.ASCII).fullmatch

    def check(texts: Collection[str]) -> bool:
        lines = "\n".join(texts)
        return not texts or (fits(lines) is not None and lines.count("\n") == len(texts) - 1)

    return check


# As much of those checks that are asked of very many: False only means: look at each.
are_labels: Final = _LABEL.all_fit
are_labels_1035: Final = _LABEL_1035.all_fit
are_subdomains: Final = _SUBDOMAIN.all_fit
are_label_values: Final = _VALUE.all_fit
are_config_keys: Final = _CONFIG_KEY.all_fit
are_environment_names: Final = _all_formed(_ENVIRONMENT_FORM)
are_c_identifiers: Final = _all_formed(_C_IDENTIFIER_FORM)
are_header_names: Final = _all_formed(_HEADER_FORM)


def are_qualified_names(texts: Collection[str]) -> bool:
    """As the checks above."""
    return _NAME.all_fit(texts) or all(_is_plain_key(text) for text in texts)


def header_name(text: str) -> list[str]:
    return [] if _is_header(text) else [_HEADER_TEXT]


def percent(text: str) -> list[str]:
    return [] if _is_percent(text) else [PERCENT_TEXT]


def url_path(text: str) -> list[str]:
    return [] if _is_path(text) else [_PATH_TEXT]


def port_name(text: str) -> list[str]:
    """An IANA service name: up to 15 of a-z, 0-9 and single inner `-`, with a letter among them."""
    found = [too_long(15)] if len(text) > 15 else []
    if not _is_port(text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _has_letter(text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def port_number(value: int) -> list[str]:
    return [] if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def within(value: int, least: int, most: int) -> list[str]:
    return [] if least <= value <= most else [f"must be between {least} and {most}, inclusive"]


IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
ADDRESS_TEXT: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NETWORK_TEXT: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parse_address(text: str) -> IPAddress | None:
    """The address a text means, None when it means none. Zeros before IPv4 numbers are passed over, as in old Go."""
    if ":" not in text and text.count(".") != 3:
        return None  # soon told of what is no address at all
    try:
        return ipaddress.ip_address(_without_zeros(text)) if "%" not in text else None
    except ValueError:
        return None


def parse_network(text: str) -> IPNetwork | None:
    """The network of a CIDR text (bits beyond the prefix are passed over), None when it is none."""
    head, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or (len(length) > 1 and length[0] == "0"):
        return None
    try:
        return ipaddress.ip_network(f"{_without_zeros(head)}/{length}", strict=False) if "%" not in text else None
    except ValueError:
        return None


def _without_zeros(text: str) -> str:
    if "." not in text or ":" in text:
        return text
    return ".".join(part.lstrip("0") or "0" if part.isdigit() else part for part in text.split("."))


_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
is_plain_address: Final = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}", re.ASCII).fullmatch


def address(text: str) -> list[str]:
    return [] if is_plain_address(text) or parse_address(text) is not None else [ADDRESS_TEXT]


def network(text: str) -> list[str]:
    return [] if parse_network(text) is not None else [NETWORK_TEXT]


def generate_name(base: str, choose: Callable[[Sequence[str]], str]) -> str:
    """A name from a generateName: `base`, cut to 58, and five letters by `choose` (such as random.choice)."""
    return base[:_BASE_LENGTH] + "".join(choose(SUFFIX_ALPHABET) for _ in range(SUFFIX_LENGTH))
