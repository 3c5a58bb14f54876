"""Certificate signing requests, trust bundles, certificates of pods."""

import base64
import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from writes import Kind

REQUESTS = Kind("certificates.k8s.io", "certificatesigningrequests")
BUNDLES = Kind("certificates.k8s.io", "clustertrustbundles")
PODS = Kind("certificates.k8s.io", "podcertificaterequests")
KEY = ec.generate_private_key(ec.SECP256R1())
NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "carol")])


def encoded(key=KEY, form=Encoding.PEM):
    made = x509.CertificateSigningRequestBuilder().subject_name(NAME).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(form)).decode()


def certificate(*, authority):
    day = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    made = x509.CertificateBuilder().subject_name(NAME).issuer_name(NAME).public_key(KEY.public_key())
    made = made.serial_number(1).not_valid_before(day).not_valid_after(day + datetime.timedelta(days=9))
    made = made.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    return made.sign(KEY, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def request(**spec):
    return {"spec": {"request": encoded(), "signerName": "example.com/s", "usages": ["any"], **spec}}


def approved(status="True", kind="Approved"):
    return {"status": {"conditions": [{"type": kind, "status": status, "reason": "R"}]}}


def test_who_asks_is_written_by_the_server():
    made, _ = REQUESTS.create(request(username="mallory", groups=["system:masters"], extra={"a": ["b"]}), user="carol")
    assert made["spec"]["username"] == "carol"
    assert "groups" not in made["spec"] and "extra" not in made["spec"]


def test_what_was_asked_for_stays():
    made, _ = REQUESTS.create(request())
    changed, _ = REQUESTS.change(made, {"spec": {"usages": ["signing"]}, "metadata": {"labels": {"a": "b"}}})
    assert changed["spec"] == made["spec"]
    assert changed["metadata"]["labels"] == {"a": "b"}


def test_an_approval_is_stamped_and_final():
    made, _ = REQUESTS.create(request())
    done, _ = REQUESTS.change(made, approved(), "approval")
    [condition] = done["status"]["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] == "2026-11-29T12:00:00Z"
    assert REQUESTS.causes({**done, "status": {}}, done, "approval") == [
        ("status.conditions", 'Forbidden: updates may not remove a condition of type "Approved"')
    ]


def test_a_signer_does_not_approve():
    made, _ = REQUESTS.create(request())
    assert REQUESTS.causes({**made, **approved()}, made, "status") == [
        ("status.conditions", 'Forbidden: updates may not add a condition of type "Approved"')
    ]


def test_an_approval_cannot_be_false():
    made, _ = REQUESTS.create(request())
    assert REQUESTS.causes({**made, **approved("False")}, made, "approval") == [
        ("status.conditions[0].status", 'Unsupported value: "False": supported values: "True"')
    ]


def test_a_certificate_is_given_once():
    made, _ = REQUESTS.create(request())
    text = base64.b64encode(certificate(authority=False).encode()).decode()
    done, _ = REQUESTS.change(made, {"status": {"certificate": text}}, "status")
    other = base64.b64encode((certificate(authority=False) + "\n").encode()).decode()
    assert REQUESTS.causes({**done, "status": {"certificate": other}}, done, "status") == [
        ("status.certificate", "Forbidden: updates may not modify existing certificate content")
    ]


def test_a_bundle_holds_certificates_of_authorities():
    BUNDLES.create({"spec": {"trustBundle": "# roots\n" + certificate(authority=True)}})
    assert BUNDLES.causes({"spec": {"trustBundle": certificate(authority=False)}}) == [
        ("spec.trustBundle", 'Invalid value: "<value omitted>": entry 0 does not have the CA bit set')
    ]


def test_a_bundle_of_a_signer_carries_its_name():
    body = {"spec": {"signerName": "example.com/ca", "trustBundle": certificate(authority=True)}}
    BUNDLES.create({**body, "metadata": {"name": "example.com:ca:one"}})
    [(field, message)] = BUNDLES.causes({**body, "metadata": {"name": "one"}})
    assert field == "metadata.name"
    assert message.endswith("must be named with prefix example.com:ca:")


def pod_request(key):
    names = {"podName": "p", "podUID": "u", "serviceAccountName": "s", "serviceAccountUID": "u", "nodeName": "n"}
    stub = encoded(key, Encoding.DER)
    return {"spec": {"signerName": "example.com/pods", "nodeUID": "u", "stubPKCS10Request": stub, **names}}


def test_a_pods_certificate_lasts_a_day_and_its_key_is_strong():
    made, _ = PODS.create(pod_request(KEY))
    assert made["spec"]["maxExpirationSeconds"] == 86400
    assert PODS.causes(pod_request(ec.generate_private_key(ec.SECP224R1()))) == [
        (
            "spec.stubPKCS10Request",
            'Invalid value: "curve P-224": elliptic public keys must use curve P256, P384, or P521',
        )
    ]


def test_a_denial_is_final():
    made, _ = PODS.create(pod_request(KEY))
    denied = {"type": "Denied", "status": "True", "reason": "R", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    done, _ = PODS.change(made, {"status": {"conditions": [denied]}}, "status")
    [(field, _)] = PODS.causes({**done, "status": {}}, done, "status")
    assert field == "status"
