"""The discovery documents, as dicts whose members are in the original's order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import orjson

from pilothouse.discovery.model import Document, Group, Resource, Subresource, Version
from pilothouse.machinery.groupversion import api_version

AGGREGATED_VERSION: Final = "apidiscovery.k8s.io/v2"
AGGREGATED_KIND: Final = "APIGroupDiscoveryList"
ANY_CLIENT: Final = "0.0.0.0/0"


def api_versions(core: Group, server_address: str) -> Document:
    """/api. `server_address`: `host:port` where clients should connect."""
    return {
        "kind": "APIVersions",
        "versions": [version.name for version in core.versions],
        "serverAddressByClientCIDRs": [{"clientCIDR": ANY_CLIENT, "serverAddress": server_address}],
    }


def group_list(groups: Iterable[Group]) -> Document:
    """/apis, in the order given."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group) for group in groups]}


def group_document(group: Group) -> Document:
    """/apis/GROUP."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)}


def _group(group: Group) -> Document:
    versions = [
        {"groupVersion": api_version(group.name, version.name), "version": version.name} for version in group.versions
    ]
    return {"name": group.name, "versions": versions, "preferredVersion": dict(versions[0])}


def resource_list(group: str, version: Version) -> Document:
    """/api/v1 (which has no apiVersion) and /apis/GROUP/VERSION."""
    shown: list[Document] = []
    for resource in version.resources:
        shown.append(_resource(group, version.name, resource))
        shown.extend(_part(group, version.name, resource, part) for part in resource.subresources)
    head = {"kind": "APIResourceList", "apiVersion": "v1"} if group else {"kind": "APIResourceList"}
    return {**head, "groupVersion": api_version(group, version.name), "resources": shown}


def _foreign(group: str, version: str, kind_group: str, kind_version: str) -> Document:
    """The kind's group and version, where they are not those of the list."""
    if not kind_version or (kind_group, kind_version) == (group, version):
        return {}
    return {"group": kind_group, "version": kind_version} if kind_group else {"version": kind_version}


def _resource(group: str, version: str, resource: Resource) -> Document:
    shown: Document = {
        "name": resource.name,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        **_foreign(group, version, resource.kind_group, resource.kind_version),
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        shown["shortNames"] = list(resource.short_names)
    if resource.categories:
        shown["categories"] = list(resource.categories)
    if resource.storage_version_hash:
        shown["storageVersionHash"] = resource.storage_version_hash
    return shown


def _part(group: str, version: str, resource: Resource, part: Subresource) -> Document:
    return {
        "name": f"{resource.name}/{part.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        **_foreign(group, version, part.kind_group, part.kind_version),
        "kind": part.kind,
        "verbs": list(part.verbs),
    }


def aggregated(groups: Iterable[Group]) -> Document:
    """/api and /apis in their aggregated form."""
    return {
        "kind": AGGREGATED_KIND,
        "apiVersion": AGGREGATED_VERSION,
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group.name} if group.name else {},
                "versions": [_aggregated_version(version) for version in group.versions],
            }
            for group in groups
        ],
    }


def _aggregated_version(version: Version) -> Document:
    shown: Document = {"version": version.name}
    if version.resources:
        shown["resources"] = [_aggregated_resource(resource) for resource in version.resources]
    shown["freshness"] = version.freshness
    return shown


def _kind(of: Resource | Subresource) -> dict[str, str]:
    return {"group": of.kind_group, "version": of.kind_version, "kind": of.kind}


def _aggregated_resource(resource: Resource) -> Document:
    shown: Document = {
        "resource": resource.name,
        "responseKind": _kind(resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        shown["shortNames"] = list(resource.short_names)
    if resource.categories:
        shown["categories"] = list(resource.categories)
    if resource.subresources:
        shown["subresources"] = [
            {"subresource": part.name, "responseKind": _kind(part), "verbs": list(part.verbs)}
            for part in resource.subresources
        ]
    return shown


def etag(document: dict[str, Any]) -> str:
    """Of an aggregated document in any form, with its quotes: SHA-512 of the JSON without kind and apiVersion."""
    counted = {name: value for name, value in document.items() if name not in ("kind", "apiVersion")}
    return f'"{hashlib.sha512(orjson.dumps(counted)).hexdigest().upper()}"'
