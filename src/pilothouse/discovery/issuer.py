"""What others need to verify service account tokens by themselves: the issuer's configuration and its keys (OpenID
Connect Discovery; Kubernetes documentation, "Service Account Issuer Discovery").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from pilothouse.endpoints.negotiation import routable, unroutable
from pilothouse.kit.record import record
from pilothouse.machinery.errors import method_not_allowed
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.serving.http import Answer, Handler, Request, Response

CONFIGURATION_PATH: Final = "/.well-known/openid-configuration"
KEYS_PATH: Final = "/openid/v1/jwks"
_CACHED: Final = (b"Cache-Control", b"public, max-age=3600")


async def _at_once() -> None:
    """Nothing to wait for."""


@record
class Issuer:
    """`keys_at`: URL of the keys. `public_keys`: JSON web keys, public parts only; `ready` is waited for before they
    are asked for.
    """

    name: str
    keys_at: Callable[[], str]
    public_keys: Callable[[], Sequence[Mapping[str, Any]]]
    ready: Callable[[], Awaitable[None]] = _at_once


def issuer_handlers(issuer: Issuer) -> dict[str, Handler]:
    """By path."""

    def keys() -> dict[str, Any]:
        return {"keys": list(issuer.public_keys())}

    return {
        CONFIGURATION_PATH: _page(issuer, lambda: _configuration(issuer), "application/json"),
        KEYS_PATH: _page(issuer, keys, "application/jwk-set+json"),
    }


def _configuration(issuer: Issuer) -> dict[str, Any]:
    return {
        "issuer": issuer.name,
        "jwks_uri": issuer.keys_at(),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": sorted({key["alg"] for key in issuer.public_keys()}),
    }


def _page(issuer: Issuer, document: Callable[[], dict[str, Any]], media_type: str) -> Handler:
    async def serve(request: Request) -> Answer:
        if request.method != "GET":
            raise method_not_allowed()
        if not routable(request.header(b"accept") or "", (media_type,)):
            raise unroutable(request, (media_type,))
        await issuer.ready()
        return Response(200, [_CACHED, (b"Content-Type", media_type.encode())], dumps(document()))

    return serve
