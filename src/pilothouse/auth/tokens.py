"""Signed tokens: the keys that sign and verify service account tokens, and what others need to verify them (RFC 7515,
7517).

The crypto libraries are loaded at the first token: a server without service accounts never pays for them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

_CURVES: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_MEMBERS: Final = ("use", "kty", "kid", "crv", "alg", "n", "e", "x", "y")
_NEW_KEY_BITS: Final = 2048
ALGORITHMS: Final = ("RS256", "ES256", "ES384", "ES512")


class BadToken(ValueError):
    """Not a token, or not signed by a key of ours."""


class Key:
    """One key pair, or a public key. `kid` is the unpadded base64url SHA-256 of the public key's DER."""

    def __init__(self, pem: bytes) -> None:
        """PEM of an RSA or EC key. Raises ValueError."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        from joserfc.errors import InvalidKeyTypeError
        from joserfc.jwk import ECKey, RSAKey

        self.jose: RSAKey | ECKey
        try:
            self.jose = RSAKey.import_key(pem)
            self.algorithm = "RS256"
        except InvalidKeyTypeError:
            self.jose = ECKey.import_key(pem)
            self.algorithm = _CURVES[self.jose.curve_name]
        der = self.jose.public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.kid = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()

    def public(self) -> dict[str, Any]:
        """As a JSON web key."""
        shown: dict[str, Any] = {
            **self.jose.as_dict(private=False),
            "use": "sig",
            "kid": self.kid,
            "alg": self.algorithm,
        }
        return {name: shown[name] for name in _MEMBERS if name in shown}


class Signer:
    """Signs with one key and verifies with that and others. `pems` is asked once, at first use: the first one signs."""

    def __init__(self, pems: Callable[[], Sequence[bytes]]) -> None:
        self._pems = pems
        self._keys: list[Key] = []

    @property
    def keys(self) -> Sequence[Key]:
        if not self._keys:
            self._keys = self._load()
        return self._keys

    def _load(self) -> list[Key]:
        return [Key(pem) for pem in self._pems()]

    async def ready(self) -> None:
        """Load keys and libraries beside the loop, which takes a tenth of a second the first time."""
        if not self._keys:
            self._keys = await asyncio.to_thread(self._load)

    def sign(self, claims: dict[str, Any]) -> str:
        """A compact JWS of the claims, whose members are written in alphabetical order."""
        from joserfc import jws

        key = self.keys[0]
        payload = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
        return jws.serialize_compact({"alg": key.algorithm, "kid": key.kid}, payload, key.jose, list(ALGORITHMS))

    def verify(self, token: str) -> dict[str, Any]:
        """The claims of a token that one of the keys signed. Raises BadToken."""
        from joserfc import jws
        from joserfc.errors import JoseError

        header = _part(token, 0)
        for key in self.keys:
            if header.get("kid") not in (None, key.kid) or header.get("alg") != key.algorithm:
                continue
            try:
                signed = jws.deserialize_compact(token, key.jose, [key.algorithm])
            except (JoseError, ValueError):
                continue
            return _object(signed.payload)
        raise BadToken("failed to verify signature")


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a token, whoever made it. Raises BadToken."""
    return _part(token, 1)


def _part(token: str, index: int) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) != 3:
        raise BadToken("not a compact JWS")
    try:
        raw = base64.urlsafe_b64decode(parts[index] + "=" * (-len(parts[index]) % 4))
    except ValueError as error:
        raise BadToken(str(error)) from error
    return _object(raw)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadToken(str(error)) from error
    if not isinstance(value, dict):
        raise BadToken("not a JSON object")
    return value


def new_key() -> bytes:
    """PEM of a new RSA key, for a server that was given none."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(public_exponent=65537, key_size=_NEW_KEY_BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
