"""The paths that belong to no version of a group: discovery's own, /version, and the OpenID documents."""

from __future__ import annotations

from typing import Final

from pilothouse.openapi.model import JSON, META, USUAL, Style
from pilothouse.openapi.operations import TEXT, Operation, Path, camel, title

VERSION_INFO: Final = "io.k8s.apimachinery.pkg.version.Info"


def _read(
    path: str,
    operation_id: str,
    description: str,
    tag: str,
    definition: str,
    produces: tuple[str, ...],
    accepts: tuple[str, ...] | None,
) -> Path:
    operation = Operation(
        method="get",
        id=operation_id,
        description=description,
        tag=tag,
        parameters=(),
        accepts=accepts,
        produces=produces,
        answers=((200, definition), (401, TEXT)),
    )
    return Path(path, (operation,))


def core(style: Style = USUAL) -> Path:
    """/api/: which versions the core group has."""
    told = "get available API versions"
    return _read("/api/", "getCoreAPIVersions", told, "core", META + "APIVersions", style.objects, style.objects)


def groups(style: Style = USUAL) -> Path:
    """/apis/: the groups."""
    told = "get available API versions"
    return _read("/apis/", "getAPIVersions", told, "apis", META + "APIGroupList", style.objects, style.objects)


def group(name: str, style: Style = USUAL) -> Path:
    """/apis/GROUP/."""
    tag = camel(name)
    return _read(
        f"/apis/{name}/",
        f"get{title(tag)}APIGroup",
        "get information of a group",
        tag,
        META + "APIGroup",
        style.objects,
        style.objects,
    )


def version() -> Path:
    """/version/."""
    told = "get the version information for this server"
    return _read("/version/", "getCodeVersion", told, "version", VERSION_INFO, (JSON,), (JSON,))


def issuer() -> Path:
    """/.well-known/openid-configuration/."""
    return _read(
        "/.well-known/openid-configuration/",
        "getServiceAccountIssuerOpenIDConfiguration",
        "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
        "WellKnown",
        TEXT,
        (JSON,),
        None,
    )


def keys() -> Path:
    """/openid/v1/jwks/."""
    return _read(
        "/openid/v1/jwks/",
        "getServiceAccountIssuerOpenIDKeyset",
        "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
        "openid",
        TEXT,
        ("application/jwk-set+json",),
        None,
    )
