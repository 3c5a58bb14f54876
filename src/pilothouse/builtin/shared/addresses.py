"""IP addresses and networks as API fields take them: which texts are refused, and which only warned about.

Fields that are older than the strict rules take what they held before (`kept`); newer fields want the canonical text.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pilothouse.kit.memo import remembered
from pilothouse.machinery import names
from pilothouse.machinery.names import IPAddress, IPNetwork
from pilothouse.machinery.rules import Field

_SPECIAL: Final = (
    ("is_loopback", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
    ("is_link_local", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
)
_is_plain: Final = names.is_plain_address
_PLAIN_SPECIAL: Final = ("0.0.0.0", "127.", "169.254.", "224.0.0.")  # beginnings of IPv4 addresses that mean something
_LENGTHS: Final = frozenset(map(str, range(33)))  # of prefixes
_FINE: Final[Sequence[str]] = ()
_KEPT: Final = 8192  # texts whose meaning is remembered
_LOCAL_MULTICAST: Final = (ipaddress.ip_network("224.0.0.0/24"), ipaddress.ip_network("ff02::/16"))


def _zeros(text: str) -> bool:
    """Whether some number before or between dots, or the length of a prefix, begins with a zero that means nothing."""
    base, _, bits = text.partition("/")
    parts = base.rpartition(":")[2].split(".") if "." in base else []
    return any(len(part) > 1 and part[0] == "0" for part in (*parts, bits))


def _mapped(found: IPAddress) -> bool:
    return isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None


@remembered(_KEPT)
def address_of(text: str) -> IPAddress | None:
    """The address a text means."""
    return names.parse_address(text)


@remembered(_KEPT)
def network_of(text: str) -> IPNetwork | None:
    """The network a text means."""
    return names.parse_network(text)


def is_address(text: str) -> bool:
    """Whether a text, most likely a name, is an address."""
    return (":" in text or text[-1:].isdigit()) and names.parse_address(text) is not None


def is_plain(text: str) -> bool:
    """Whether a text is a canonical IPv4 address: most are, so this is asked first."""
    return _is_plain(text) is not None


def strict_address(text: str) -> Sequence[str]:
    """What is wrong with an address in an old field."""
    return _FINE if _is_plain(text) else _strict_address(text)


@remembered(_KEPT)
def _strict_address(text: str) -> Sequence[str]:
    found = names.parse_address(text)
    if found is None:
        return (names.ADDRESS_TEXT,)
    if _zeros(text):
        return ("must not have leading 0s",)
    return ("must not be an IPv4-mapped IPv6 address",) if _mapped(found) else _FINE


def canonical_address(text: str) -> list[str]:
    """What is wrong with an address in a new field, which takes one spelling alone."""
    return list(strict_address(text)) or _other_spelling(text, str(names.parse_address(text)))


def strict_network(text: str) -> Sequence[str]:
    """What is wrong with a CIDR in an old field."""
    return _FINE if _is_plain_network(text) else _strict_network(text)


def _is_plain_network(text: str) -> bool:
    """Whether it is one of IPv4, spelled as it should be."""
    head, _, length = text.partition("/")
    if length not in _LENGTHS or not _is_plain(head):
        return False
    return not int.from_bytes(map(int, head.split(".")), "big") & (1 << 32 - int(length)) - 1


@remembered(_KEPT)
def _strict_network(text: str) -> Sequence[str]:
    found = network_of(text)
    if found is None:
        return (names.NETWORK_TEXT,)
    whys = []
    if _zeros(text):
        whys.append("must not have leading 0s in IP or prefix length")
    base = names.parse_address(text.partition("/")[0])
    if base is not None and _mapped(base):
        whys.append("must not have an IPv4-mapped IPv6 address")
    if base != found.network_address:
        whys.append("must not have bits set beyond the prefix length")
    return tuple(whys)


def canonical_network(text: str) -> list[str]:
    """What is wrong with a CIDR in a new field."""
    return list(strict_network(text)) or _other_spelling(text, str(names.parse_network(text)))


def _other_spelling(text: str, canonical: str) -> list[str]:
    return [] if text == canonical else [f'must be in canonical form ("{canonical}")']


def old_address(path: str, text: str, field: Field, kept: Collection[str] = ()) -> None:
    """Refuse an address of an old field, but for those that it held before."""
    if text not in kept:
        field.all_invalid(path, text, strict_address(text))


def old_network(path: str, text: str, field: Field, kept: Collection[str] = ()) -> None:
    """Refuse a CIDR of an old field, but for those that it held before."""
    if text not in kept:
        field.all_invalid(path, text, strict_network(text))


def family(text: str) -> int:
    """4 or 6; 0 where the text is neither an address nor a network."""
    if _is_plain(text):
        return 4
    found: IPAddress | IPNetwork | None = address_of(text) or network_of(text)
    return found.version if found is not None else 0


def endpoint_whys(text: str) -> list[str]:
    """Why an address cannot be that of an endpoint: unspecified, loopback, link-local."""
    if _is_plain(text) and not text.startswith(_PLAIN_SPECIAL):
        return []
    found = address_of(text)
    if found is None:
        return []
    whys = [f"may not be unspecified ({found})"] if found.is_unspecified else []
    whys += [why for quality, why in _SPECIAL if getattr(found, quality)]
    if any(found.version == net.version and found in net for net in _LOCAL_MULTICAST):
        whys.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return whys


def address_warnings(path: str, text: str | None) -> Iterator[str]:
    """Warnings about an address that is understood but not spelled as it should be."""
    if not text or _is_plain(text):
        return
    found = address_of(text)
    if found is None:
        return
    if _zeros(text) or _mapped(found):
        mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        yield (
            f"{path}: non-standard IP address {_quoted(text)} will be considered invalid in a future Kubernetes "
            f"release: use {_quoted(str(mapped or found))}"
        )
    elif found.version == 6 and str(found) != text:
        yield f'{path}: IPv6 address {_quoted(text)} should be in RFC 5952 canonical format ("{found}")'


def network_warnings(path: str, text: str | None) -> Iterator[str]:
    """The same about a CIDR."""
    found = network_of(text) if text else None
    if text is None or found is None:
        return
    base = address_of(text.partition("/")[0])
    if base != found.network_address:
        shown = f"{_quoted(str(found))} or {_quoted(f'{base}/{found.max_prefixlen}')}"
        yield f"{path}: CIDR value {_quoted(text)} is ambiguous in this context (should be {shown}?)"
    elif _zeros(text) or (base is not None and _mapped(base)):
        yield (
            f"{path}: non-standard CIDR value {_quoted(text)} will be considered invalid in a future Kubernetes "
            f"release: use {_quoted(str(found))}"
        )
    elif found.version == 6 and str(found) != text:
        yield f"{path}: IPv6 CIDR value {_quoted(text)} should be in RFC 5952 canonical format ({_quoted(str(found))})"


def _quoted(text: str) -> str:
    return f'"{text}"'
