"""Who a controller is: a ServiceAccount of kube-system, proved by a token that never leaves this process."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Final

from pilothouse.auth.authenticators import AUTHENTICATED, Credentials, Refused
from pilothouse.registry.request import Caller

_PREFIX: Final = "loopback."
_SECRET_BYTES: Final = 32
_NAMESPACE: Final = "kube-system"

# What reads for all controllers, as the one process that runs them in a cluster does.
MANAGER: Final = Caller("system:kube-controller-manager", "", (AUTHENTICATED,))


def service_account(name: str) -> Caller:
    """The ServiceAccount of a controller."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{_NAMESPACE}", AUTHENTICATED)
    return Caller(f"system:serviceaccount:{_NAMESPACE}:{name}", "", groups)


class LoopbackTokens:
    """An Authenticator of tokens that it issued: random ones that live in memory and end with the process."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        """`random_bytes` must be fit for secrets (`secrets.token_bytes`)."""
        self._random_bytes = random_bytes
        self._issued: list[tuple[bytes, Caller]] = []

    def issue(self, caller: Caller) -> str:
        """A new token of this caller."""
        secret = urlsafe_b64encode(self._random_bytes(_SECRET_BYTES)).rstrip(b"=")
        self._issued.append((secret, caller))
        return f"{_PREFIX}{len(self._issued) - 1}.{secret.decode()}"

    def authenticate(self, credentials: Credentials) -> Caller | None:
        """Raises Refused for a token that looks like ours and is not."""
        token = credentials.token
        if token is None or not token.startswith(_PREFIX):
            return None
        number, _, secret = token.removeprefix(_PREFIX).partition(".")
        if not number.isascii() or not number.isdecimal() or len(number) > 4 or int(number) >= len(self._issued):
            raise Refused("not a token of this process")
        expected, caller = self._issued[int(number)]
        if not hmac.compare_digest(expected, secret.encode()):
            raise Refused("not a token of this process")
        return caller
