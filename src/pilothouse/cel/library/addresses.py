"""IP addresses and ranges of them."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.values import Fault
from pilothouse.machinery.goquote import quote

_Address = IPv4Address | IPv6Address


class IP:
    """One address."""

    __slots__ = ("held",)

    type_name: Final = "net.IP"

    def __init__(self, held: _Address) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IP) and self.held == other.held

    def __hash__(self) -> int:
        return hash(self.held)

    def __str__(self) -> str:
        return str(self.held)


class CIDR:
    """A range: an address in it and the bits that all of it have in common."""

    __slots__ = ("address", "bits")

    type_name: Final = "net.CIDR"

    def __init__(self, address: _Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDR) and (self.address, self.bits) == (other.address, other.bits)

    def __hash__(self) -> int:
        return hash((self.address, self.bits))

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def _common(self, address: _Address, bits: int) -> int:
        return int(address) >> (address.max_prefixlen - bits)

    def masked(self) -> CIDR:
        size = self.address.max_prefixlen
        first = self._common(self.address, self.bits) << (size - self.bits)
        return CIDR(self.address.__class__(first), self.bits)

    def holds(self, address: _Address) -> bool:
        same = address.version == self.address.version
        return same and self._common(address, self.bits) == self._common(self.address, self.bits)

    def holds_range(self, other: CIDR) -> bool:
        return self.bits <= other.bits and self.holds(other.address)


def _problem(text: str) -> str:
    """What Go says of what is no address."""
    head = f"ParseAddr({quote(text)}): "
    if ":" in text.partition("%")[0]:
        return head + "unable to parse IP" if "%" not in text else head + "zone must be a non-empty string"
    if "." not in text:
        return head + "unable to parse IP"
    parts = text.split(".")
    for part in parts:
        if not part:
            return head + "IPv4 field must have at least one digit"
        wrong = next((letter for letter in part if not (letter.isascii() and letter.isdigit())), "")
        if wrong:
            return f"{head}unexpected character (at {quote(text[text.index(wrong) :])})"
        if len(part) > 1 and part[0] == "0":
            return head + "IPv4 field has octet with leading zero"
        if int(part[:4]) > 255:
            return head + "IPv4 field has value >255"
    return head + ("IPv4 address too short" if len(parts) < 4 else "IPv4 address too long")


def _address(text: str) -> _Address:
    """Raises Fault."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        why = f"IP Address {quote(text)} parse error during conversion from string: {_problem(text)}"
        raise Fault(why) from None
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            raise Fault(f"IP address {quote(text)} with zone value is not allowed")
        if found.ipv4_mapped is not None:
            raise Fault(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return found


def ip_of(text: str) -> IP:
    return IP(_address(text))


def cidr_of(text: str) -> CIDR:
    """Raises Fault."""
    head, slash, bits = text.rpartition("/")
    bad = f"network address parse error during conversion from string: netip.ParsePrefix({quote(text)}): "
    if not slash:
        raise Fault(bad + "no '/'")
    try:
        address = _address(head)
    except Fault as error:
        raise Fault(f"network address parse error during conversion from string: {error}") from None
    if not (bits.isascii() and bits.isdigit()) or (len(bits) > 1 and bits[0] == "0"):
        raise Fault(bad + f"bad bits after slash: {quote(bits)}")
    if len(bits) > 3 or int(bits) > address.max_prefixlen:
        raise Fault(bad + "prefix length out of range")
    return CIDR(address, int(bits))


def _is_ip(text: str) -> bool:
    try:
        _address(text)
    except Fault:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        cidr_of(text)
    except Fault:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(_address(text)) == text


def _holds_range(one: CIDR, text: str) -> bool:
    return one.holds_range(cidr_of(text))


def _link_local_multicast(one: IP) -> bool:
    packed = one.held.packed
    if one.held.version == 4:
        return packed[:3] == b"\xe0\x00\x00"
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _link_local_unicast(one: IP) -> bool:
    packed = one.held.packed
    if one.held.version == 4:
        return packed[:2] == b"\xa9\xfe"
    return packed[0] == 0xFE and packed[1] & 0xC0 == 0x80


def _global_unicast(one: IP) -> bool:
    held = one.held
    if held.is_unspecified or held.is_loopback or held.is_multicast or _link_local_unicast(one):
        return False
    return held.packed != b"\xff\xff\xff\xff"


_TEXT: Final = work.traverse(0)

ADDRESSES: Final = (
    overload("ip", "(string) -> ip", ip_of, work=_TEXT, guess=work.fixed(1)),
    overload("isIP", "(string) -> bool", _is_ip, work=_TEXT, guess=work.fixed(1)),
    overload("ip.isCanonical", "(string) -> bool", _is_canonical, work=work.twice(), guess=work.fixed(1)),
    overload("string", "(ip) -> string", str),
    overload("family", "ip.() -> int", lambda one: one.held.version),
    overload("isUnspecified", "ip.() -> bool", lambda one: one.held.is_unspecified),
    overload("isLoopback", "ip.() -> bool", lambda one: one.held.is_loopback),
    overload("isLinkLocalMulticast", "ip.() -> bool", _link_local_multicast),
    overload("isLinkLocalUnicast", "ip.() -> bool", _link_local_unicast),
    overload("isGlobalUnicast", "ip.() -> bool", _global_unicast),
    overload("cidr", "(string) -> cidr", cidr_of, work=_TEXT, guess=work.fixed(1)),
    overload("isCIDR", "(string) -> bool", _is_cidr, work=_TEXT, guess=work.fixed(1)),
    overload("string", "(cidr) -> string", str),
    overload("containsIP", "cidr.(string) -> bool", lambda one, text: one.holds(_address(text)), work=work.of_range(1)),
    overload("containsIP", "cidr.(ip) -> bool", lambda one, other: one.holds(other.held), work=work.of_range()),
    overload("containsCIDR", "cidr.(string) -> bool", _holds_range, work=work.of_range(1, 3)),
    overload("containsCIDR", "cidr.(cidr) -> bool", CIDR.holds_range, work=work.of_range(None, 3)),
    overload("ip", "cidr.() -> ip", lambda one: IP(one.address)),
    overload("masked", "cidr.() -> cidr", CIDR.masked),
    overload("prefixLength", "cidr.() -> int", lambda one: one.bits),
)
