"""Who may speak for a signer of certificates."""

from __future__ import annotations

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pilothouse.auth.attributes import Attributes, Decision
from pilothouse.registry.resource import Object

from .world import World, play, refusal


def certificate_request(signer: str, organization: str = "workers") -> Object:
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)])
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    pem = made.public_bytes(serialization.Encoding.PEM)
    spec = {"signerName": signer, "usages": ["client auth"], "request": base64.b64encode(pem).decode()}
    return {"metadata": {"name": "r"}, "spec": spec, "status": {}}


def only(verb: str, name: str) -> object:
    def authorize(asked: Attributes) -> tuple[Decision, str]:
        allowed = (asked.group, asked.resource, asked.verb, asked.name) == (
            "certificates.k8s.io",
            "signers",
            verb,
            name,
        )
        return (Decision.ALLOW if allowed else Decision.NO_OPINION), ""

    return authorize


def approve(obj: Object) -> None:
    obj["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "Fine", "message": "fine"}]}


def fail(obj: Object) -> None:
    failed = {"type": "Failed", "status": "True", "reason": "Later", "message": "later"}
    obj["status"]["conditions"] = [*obj["status"]["conditions"], failed]


def test_approving_needs_the_right_to_the_signer() -> None:
    async def story(world: World) -> None:
        await world.create("certificatesigningrequests", certificate_request("example.com/workers"))
        refused = await refusal(world.update("certificatesigningrequests", "r", approve, subresource="approval"))
        assert refused.code == 403
        assert refused.message.endswith('user not permitted to approve requests with signerName "example.com/workers"')

    play(story, authorize=only("approve", "example.com/others"))


def test_the_right_to_a_domain_is_enough() -> None:
    async def story(world: World) -> None:
        await world.create("certificatesigningrequests", certificate_request("example.com/workers"))
        made = await world.update("certificatesigningrequests", "r", approve, subresource="approval")
        assert made["status"]["conditions"][0]["type"] == "Approved"
        refused = await refusal(world.update("certificatesigningrequests", "r", fail, subresource="status"))
        assert "user not permitted to sign requests" in refused.message

    play(story, authorize=only("approve", "example.com/*"))


def test_the_client_signer_makes_no_administrators() -> None:
    async def story(world: World) -> None:
        masters = certificate_request("kubernetes.io/kube-apiserver-client", "system:masters")
        refused = await refusal(world.create("certificatesigningrequests", masters))
        assert refused.message.endswith(
            "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
        )
        await world.create("certificatesigningrequests", certificate_request("example.com/any", "system:masters"))

    play(story)
