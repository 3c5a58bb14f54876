"""What the documents are made of: which resources a group version has, and what their bodies are called.

The types are neutral: built-in kinds and custom resources are told in the same words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Protocol

from pilothouse.kit.record import record

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
CBOR: Final = "application/cbor"
CBOR_SEQUENCE: Final = "application/cbor-seq"

Schema = dict[str, Any]


@record
class Body:
    """A kind as body of requests and answers; `definition` is its name among the schemas."""

    group: str
    version: str
    kind: str
    definition: str


@record
class Part:
    """A subresource.

    `connect`: HTTP methods of a connection to something behind the server; then `options` names its parameters and
    `with_path` says that a path may follow. `options` of a part that is read are parameters of its GET.
    """

    name: str
    body: Body
    verbs: tuple[str, ...]
    connect: tuple[str, ...] = ()
    with_path: bool = False
    options: str = ""
    plain_text: bool = False


@record
class Resource:
    """One resource of a group version.

    `answers_deleted`: DELETE answers the object. `watch_paths`: it has the legacy paths under /watch/.
    """

    name: str
    namespaced: bool
    body: Body
    list_definition: str
    verbs: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    answers_deleted: bool = False
    watch_paths: bool = True


@record
class GroupVersion:
    """All resources of one version of a group (the core group is "")."""

    group: str
    version: str
    resources: tuple[Resource, ...]

    @property
    def path(self) -> str:
        """`api/v1`, `apis/apps/v1`: how the index calls its document."""
        return f"apis/{self.group}/{self.version}" if self.group else f"api/{self.version}"


class Definitions(Protocol):
    """The schemas, by name, in their v3 form (`description`, `type`, ... in the original's order)."""

    def schema(self, name: str) -> Schema:
        """One schema, made anew (the caller may change it). Raises KeyError."""
        ...


@record
class Style:
    """How a kind of server is described: what it speaks, in the order of the Swagger document, and a few habits.

    `watch`: what is added where a watch may be the answer.
    """

    objects: tuple[str, ...] = (JSON, YAML, PROTOBUF)
    watch: tuple[str, ...] = (JSON + ";stream=watch", PROTOBUF + ";stream=watch")
    patches: tuple[str, ...] = (
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    )
    bodies: tuple[str, ...] = ("*/*",)
    lists_resources: bool = True
    creates_by_patch: bool = True
    reads_at_revision: bool = False
    deletes_with_options: bool = True


USUAL: Final = Style()
WITH_CBOR: Final = Style(
    objects=(*USUAL.objects, CBOR),
    watch=(*USUAL.watch, CBOR_SEQUENCE),
    patches=(*USUAL.patches, "application/apply-patch+cbor"),
)
CUSTOM: Final = Style(
    objects=(JSON, YAML),
    watch=(),
    patches=("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"),
    bodies=(JSON, YAML),
    lists_resources=False,
    creates_by_patch=False,
    reads_at_revision=True,
    deletes_with_options=False,
)
CUSTOM_WITH_CBOR: Final = replace(
    CUSTOM,
    objects=(*CUSTOM.objects, CBOR),
    patches=(*CUSTOM.patches, "application/apply-patch+cbor"),
    bodies=(*CUSTOM.bodies, CBOR),
)
