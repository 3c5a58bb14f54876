"""Finds out who asks and takes the credentials off the request.

Bad credentials are 401 (Kubernetes documentation, "Authenticating").
"""

from __future__ import annotations

import base64
import binascii

from pilothouse.auth.authenticators import Credentials, Refused, Union
from pilothouse.endpoints.scope import Warnings
from pilothouse.endpoints.websocket import TOKEN_PROTOCOL
from pilothouse.machinery.errors import unauthorized
from pilothouse.serving.http import Answer, Filter, Handler, Request

_SCHEME = "bearer "


def authentication(authenticators: Union) -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            token = bearer_token(request)
            try:
                caller = await authenticators.authenticate(Credentials(token, request.client_certificate))
            except Refused as error:
                raise unauthorized() from error
            if token is not None:
                _take_off(request)
            request.attach(caller)
            return await inner(request)

        return handle

    return build


def bearer_token(request: Request) -> str | None:
    """The token of the Authorization header, or of a WebSocket subprotocol; None where there is none."""
    header = request.header(b"authorization")
    if header is None:
        return _protocol_token(request)
    header = header.strip()
    if header[: len(_SCHEME)].lower() != _SCHEME:
        return None
    token = header[len(_SCHEME) :].split(" ", 1)[0]
    if not token:
        warnings = request.maybe(Warnings)
        if warnings is not None and header[len(_SCHEME) :].strip():
            warnings.append(
                "the provided Authorization header contains extra space before the bearer token, and is ignored"
            )
        return None
    return token


def _protocol_token(request: Request) -> str | None:
    header = request.header(b"sec-websocket-protocol")
    if header is None or TOKEN_PROTOCOL not in header:
        return None
    names = [name.strip() for name in header.split(",")]
    tokens = [name.removeprefix(TOKEN_PROTOCOL) for name in names if name.startswith(TOKEN_PROTOCOL)]
    if len(tokens) != 1 or len(names) < 2:
        raise unauthorized()
    try:
        return base64.urlsafe_b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4)).decode()
    except (binascii.Error, ValueError) as error:
        raise unauthorized() from error


def _take_off(request: Request) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != b"authorization"]
