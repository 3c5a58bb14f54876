"""One range of cluster addresses: what in it can be given out, and in which order it is tried. No I/O."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Below = Callable[[int], int]
"""n -> a random number from 0 up to, but without, n."""

_LEAST_BAND: Final = 16
_MOST_BAND: Final = 256
_SHARE: Final = 16
_GUESSES: Final = 16


class AddressRange:
    """The addresses of a network but its first and, in IPv4, its last.

    The lowest of them are left to those who ask for one by name, as long as there are others ("Avoiding collisions").
    """

    def __init__(self, network: str) -> None:
        self.network: Network = ipaddress.ip_network(network)
        self.family = f"IPv{self.network.version}"
        reserved = 2 if self.network.version == 4 else 1
        self.size = max(self.network.num_addresses - reserved, 0)  # of what can be given out
        self._base = int(self.network.network_address) + 1
        self._band = _band(self.size)

    def __contains__(self, address: Address) -> bool:
        """Whether the network holds it, be it usable or not."""
        return address in self.network

    def usable(self, address: Address) -> bool:
        return 0 <= int(address) - self._base < self.size

    def candidates(self, below: Below) -> Iterator[str]:
        """All usable addresses: some at random, then in turn, the band for named ones at last."""
        upper = self.size - self._band
        for _ in range(_GUESSES if upper else 0):
            yield self._text(self._band + below(upper))
        yield from self._in_turn(self._band, upper, below)
        yield from self._in_turn(0, self._band, below)

    def _in_turn(self, start: int, count: int, below: Below) -> Iterator[str]:
        first = below(count) if count else 0
        for step in range(count):
            yield self._text(start + (first + step) % count)

    def _text(self, offset: int) -> str:
        number = self._base + offset
        kind = ipaddress.IPv4Address if self.network.version == 4 else ipaddress.IPv6Address
        return str(kind(number))


def _band(size: int) -> int:
    if size < _LEAST_BAND:
        return 0
    return min(max(_LEAST_BAND, size // _SHARE), _MOST_BAND)
