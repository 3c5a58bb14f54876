"""CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest: who may speak for a
signer (Kubernetes documentation, "Certificate Signing Requests").
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final

from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.auth.attributes import Attributes as Asked
from pilothouse.auth.attributes import Decision
from pilothouse.registry.request import Caller
from pilothouse.registry.resource import Object, Resource

Authorize = Callable[[Asked], "tuple[Decision, str]"]
_GROUP: Final = "certificates.k8s.io"
_REQUESTS: Final = (_GROUP, "certificatesigningrequests")
_BUNDLES: Final = (_GROUP, "clustertrustbundles")
_CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = "system:masters"


def allowed_for_signer(authorize: Authorize, caller: Caller, verb: str, signer: str) -> bool:
    """Whether the caller has a right to the signer, or to all signers of its domain (`example.com/*`)."""
    domain = signer.partition("/")[0]
    for name in (signer, f"{domain}/*"):
        path = f"/apis/{_GROUP}/v1/signers/{name}"
        asked = Asked(caller, verb, True, path, _GROUP, "*", "", "signers", "", name)
        if authorize(asked)[0] is Decision.ALLOW:
            return True
    return False


class _ForSigner:
    """The plug-in `name`: a write to `subresource` needs the right `verb` to the signer."""

    def __init__(self, name: str, subresource: str, verb: str, authorize: Authorize) -> None:
        self.name = name
        self._subresource = subresource
        self._verb = verb
        self._authorize = authorize

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _REQUESTS and operation == UPDATE

    async def check(self, attributes: Attributes) -> None:
        if attributes.write.subresource != self._subresource or attributes.old is None:
            return
        if not self._concerns(attributes.obj or {}, attributes.old):
            return
        signer = (attributes.old.get("spec") or {}).get("signerName", "")
        if not allowed_for_signer(self._authorize, attributes.write.caller, self._verb, signer):
            raise refuse(attributes, f'user not permitted to {self._verb} requests with signerName "{signer}"')

    def _concerns(self, new: Object, old: Object) -> bool:
        """An approval always; a status only where it changes the certificate or the conditions."""
        return self._subresource == "approval" or _signed(new) != _signed(old)


def _signed(request: Object) -> tuple[object, ...]:
    status = request.get("status") or {}
    return status.get("certificate"), status.get("conditions") or []


def certificate_approval(authorize: Authorize) -> _ForSigner:
    return _ForSigner("CertificateApproval", "approval", "approve", authorize)


def certificate_signing(authorize: Authorize) -> _ForSigner:
    return _ForSigner("CertificateSigning", "status", "sign", authorize)


class CertificateSubjectRestriction:
    """The signer of API clients makes no administrators."""

    name = "CertificateSubjectRestriction"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _REQUESTS and operation == CREATE

    async def check(self, attributes: Attributes) -> None:
        spec = (attributes.obj or {}).get("spec") or {}
        if attributes.write.subresource or spec.get("signerName") != _CLIENT_SIGNER:
            return
        if _MASTERS in _organizations(spec.get("request", "")):
            raise refuse(attributes, f"use of {_CLIENT_SIGNER} signer with {_MASTERS} group is not allowed")


def _organizations(encoded: str) -> list[str]:
    """Organizations in the subject of a request in PEM in base64; validation saw that it can be read."""
    # The library takes a tenth of the time to start.
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    request = x509.load_pem_x509_csr(base64.b64decode(encoded))
    return [str(one.value) for one in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


class ClusterTrustBundleAttest:
    """A bundle that speaks for a signer is written by who may attest for it."""

    name = "ClusterTrustBundleAttest"

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == _BUNDLES and operation in (CREATE, UPDATE)

    async def check(self, attributes: Attributes) -> None:
        signer = ((attributes.obj or {}).get("spec") or {}).get("signerName", "")
        if not signer or attributes.write.subresource or _same_spec(attributes):
            return
        if not allowed_for_signer(self._authorize, attributes.write.caller, "attest", signer):
            raise refuse(attributes, f'user not permitted to attest for signerName "{signer}"')


def _same_spec(attributes: Attributes) -> bool:
    """An update of metadata alone, as the garbage collector makes, is anybody's."""
    new, old = attributes.obj, attributes.old
    return new is not None and old is not None and new.get("spec") == old.get("spec")
