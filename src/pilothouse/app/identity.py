"""Who is believed and what is allowed, from the settings: the authenticators, the authorizer, the keys of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from pilothouse.app.settings import Settings
from pilothouse.auth.attributes import AlwaysAllow
from pilothouse.auth.authenticators import Authenticator, ClientCertificates, TokenFile, Union
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.credentialmetrics import CredentialMetrics
from pilothouse.auth.identity import Identity, TokenRules
from pilothouse.auth.serviceaccounts import Lookup, Object, ServiceAccountTokens
from pilothouse.auth.tokens import Signer, new_key
from pilothouse.builtin.oddparts import Stores
from pilothouse.kit.metrics import Registry
from pilothouse.registry.writer import find_object


def build_identity(
    settings: Settings,
    client_ca: bytes,
    first: Sequence[Authenticator],
    signing_keys: Sequence[bytes],
    stores: Stores,
    now: Callable[[], datetime],
    registry: Registry,
) -> Identity:
    """`first`: authenticators before all others. `signing_keys`: PEM, none for a key that lives as long as the server.

    `stores` may be filled later.
    """
    metrics = CredentialMetrics(registry)
    authenticators: list[Authenticator] = [*first, ClientCertificates(ClientAuthority(client_ca), now, metrics)]
    if settings.token_auth_file is not None:
        authenticators.append(TokenFile.read(settings.token_auth_file))
    signer = Signer(lambda: signing_keys or (new_key(),))
    tokens = TokenRules(
        settings.service_account_issuer[0],
        settings.api_audiences or settings.service_account_issuer,
        settings.service_account_max_token_expiration,
        settings.service_account_extend_token_expiration,
    )
    accounts = ServiceAccountTokens(signer, settings.service_account_issuer, _lookup(stores), now, metrics)
    allow = AlwaysAllow()
    union = Union(authenticators, waiting=[accounts], audiences=tokens.audiences)
    return Identity(allow, allow, union, signer, tokens)


def read_signing_keys(settings: Settings, own: Path) -> list[bytes]:
    """PEM of the keys of service account tokens, the one that signs first. `own`: where ours is, for who gave none."""
    signing = settings.service_account_signing_key_file or own
    return [path.read_bytes() for path in (signing, *settings.service_account_key_file)]


def _lookup(stores: Stores) -> Lookup:
    """Objects of the core group, None where there are none."""

    async def lookup(resource: str, namespace: str, name: str) -> Object | None:
        return await find_object(stores["", resource], namespace, name)

    return lookup
