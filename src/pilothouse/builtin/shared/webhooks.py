"""Where a webhook is: by URL or by service, as webhook configurations and conversion webhooks say it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from pilothouse.machinery import names
from pilothouse.machinery.rules import Field
from pilothouse.registry.behaviour import Object

_FORM: Final = "; desired format: https://host[/path]"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def _read(url: str) -> tuple[SplitResult | None, str]:
    """The parts of a URL, or what is wrong with it."""
    if _CONTROL.search(url):
        return None, "net/url: invalid control character in URL"
    if url.startswith(":"):
        return None, "missing protocol scheme"
    if not _SCHEME.match(url) and ":" in url.partition("/")[0]:
        return None, "first path segment in URL cannot contain colon"
    try:
        found = urlsplit(url)
        port = found.netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    except ValueError as error:
        return None, str(error)
    if port and not port.isdigit():
        return None, f'invalid port ":{port}" after host'
    return found, ""


def url(value: str, field: Field) -> None:
    """`https://host[:port][/path]`, and nothing more."""
    found, why = _read(value)
    if found is None:
        field.required("", f'url must be a valid URL: parse "{value}": {why}{_FORM}')
        return
    if found.scheme != "https":
        field.invalid("", found.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    user, at, host = found.netloc.rpartition("@")
    if not host:
        field.invalid("", host, f"host must be specified{_FORM}")
    if at:
        field.invalid("", user, "user information is not permitted in the URL")
    if found.fragment:
        field.invalid("", found.fragment, "fragments are not permitted in the URL")
    if found.query:
        field.invalid("", found.query, "query parameters are not permitted in the URL")


def _path(path: str, field: Field) -> None:
    if path in ("", "/"):
        return
    if path == "//":
        field.invalid("path", path, "segment[0] may not be empty")
        return
    if not path.startswith("/"):
        field.invalid("path", path, "must start with a '/'")
    for index, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            field.invalid("path", path, f"segment[{index}] may not be empty")
            continue
        for why in names.subdomain(step):
            field.invalid("path", path, f"segment[{index}]: {why}")


def _service(value: Object, field: Field) -> None:
    for name in ("name", "namespace"):
        if not value.get(name):
            field.required(name)
    port = value.get("port")
    if port is not None:
        for why in names.port_number(port):
            field.invalid("port", port, f"port is not valid: {why}")
    if value.get("path") is not None:
        _path(value["path"], field)


def client_config(value: Object, field: Field) -> None:
    """Exactly one of a URL and a service."""
    if (value.get("url") is None) == (value.get("service") is None):
        field.required("", "exactly one of url or service is required")
    elif value.get("url") is not None:
        field.within("url", url, value["url"])
    else:
        field.within("service", _service, value["service"])
