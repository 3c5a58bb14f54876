"""Client certificates against the bundle of trusted authorities (Kubernetes documentation, "X509 client certificates").

`cryptography` is loaded when the first certificate comes: a server without such clients never pays for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pilothouse.kit.record import record

if TYPE_CHECKING:
    from cryptography import x509


class CertificateError(ValueError):
    """The certificate is not to be trusted, or can't be read. `until`: when a readable one ends or ended."""

    def __init__(self, text: str, until: datetime | None = None) -> None:
        super().__init__(text)
        self.until = until


@record
class Subject:
    common_name: str
    organizations: tuple[str, ...]
    not_after: datetime


class ClientAuthority:
    """The authorities of `--client-ca-file`, PEM."""

    def __init__(self, bundle: bytes) -> None:
        self._bundle = bundle
        self._authorities: list[x509.Certificate] | None = None

    def verify(self, der: bytes, now: datetime) -> Subject:
        """The subject of a certificate that one of the authorities signed and that is valid for clients now.

        Raises CertificateError.
        """
        from cryptography import x509
        from cryptography.exceptions import InvalidSignature
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

        if self._authorities is None:
            self._authorities = x509.load_pem_x509_certificates(self._bundle)
        try:
            certificate = x509.load_der_x509_certificate(der)
        except ValueError as error:
            raise CertificateError(str(error)) from error
        until = certificate.not_valid_after_utc
        if not certificate.not_valid_before_utc <= now <= until:
            raise CertificateError("x509: certificate has expired or is not yet valid", until)
        if not self._signed(certificate, (InvalidSignature, ValueError, TypeError)):
            raise CertificateError("x509: certificate signed by unknown authority", until)
        try:
            usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        except x509.ExtensionNotFound:
            usage = None
        if (
            usage is not None
            and ExtendedKeyUsageOID.CLIENT_AUTH not in usage
            and ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE not in usage
        ):
            raise CertificateError("x509: certificate specifies an incompatible key usage", until)
        names = [str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        groups = tuple(
            str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
        )
        if not names:
            raise CertificateError("x509: certificate has no common name", until)
        return Subject(names[-1], groups, until)

    def _signed(self, certificate: x509.Certificate, failures: tuple[type[Exception], ...]) -> bool:
        for authority in self._authorities or ():
            if authority.subject != certificate.issuer:
                continue
            try:
                certificate.verify_directly_issued_by(authority)
            except failures:
                continue
            return True
        return False
