"""Who a request comes from (Kubernetes documentation, "Authenticating"): static tokens, client certificates, anonymous.

Authenticators are pure: they get the credentials that a filter took from the request.
"""

from __future__ import annotations

import csv
import hashlib
import pathlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from pilothouse.auth.certificates import CertificateError, ClientAuthority
from pilothouse.auth.credentialmetrics import CredentialMetrics
from pilothouse.kit.record import record
from pilothouse.registry.request import Caller

AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
INVALID: Final = "invalid bearer token"
ANONYMOUS: Final = Caller("system:anonymous", "", (UNAUTHENTICATED,))


@record
class Credentials:
    """`token`: that of an Authorization header, None where there is none. `certificate`: DER of the client's."""

    token: str | None
    certificate: bytes | None


class Refused(Exception):
    """Credentials were offered and are not good."""


class Authenticator(Protocol):
    def authenticate(self, credentials: Credentials) -> Caller | None:
        """Who it is; None where these credentials are not for this authenticator. Raises Refused."""
        ...


class TokenAuthenticator(Protocol):
    """Tokens that are good for some audiences only, and whose check must look at what is stored."""

    async def authenticate(self, token: str, audiences: Sequence[str]) -> tuple[Caller, tuple[str, ...]] | None:
        """Who it is and for which of `audiences`; None where the token is not for this authenticator.

        Raises Refused.
        """
        ...


class TokenFile:
    """`--token-auth-file`: a CSV of token, user, uid and, in quotes, groups."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        # Found by digest, so that the time a look-up takes tells nothing about tokens that come close.
        self._callers = {hashlib.sha256(row[0].encode()).digest(): self._caller(row) for row in rows}

    @classmethod
    def read(cls, path: pathlib.Path) -> TokenFile:
        """Raises OSError, ValueError for a row with too few columns."""
        with path.open(newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        for row in rows:
            if len(row) < 3:
                raise ValueError(
                    f"token file '{path}' must have at least 3 columns (token, user name, user uid), found {len(row)}"
                )
        return cls(rows)

    @staticmethod
    def _caller(row: Sequence[str]) -> Caller:
        groups = tuple(part.strip() for part in row[3].split(",")) if len(row) > 3 and row[3] else ()
        return Caller(row[1], row[2], (*groups, AUTHENTICATED))

    def authenticate(self, credentials: Credentials) -> Caller | None:
        token = credentials.token
        if token is None:
            return None
        return self._callers.get(hashlib.sha256(token.encode()).digest())


class ClientCertificates:
    """Certificates signed by `--client-ca-file`: the common name is the user, organizations are the groups."""

    CACHE: Final = 1024

    def __init__(
        self, authority: ClientAuthority, now: Callable[[], datetime], metrics: CredentialMetrics | None = None
    ) -> None:
        self._authority = authority
        self._now = now
        self._left = (metrics or CredentialMetrics()).certificate_left
        self._known: OrderedDict[bytes, tuple[Caller, datetime]] = OrderedDict()

    def authenticate(self, credentials: Credentials) -> Caller | None:
        der = credentials.certificate
        if der is None:
            return None
        known = self._known.get(der)
        now = self._now()
        if known is not None and known[1] > now:
            self._left((known[1] - now).total_seconds())
            return known[0]
        try:
            subject = self._authority.verify(der, now)
        except CertificateError as error:
            if error.until is not None:
                self._left((error.until - now).total_seconds())
            raise Refused(str(error)) from error
        self._left((subject.not_after - now).total_seconds())
        caller = Caller(subject.common_name, "", (*subject.organizations, AUTHENTICATED))
        self._known[der] = (caller, subject.not_after)
        if len(self._known) > self.CACHE:
            self._known.popitem(last=False)
        return caller


class Union:
    """The first authenticator that knows the caller decides; credentials that none of them knows are refused.

    `waiting` are asked after all others. `audiences` are those of this server: what has no audience of its own is for
    them.
    """

    def __init__(
        self,
        authenticators: Sequence[Authenticator],
        *,
        anonymous: bool = True,
        waiting: Sequence[TokenAuthenticator] = (),
        audiences: Sequence[str] = (),
    ) -> None:
        self._authenticators = authenticators
        self._anonymous = anonymous
        self._waiting = waiting
        self._audiences = tuple(audiences)

    async def authenticate(self, credentials: Credentials) -> Caller:
        """Raises Refused."""
        refusals: list[Refused] = []
        caller = self._first(credentials, refusals)
        if caller is not None:
            return caller
        if credentials.token is not None:
            found = await self._first_waiting(credentials.token, self._audiences, refusals)
            if found is not None:
                return found[0]
        elif not refusals and self._anonymous:
            return ANONYMOUS
        raise _refusal(refusals)

    async def review(self, token: str, audiences: Sequence[str]) -> tuple[Caller, tuple[str, ...]]:
        """Who a token stands for, and for which of the audiences (none given: those of this server). Raises Refused."""
        wanted = tuple(audiences) or self._audiences
        own = tuple(one for one in wanted if one in self._audiences)
        refusals: list[Refused] = []
        caller = self._first(Credentials(token, None), refusals)
        if caller is not None:
            if own:
                return caller, own
            raise _refusal(refusals)
        found = await self._first_waiting(token, wanted, refusals)
        if found is None:
            raise _refusal(refusals)
        return found

    def _first(self, credentials: Credentials, refusals: list[Refused]) -> Caller | None:
        for authenticator in self._authenticators:
            try:
                caller = authenticator.authenticate(credentials)
            except Refused as error:
                refusals.append(error)
                continue
            if caller is not None:
                return caller
        return None

    async def _first_waiting(
        self, token: str, audiences: Sequence[str], refusals: list[Refused]
    ) -> tuple[Caller, tuple[str, ...]] | None:
        for authenticator in self._waiting:
            try:
                found = await authenticator.authenticate(token, audiences)
            except Refused as error:
                refusals.append(error)
                continue
            if found is not None:
                return found
        return None


def _refusal(refusals: Sequence[Refused]) -> Refused:
    """All that was wrong, as the original tells it in a TokenReview."""
    texts = [str(refusal) for refusal in refusals]
    return Refused(f"[{INVALID}, {', '.join(texts)}]" if texts else INVALID)
