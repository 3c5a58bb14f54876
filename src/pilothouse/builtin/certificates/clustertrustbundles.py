"""Cluster trust bundles: certificates that workloads trust, of one signer or of nobody in particular."""

from __future__ import annotations

from typing import Final

from cryptography import x509

from pilothouse.builtin.certificates import pem
from pilothouse.builtin.certificates.signers import signer_name
from pilothouse.builtin.shared.fields import fixed
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, if_changed, rules
from pilothouse.registry.behaviour import Behaviour, Object

_HIDDEN: Final = "<value omitted>"


def _name(value: Object, field: Field) -> None:
    """A bundle of a signer carries the signer's name before its own."""
    name, signer = value["metadata"].get("name", ""), value["spec"].get("signerName", "")
    prefix = signer.replace("/", ":") + ":" if signer else ""
    if not name:
        return
    if not name.startswith(prefix):
        why = f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        field.invalid("metadata.name", name, why)
    elif not signer and ":" in name:
        field.invalid("metadata.name", name, 'ClusterTrustBundle without signer name must not have ":" in its name')
    else:
        field.all_invalid("metadata.name", name, names.subdomain(name.removeprefix(prefix)))


def _entry_problem(block: pem.Block) -> str:
    if block.label != "CERTIFICATE":
        return f"has bad block type: {block.label}"
    if block.headers:
        return "has PEM block headers"
    try:
        extensions = x509.load_der_x509_certificate(block.content).extensions
        constraints = extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return "does not have the CA bit set"
    except ValueError:
        return "does not parse as X.509"
    return "" if constraints.ca else "does not have the CA bit set"


def _bundle(value: Object, field: Field) -> None:
    seen: dict[bytes, list[int]] = {}
    for index, block in enumerate(pem.blocks(value.get("trustBundle", ""))):
        problem = _entry_problem(block)
        if problem:
            field.invalid("trustBundle", _HIDDEN, f"entry {index} {problem}")
        seen.setdefault(block.content, []).append(index)
    if not seen:
        field.invalid("trustBundle", _HIDDEN, "at least one trust anchor must be provided")
    for indices in seen.values():
        if len(indices) > 1:
            shown = " ".join(map(str, indices))
            field.invalid("trustBundle", _HIDDEN, f"duplicate trust anchor (indices [{shown}])")


behaviour: Final = Behaviour(
    validate=rules(
        _name,
        at("spec.signerName", signer_name),
        at("spec", if_changed(_bundle)),
        at("spec.signerName", fixed()),
    )
)
