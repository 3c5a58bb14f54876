"""Paths of files inside containers and volumes."""

from __future__ import annotations

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field


def domain_path(text: str) -> bool:
    """`example.com/some/path`: a subdomain, a slash, and a path."""
    domain, slash, path = text.partition("/")
    return bool(slash and path) and not names.subdomain(domain) and not names.url_path(path)


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
