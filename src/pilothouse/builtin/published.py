"""The facts of the built-in resources in the neutral words of discovery and OpenAPI.

Which versions are served is the caller's decision: `served_by_default` is what an original with default flags does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pilothouse.builtin.facts import GroupFacts, ResourceFacts, SubresourceFacts
from pilothouse.builtin.types import META, definition_name
from pilothouse.discovery.model import Group, Resource, Subresource, Version
from pilothouse.openapi import model as openapi

Served = Callable[[ResourceFacts], bool]


def served_by_default(resource: ResourceFacts) -> bool:
    return resource.default


def discovery_package(kind: str) -> str:
    """The Go package of a discovery document's type, for `builtin_types().get`."""
    return "k8s.io/api/apidiscovery/v2" if kind == "APIGroupDiscoveryList" else META


def discovery_groups(groups: Iterable[GroupFacts], resources: Iterable[ResourceFacts], served: Served) -> list[Group]:
    """The groups that have a served resource, in the order of /apis, core first."""
    by_version: dict[tuple[str, str], list[Resource]] = {}
    for resource in resources:
        if served(resource):
            by_version.setdefault((resource.group, resource.version), []).append(_resource(resource))
    found = []
    for group in groups:
        versions = tuple(
            Version(version.version, tuple(by_version[group.name, version.version]))
            for version in group.versions
            if (group.name, version.version) in by_version
        )
        if versions:
            found.append(Group(group.name, versions))
    return found


def _resource(resource: ResourceFacts) -> Resource:
    return Resource(
        name=resource.plural,
        singular=resource.singular,
        kind=resource.kind,
        namespaced=resource.namespaced,
        verbs=resource.verbs,
        short_names=resource.short_names,
        categories=resource.categories,
        storage_version_hash=resource.storage_version_hash,
        subresources=tuple(_part(resource, part) for part in resource.subresources),
    )


def _part(resource: ResourceFacts, part: SubresourceFacts) -> Subresource:
    if (part.group, part.version) == (resource.group, resource.version):
        return Subresource(part.name, part.kind, part.verbs)
    return Subresource(part.name, part.kind, part.verbs, part.group, part.version)


_CONNECT_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_STREAM_METHODS: Final = ("get", "post")
# Where the documents say of DELETE something else than what it was measured to answer.
_SAYS_STATUS: Final = frozenset({("v1", "namespaces"), ("v1", "customresourcedefinitions")})
_SAYS_OBJECT: Final = frozenset(
    {("v1beta2", "devicetaintrules"), ("v1alpha3", "devicetaintrules"), ("v1alpha3", "resourcepoolstatusrequests")}
)


def openapi_version(group: str, version: str, resources: Iterable[ResourceFacts]) -> openapi.GroupVersion:
    """One group version in the words of OpenAPI; `resources` are its served ones."""
    return openapi.GroupVersion(group, version, tuple(_described(resource) for resource in resources))


def _described(resource: ResourceFacts) -> openapi.Resource:
    definition = definition_name(resource.package, resource.kind)
    return openapi.Resource(
        name=resource.plural,
        namespaced=resource.namespaced,
        body=openapi.Body(resource.group, resource.version, resource.kind, definition),
        list_definition=definition + "List",
        verbs=resource.verbs,
        parts=tuple(_described_part(part) for part in resource.subresources),
        answers_deleted=_says_object(resource),
    )


def _says_object(resource: ResourceFacts) -> bool:
    name = (resource.version, resource.plural)
    return name in _SAYS_OBJECT or (resource.rules.delete_answers_object and name not in _SAYS_STATUS)


def _described_part(part: SubresourceFacts) -> openapi.Part:
    body = openapi.Body(part.group, part.version, part.kind, definition_name(part.package, part.kind))
    if part.name == "log":
        return openapi.Part(part.name, body, part.verbs, options="PodLogOptions", plain_text=True)
    if not part.kind.endswith("Options"):
        return openapi.Part(part.name, body, part.verbs)
    proxy = part.name == "proxy"
    methods = _CONNECT_METHODS if proxy else _STREAM_METHODS
    return openapi.Part(part.name, body, part.verbs, connect=methods, with_path=proxy, options=part.kind)
