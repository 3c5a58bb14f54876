"""Public keys and requests in their encoded forms: what is wrong with them, in the original's words."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import load_der_public_key

REQUEST: Final = "CERTIFICATE REQUEST"
_CURVES: Final = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224"}
_STRONG_CURVES: Final = ("P-256", "P-384", "P-521")
_STRONG_MODULI: Final = (3072, 4096)
_SHA256: Final = utils.Prehashed(hashes.SHA256())


def decoded(text: str | None) -> bytes:
    """The bytes of a base64 field, which the decoder has checked."""
    try:
        return base64.b64decode(text or "", validate=True)
    except binascii.Error:
        return b""


def read_request(der: bytes) -> x509.CertificateSigningRequest | None:
    """A PKCS#10 request; None where the bytes are none."""
    try:
        return x509.load_der_x509_csr(der)
    except ValueError:
        return None


def signature_problem(request: x509.CertificateSigningRequest) -> str:
    """What the original says of a request that its own key has not signed; nothing where it has."""
    try:
        good = request.is_signature_valid
    except (UnsupportedAlgorithm, ValueError):
        return "x509: cannot verify signature: algorithm unimplemented"
    if good:
        return ""
    if isinstance(_key_of(request), ec.EllipticCurvePublicKey):
        return "x509: ECDSA verification failure"
    if isinstance(_key_of(request), ed25519.Ed25519PublicKey):
        return "x509: Ed25519 verification failure"
    return "crypto/rsa: verification error"


def _key_of(request: x509.CertificateSigningRequest) -> object:
    try:
        return request.public_key()
    except (UnsupportedAlgorithm, ValueError):
        return None


def key_problem(key: object) -> tuple[str, str] | None:
    """(what is shown, why) of a key that is too weak or of no supported kind."""
    if isinstance(key, ed25519.Ed25519PublicKey):
        return None
    if isinstance(key, ec.EllipticCurvePublicKey):
        curve = _CURVES.get(key.curve.name, key.curve.name)
        if curve in _STRONG_CURVES:
            return None
        return f"curve {curve}", "elliptic public keys must use curve P256, P384, or P521"
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size in _STRONG_MODULI:
            return None
        return f"{key.key_size}-bit modulus", "RSA keys must have modulus size 3072 or 4096"
    return "unknown key type", "unknown public key type; supported types are Ed25519, ECDSA, and RSA"


def request_key(request: x509.CertificateSigningRequest) -> object:
    """The key that a request is for; None where it is of no known kind."""
    return _key_of(request)


def read_key(der: bytes) -> object:
    """A PKIX public key; None where the bytes are none."""
    try:
        return load_der_public_key(der)
    except (ValueError, UnsupportedAlgorithm):
        return None


def proves(key: object, message: bytes, signature: bytes) -> bool:
    """Whether the signature over the message was made with the key's other half."""
    digest = hashlib.sha256(message).digest()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, digest, ec.ECDSA(_SHA256))
        elif isinstance(key, rsa.RSAPublicKey):
            pss = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=padding.PSS.AUTO)
            key.verify(signature, digest, pss, _SHA256)
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, message)
        else:
            return False
    except InvalidSignature:
        return False
    return True
