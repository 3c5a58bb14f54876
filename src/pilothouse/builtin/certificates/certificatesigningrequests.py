"""Certificate signing requests: who asked for a certificate, whether that was approved, and the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.certificates import keys, pem
from pilothouse.builtin.certificates.signers import signer_name
from pilothouse.builtin.shared.userfields import user_fields
from pilothouse.machinery.rules import Field, at, each_once, on_create, repeated, required, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_USAGES: Final = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip
_VERDICTS: Final = ("Approved", "Denied")
_ALWAYS_TRUE: Final = frozenset({"Approved", "Denied", "Failed"})
_STATUSES: Final = ("False", "True", "Unknown")
_LEGACY: Final = "kubernetes.io/legacy-unknown"
_SHORTEST: Final = 600  # seconds
_HIDDEN: Final = "<certificate data>"


# -- what is written by whom


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """Who asks is written by the server; what was asked for stays."""
    if old is not None:
        new["spec"] = old["spec"]
        return
    spec = new["spec"]
    for name in ("username", "uid", "groups", "extra"):
        spec.pop(name, None)
    spec.update(user_fields(context.user, context.uid, context.groups, context.extra))


def _prepare_approval(new: Object, old: Object | None, context: Context) -> None:
    """Conditions alone are written here."""
    if old is None:
        return
    new["spec"] = old["spec"]
    _keep(new["status"], old["status"], "certificate")
    _stamp(new, old, context)


def _prepare_status(new: Object, old: Object | None, context: Context) -> None:
    """The signer's part: its verdicts stay as they were approved."""
    if old is None:
        return
    before = {one.get("type"): one for one in old["status"].get("conditions") or ()}
    conditions = new["status"].get("conditions") or []
    for index, one in enumerate(conditions):
        if one.get("type") in _VERDICTS and one["type"] in before:
            conditions[index] = before[one["type"]]
    _stamp(new, old, context)


def _keep(target: Object, source: Object, name: str) -> None:
    if name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def _stamp(new: Object, old: Object, context: Context) -> None:
    """Times that a client left out are now; the last transition is the old one where the status is."""
    now = format_time(context.now)
    before = {one.get("type"): one for one in old["status"].get("conditions") or ()}
    for one in new["status"].get("conditions") or ():
        if not one.get("lastUpdateTime"):
            one["lastUpdateTime"] = now
        if not one.get("lastTransitionTime"):
            was = before.get(one.get("type"), {})
            same = was.get("status") == one.get("status") and was.get("lastTransitionTime")
            one["lastTransitionTime"] = was["lastTransitionTime"] if same else now


# -- what is refused


def _request(value: Object, field: Field) -> None:
    text = value.get("request")
    found = next(pem.blocks(keys.decoded(text).decode("latin-1")), None)
    if found is None or found.label != keys.REQUEST:
        field.invalid("request", text, f"PEM block type must be {keys.REQUEST}")
        return
    request = keys.read_request(found.content)
    if request is None:
        field.invalid("request", text, "asn1: structure error")
        return
    problem = keys.signature_problem(request)
    if problem:
        field.invalid("request", text, problem)


def _usages(value: Object, field: Field) -> None:
    usages: Sequence[str] = value.get("usages") or ()
    if not usages:
        field.required("usages")
    for index, usage in field.numbered(usages):
        if usage not in _USAGES:
            field.not_supported(f"usages[{index}]", usage, _USAGES)
    for index, usage in field.until_full(repeated(usages, str)):
        field.duplicate(f"usages[{index}]", usage)


def _signer(value: str, field: Field) -> None:
    if value == _LEGACY:
        field.invalid("", value, "the legacy signerName is not allowed via this API version")
    else:
        signer_name(value, field)


def _lifetime(value: int, field: Field) -> None:
    if value < _SHORTEST:
        why = f"may not specify a duration less than {_SHORTEST} seconds ({_SHORTEST // 60} minutes)"
        field.invalid("", value, why)


def _condition(value: Object, field: Field) -> None:
    kind, status = value.get("type", ""), value.get("status", "")
    if not kind:
        field.required("type")
    supported = ("True",) if kind in _ALWAYS_TRUE else _STATUSES
    if status not in supported:
        field.outside("status", status, supported)


_conditions: Final = each_once("type", _condition)


def _one_verdict(value: Sequence[Object], field: Field) -> None:
    kinds = {one.get("type") for one in value}
    if kinds.issuperset(_VERDICTS):
        members = [f'conditions[{{"type": "{verdict}"}}]' for verdict in _VERDICTS]
        why = "must specify at most one of: " + ", ".join(f"`{member}`" for member in members)
        field.invalid("", "{" + ", ".join(members) + "}", why)


def _certificate(value: str, field: Field) -> None:
    found = 0
    for block in pem.blocks(keys.decoded(value).decode("latin-1")):
        if block.label != "CERTIFICATE":
            field.invalid("", _HIDDEN, f'only CERTIFICATE PEM blocks are allowed, found "{block.label}"')
            return
        if block.headers:
            field.invalid("", _HIDDEN, "no PEM block headers are permitted")
            return
        found += 1
    if not found:
        field.invalid("", _HIDDEN, "must contain at least one CERTIFICATE PEM block")


def _verdicts_stay(may_add: bool) -> Any:
    def run(value: Object, field: Field) -> None:
        if not field.updating:
            return
        old, new = (
            [one.get("type") for one in status.get("conditions") or () if one.get("type") in _ALWAYS_TRUE]
            for status in (field.root_old["status"], value)
        )
        for kind in old:
            if kind not in new:
                field.forbidden("conditions", f'updates may not remove a condition of type "{kind}"')
        for kind in () if may_add else new:
            if kind in _VERDICTS and kind not in old:
                field.forbidden("conditions", f'updates may not add a condition of type "{kind}"')

    return run


def _certificate_stays(value: Object, field: Field) -> None:
    if not field.updating:
        return
    before, certificate = field.root_old["status"].get("certificate"), value.get("certificate")
    if before and certificate != before:
        field.forbidden("certificate", "updates may not modify existing certificate content")


_status_rules: Final = (
    at("status.conditions", _conditions),
    at("status.certificate", _certificate),
)

behaviour: Final = Behaviour(
    prepare=_prepare,
    validate=rules(
        on_create(at("spec", _request, _usages)),
        on_create(at("spec.signerName", required, _signer)),
        on_create(at("spec.expirationSeconds", _lifetime)),
    ),
    parts={
        "approval": Part(
            prepare=_prepare_approval,
            validate=rules(
                *_status_rules,
                at("status", _verdicts_stay(may_add=True), _certificate_stays),
                at("status.conditions", _one_verdict),
            ),
        ),
        "status": Part(
            prepare=_prepare_status,
            validate=rules(
                *_status_rules,
                at("status", _verdicts_stay(may_add=False), _certificate_stays),
                at("status.conditions", _one_verdict),
            ),
        ),
    },
)
