"""Pod certificate requests: a kubelet asks for a certificate for a pod, with a key that only the pod has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.certificates import keys
from pilothouse.builtin.certificates.signers import KUBERNETES, signer_name, user_annotations
from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, Rule, at, defaults, on_create, required, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

_SHORTEST: Final = 3600  # seconds
_LONGEST: Final = 7862400
_LONGEST_OF_KUBERNETES: Final = 86400
_LONGEST_UID: Final = 128
_ONE_KEY: Final = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
_VERDICTS: Final = ("Denied", "Failed", "Issued")
_FINAL: Final = "immutable after PodCertificateRequest is issued, denied, or failed"
_EMPTY: Final = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
_ONE_VERDICT: Final = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
# The original's own form of the spec and the status, in its order.
_SPEC: Final = (
    "SignerName", "PodName", "PodUID", "ServiceAccountName", "ServiceAccountUID", "NodeName", "NodeUID",
    "MaxExpirationSeconds", "PKIXPublicKey", "ProofOfPossession", "StubPKCS10Request", "UnverifiedUserAnnotations",
)  # fmt: skip
_STATUS: Final = ("Conditions", "CertificateChain", "NotBefore", "BeginRefreshAt", "NotAfter")
_TEXTS: Final = frozenset({*_SPEC[:7], "CertificateChain"})

_fill = defaults({"spec.maxExpirationSeconds": _LONGEST_OF_KUBERNETES})


def _internal(value: Object, fields: Sequence[str]) -> dict[str, Any]:
    special = {"PKIXPublicKey": "pkixPublicKey"}
    shown = {}
    for name in fields:
        found = value.get(special.get(name, name[0].lower() + name[1:]))
        shown[name] = "" if found is None and name in _TEXTS else found
    return shown


def _named(name: str) -> Rule:
    def run(value: Object, field: Field) -> None:
        text = value.get(name, "")
        field.all_invalid(name, text, names.subdomain(text))

    return run


def _uid(name: str) -> Rule:
    def run(value: Object, field: Field) -> None:
        text = value.get(name, "")
        if not text:
            field.invalid(name, text, "must not be empty")
        if len(text) > _LONGEST_UID:
            field.too_long(name, _LONGEST_UID)

    return run


def _lifetime(value: Object, field: Field) -> None:
    seconds = value.get("maxExpirationSeconds")
    most = _LONGEST_OF_KUBERNETES if value.get("signerName", "").startswith(KUBERNETES) else _LONGEST
    if seconds is None:
        field.required("maxExpirationSeconds", "must be set")
    elif not _SHORTEST <= seconds <= most:
        field.invalid("maxExpirationSeconds", seconds, f"must be in the range [{_SHORTEST}, {most}]")


def _unshown(field: Field, path: str, why: str) -> None:
    """A cause whose value the original keeps to itself."""
    field.add(path, "FieldValueInvalid", f"Invalid value: {why}")


def _key_strength(key: object, field: Field, path: str) -> None:
    problem = keys.key_problem(key)
    if problem is not None:
        field.invalid(path, problem[0], problem[1])


def _key(value: Object, field: Field) -> None:
    stub, key, proof = (value.get(name) for name in ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession"))
    if bool(stub) == bool(key or proof):
        _unshown(field, "", _ONE_KEY)
    elif stub:
        request = keys.read_request(keys.decoded(stub))
        if request is None:
            _unshown(field, "stubPKCS10Request", "must be a valid PKCS#10 CSR")
        elif keys.signature_problem(request):
            _unshown(field, "stubPKCS10Request", "must be self-signed")
        else:
            _key_strength(keys.request_key(request), field, "stubPKCS10Request")
    else:
        _separate_key(value, field)


def _separate_key(value: Object, field: Field) -> None:
    key = keys.read_key(keys.decoded(value.get("pkixPublicKey")))
    if key is None:
        _unshown(field, "pkixPublicKey", "must be a valid PKIX-serialized public key")
        return
    before = len(field.found)
    _key_strength(key, field, "pkixPublicKey")
    proof = keys.decoded(value.get("proofOfPossession"))
    if len(field.found) == before and not keys.proves(key, value.get("podUID", "").encode(), proof):
        _unshown(field, "proofOfPossession", "could not verify proof-of-possession signature")


def _spec_stays(value: Object, field: Field) -> None:
    if field.updating and value != field.root_old["spec"]:
        field.invalid("", _internal(value, _SPEC), IMMUTABLE)


# -- status


def _verdict(value: Object) -> list[str]:
    return [one["type"] for one in value.get("conditions") or () if one.get("type") in _VERDICTS]


def _condition(one: Object, field: Field) -> None:
    kind, status = one.get("type", ""), one.get("status", "")
    if kind not in _VERDICTS:
        field.not_supported("type", kind, _VERDICTS)
    elif status != "True":
        field.not_supported("status", status, ("True",))


def _status(value: Object, field: Field) -> None:
    old = field.root_old["status"]
    if value == old:
        return
    if _verdict(old):
        field.invalid("", _internal(value, _STATUS), _FINAL)
        return
    for index, one in field.numbered(value.get("conditions") or ()):
        field.within(f"conditions.[{index}]", _condition, one)  # the odd dot is the original's
    found = _verdict(value)
    if len(found) > 1:
        field.invalid("conditions", value["conditions"], _ONE_VERDICT)
    filled = [name for name in ("certificateChain", "notBefore", "beginRefreshAt", "notAfter") if value.get(name)]
    if found and found[0] != "Issued" and filled:
        field.invalid("", _internal(value, _STATUS), _EMPTY)
    elif found == ["Issued"]:
        for name in ("certificateChain", "notBefore", "beginRefreshAt", "notAfter"):
            if not value.get(name):
                field.required(name, "must be set when issuing the PodCertificateRequest")


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        on_create(at("spec.signerName", required, signer_name)),
        on_create(at("spec.unverifiedUserAnnotations", user_annotations)),
        on_create(
            at(
                "spec",
                _named("podName"),
                _uid("podUID"),
                _named("serviceAccountName"),
                _uid("serviceAccountUID"),
                _named("nodeName"),
                _uid("nodeUID"),
                _lifetime,
                _key,
            )
        ),
        at("spec", _spec_stays),
    ),
    parts={"status": Part(validate=rules(at("status", _status)))},
)
