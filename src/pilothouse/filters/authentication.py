"""Finds out who asks and takes the credentials off the request.

Bad credentials are 401 (Kubernetes documentation, "Authenticating").
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from pilothouse.auth.authenticators import ANONYMOUS, Credentials, Refused, Union
from pilothouse.auth.metrics import AuthenticationMetrics
from pilothouse.endpoints.scope import Warnings
from pilothouse.endpoints.websocket import TOKEN_PROTOCOL, is_websocket
from pilothouse.machinery.errors import unauthorized
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request

_SCHEME = "bearer "
_PROTOCOLS: Final = b"sec-websocket-protocol"
_UNPADDED: Final = re.compile(r"[A-Za-z0-9_-]+")


def authentication(authenticators: Union, measures: AuthenticationMetrics | None = None) -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            token = bearer_token(request)
            started = measures.clock() if measures is not None else 0.0
            try:
                caller = await authenticators.authenticate(Credentials(token, request.origin.certificate))
            except Refused as error:
                found = await _by_protocol(authenticators, request)
                if found is None:
                    if measures is not None:
                        measures.count(None, started)
                    raise unauthorized() from error
                caller = found
            else:
                if caller is ANONYMOUS:
                    caller = await _by_protocol(authenticators, request) or caller
            if measures is not None:
                measures.count(caller, started)
            if token is not None:
                _take_off(request, b"authorization")
            request.attach(caller)
            return await inner(request)

        return handle

    return build


async def _by_protocol(authenticators: Union, request: Request) -> Caller | None:
    """Who the token among the WebSocket subprotocols stands for; it is taken off. None without one.

    Raises Unauthorized.
    """
    header = request.header(_PROTOCOLS)
    if header is None or TOKEN_PROTOCOL not in header or not is_websocket(request):
        return None
    names = [name.strip() for name in header.split(",")]
    tokens = [name.removeprefix(TOKEN_PROTOCOL) for name in names if name.startswith(TOKEN_PROTOCOL)]
    if tokens == [""]:
        return None
    if len(tokens) != 1 or len(names) < 2 or _UNPADDED.fullmatch(tokens[0]) is None:
        raise unauthorized()
    try:
        token = base64.urlsafe_b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4)).decode()
        caller = await authenticators.authenticate(Credentials(token, None))
    except (Refused, binascii.Error, ValueError) as error:
        raise unauthorized() from error
    _take_off(request, _PROTOCOLS)
    request.headers.append((_PROTOCOLS, ", ".join(n for n in names if not n.startswith(TOKEN_PROTOCOL)).encode()))
    return caller


def bearer_token(request: Request) -> str | None:
    """The token of the Authorization header; None where there is none."""
    header = request.header(b"authorization")
    if header is None:
        return None
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


def _take_off(request: Request, header: bytes) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != header]
