"""Paths of files inside containers and volumes."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field

_BAD_PATH: Final = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"


def domain_prefixed(text: str, field: Field) -> None:
    """A domain and a path, each told by itself where it is not good."""
    domain, slash, path = text.partition("/")
    if not text:
        field.required()
    elif not (domain and slash and path):
        field.invalid("", text, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        field.all_invalid("", domain, names.subdomain(domain))
        if names.url_path(path):
            field.invalid("", path, _BAD_PATH)


def no_backsteps(text: str, field: Field, path: str) -> None:
    """`..` may not be a part of the path."""
    if ".." in text.split("/"):
        field.invalid(path, text, "must not contain '..'")


def descending(text: str, field: Field, path: str) -> None:
    """A relative path that stays below where it starts."""
    if text.startswith("/"):
        field.invalid(path, text, "must be a relative path")
    no_backsteps(text, field, path)


def not_reserved(text: str, field: Field, path: str) -> None:
    """A descending path that does not begin with `..`, which is kept for the kubelet's own files."""
    descending(text, field, path)
    if text.startswith("..") and not text.startswith("../"):
        field.invalid(path, text, "must not start with '..'")
