"""Names of signers: `example.com/serving`, a domain and a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field

KUBERNETES: Final = "kubernetes.io/"
_LONGEST_DOMAIN: Final = 253
_LONGEST_NAME: Final = 571
_LONGEST_ANNOTATIONS: Final = 256 * 1024  # all of them, in bytes


def signer_name(value: str, field: Field) -> None:
    domain, slash, path = value.partition("/")
    if not slash or "/" in path or not domain or not path:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        field.invalid("", value, why)
        return
    if len(domain) > _LONGEST_DOMAIN:
        field.too_long("", _LONGEST_DOMAIN)
    labels = domain.split(".")
    for label in labels:
        whys = names.label(label)
        if whys:
            field.invalid("", domain, f'validating label "{label}": {", ".join(whys)}')
    if len(labels) < 2:
        field.invalid("", domain, "should be a domain with at least two segments separated by dots")
    for part in path.split("."):
        whys = names.subdomain(part)
        if whys:
            field.invalid("", path, f'validating label "{part}": {", ".join(whys)}')
    if len(value) > _LONGEST_NAME:
        field.too_long("", _LONGEST_NAME)


def user_annotations(value: Mapping[str, str], field: Field) -> None:
    """What the user of a signer tells it: annotations, all with a domain."""
    for key in field.names(value):
        whys = names.annotation_key(key)
        if not whys and "/" not in key:
            whys = ['must be a domain-prefixed key (such as "acme.io/foo")']
        field.all_invalid("", key, whys)
    if sum(len(key.encode()) + len(text.encode()) for key, text in value.items()) > _LONGEST_ANNOTATIONS:
        field.too_long("", _LONGEST_ANNOTATIONS)
