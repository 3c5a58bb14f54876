"""Who asks, by the word of a front that we trust (Kubernetes documentation, "Authenticating Proxy").

The headers count only from a client certificate that our request header CA signed for an allowed name. From anybody
else they are ignored: whoever sends them is who he otherwise is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from pilothouse.auth.authenticators import AUTHENTICATED
from pilothouse.auth.certificates import CertificateError, ClientAuthority
from pilothouse.registry.request import Caller

_REMEMBERED: Final = 64  # certificates of fronts
Headers = Sequence[tuple[bytes, bytes]]  # names in lower case


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Which headers say what, as the flags give them; of each kind the first that is there counts (of groups, all)."""

    user: tuple[str, ...] = ("X-Remote-User",)
    uid: tuple[str, ...] = ()
    group: tuple[str, ...] = ("X-Remote-Group",)
    extra_prefix: tuple[str, ...] = ("X-Remote-Extra-",)


class FrontProxy:
    """`authority`: who signs certificates of fronts. `allowed`: their common names, none for any."""

    def __init__(
        self, authority: ClientAuthority, allowed: Sequence[str], names: HeaderNames, now: Callable[[], datetime]
    ) -> None:
        self._authority = authority
        self._allowed = frozenset(allowed)
        self._user = _lower(names.user)
        self._uid = _lower(names.uid)
        self._group = _lower(names.group)
        self._extra = _lower(names.extra_prefix)
        self._now = now
        self._known: OrderedDict[bytes, datetime] = OrderedDict()

    def authenticate(self, certificate: bytes | None, headers: Headers) -> Caller | None:
        """Who asks; None where these headers do not say so, or nobody we trust says it."""
        if certificate is None:
            return None
        name = _first(headers, self._user)
        if not name or not self._is_trusted(certificate):
            return None
        groups = [_text(value) for wanted in self._group for key, value in headers if key == wanted and value]
        extra: dict[str, list[str]] = {}
        for key, value in headers:
            for prefix in self._extra:
                if key.startswith(prefix) and len(key) > len(prefix):
                    extra.setdefault(unquote(_text(key[len(prefix) :])).lower(), []).append(_text(value))
        if AUTHENTICATED not in groups:
            groups.append(AUTHENTICATED)
        told = tuple((key, tuple(values)) for key, values in sorted(extra.items()))
        return Caller(name, _first(headers, self._uid), tuple(groups), told)

    def _is_trusted(self, certificate: bytes) -> bool:
        now = self._now()
        until = self._known.get(certificate)
        if until is not None and until > now:
            return True
        try:
            subject = self._authority.verify(certificate, now)
        except CertificateError:
            return False
        if self._allowed and subject.common_name not in self._allowed:
            return False
        self._known[certificate] = subject.not_after
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return True

    def is_identity(self, header: bytes) -> bool:
        """Whether this header (in lower case) says who asks, so that nobody behind us shall see it."""
        return header in self._user + self._uid + self._group or header.startswith(self._extra)


def _lower(names: Sequence[str]) -> tuple[bytes, ...]:
    return tuple(name.lower().encode() for name in names)


def _first(headers: Headers, names: Sequence[bytes]) -> str:
    for wanted in names:
        for key, value in headers:
            if key == wanted and value:
                return _text(value)
    return ""


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
