"""A certificate and its private key as PEM text: what the original's library says of a pair that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pilothouse.builtin.certificates.pem import blocks

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

_CERTIFICATE: Final = "CERTIFICATE"
_KEY: Final = "PRIVATE KEY"
_SWITCHED: Final = (
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
    "PEM inputs may have been switched"
)
_OTHER_TYPE: Final = "tls: private key type does not match public key type"
_OTHER_KEY: Final = "tls: private key does not match public key"


def pair_problem(certificate: bytes, key: bytes) -> str:
    """What is wrong with a pair; nothing where the key is that of the certificate."""
    skipped: list[str] = []
    found = None
    for block in blocks(certificate.decode("latin-1")):
        if block.label != _CERTIFICATE:
            skipped.append(block.label)
        elif found is None:
            found = block.content
    if found is None:
        return _no_certificate(skipped)
    skipped = []
    for block in blocks(key.decode("latin-1")):
        if block.label == _KEY or block.label.endswith(f" {_KEY}"):
            return _mismatch(found, block.content)
        skipped.append(block.label)
    return _no_key(skipped)


def _no_certificate(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in certificate input"
    if len(skipped) == 1 and skipped[0].endswith(_KEY):
        return _SWITCHED
    types = f"after skipping PEM blocks of the following types: [{' '.join(skipped)}]"
    return f'tls: failed to find "{_CERTIFICATE}" PEM block in certificate input {types}'


def _no_key(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in key input"
    if skipped == [_CERTIFICATE]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    types = f"after skipping PEM blocks of the following types: [{' '.join(skipped)}]"
    return f'tls: failed to find PEM block with type ending in "{_KEY}" in key input {types}'


def _read_key(der: bytes) -> PrivateKeyTypes | None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        return load_der_private_key(der, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def _mismatch(certificate: bytes, key: bytes) -> str:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        public = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "x509: malformed certificate"
    private = _read_key(key)
    if private is None:
        return "tls: failed to parse private key"
    own = private.public_key()
    if type(own) is not type(public):
        return _OTHER_TYPE
    return "" if own == public else _OTHER_KEY
