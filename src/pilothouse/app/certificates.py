"""Makes the CA, the certificates it signs and the signing key of ServiceAccounts. Imported only when one is missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pilothouse.app.keyfiles import FRONT_PROXY, write_file

_CA_DAYS = 3650
_LEAF_DAYS = 365
_RENEW_DAYS = 60  # a CA with less left than this cannot sign for a useful time

Key = ec.EllipticCurvePrivateKey


def make(pki: Path, names: Sequence[str], now: float) -> float:
    """Make what is missing in `pki` (the CA and the ServiceAccount key are kept while they are good) and all leaf
    certificates anew. Returns when the first of them ends, in seconds since 1970."""
    start = datetime.fromtimestamp(now, UTC)
    ca, ca_key = _authority(pki, start, "ca", "pilothouse-ca")
    front, front_key = _authority(pki, start, "front-proxy-ca", "pilothouse-front-proxy-ca")
    if not (pki / "sa.key").is_file():
        write_file(pki / "sa.key", _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    ends = min(ca.not_valid_after_utc, front.not_valid_after_utc, start + timedelta(days=_LEAF_DAYS))
    _leaf(pki, "serving", ca, ca_key, _name("kubernetes"), start, ends, names)
    _leaf(pki, "admin", ca, ca_key, _name("kubernetes-admin", "system:masters"), start, ends, ())
    _leaf(pki, "front-proxy-client", front, front_key, _name(FRONT_PROXY), start, ends, ())
    return ends.timestamp()


def _authority(pki: Path, start: datetime, file: str, common_name: str) -> tuple[x509.Certificate, Key]:
    certificate_file, key_file = pki / f"{file}.crt", pki / f"{file}.key"
    if certificate_file.is_file() and key_file.is_file():
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if isinstance(key, Key) and certificate.not_valid_after_utc - start > timedelta(days=_RENEW_DAYS):
            return certificate, key
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name)
    certificate = (
        _builder(name, name, key, start, start + timedelta(days=_CA_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_file(key_file, _pem(key))
    write_file(certificate_file, certificate.public_bytes(serialization.Encoding.PEM), 0o644)
    return certificate, key


def _leaf(
    pki: Path,
    file: str,
    ca: x509.Certificate,
    ca_key: Key,
    subject: x509.Name,
    start: datetime,
    ends: datetime,
    names: Sequence[str],
) -> None:
    """A certificate for servers if it has names, else for clients."""
    key = ec.generate_private_key(ec.SECP256R1())
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(subject, ca.subject, key, start, ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), False)
    certificate = builder.sign(ca_key, hashes.SHA256())
    write_file(pki / f"{file}.key", _pem(key))
    write_file(pki / f"{file}.crt", certificate.public_bytes(serialization.Encoding.PEM), 0o644)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Key, start: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - timedelta(hours=1))  # clocks differ
        .not_valid_after(ends)
    )


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization is not None:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(key: Key | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
