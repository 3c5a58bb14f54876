"""Which writes webhooks and policies want to see: rules on operations and resources, selectors of the namespace and of
the object (Kubernetes documentation, "Dynamic Admission Control", "Matching requests").

What depends on the kind of write alone is found once (`Criteria.form`); selectors are asked for each write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.admission.forms import Form
from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.kit.record import record
from pilothouse.machinery.errors import internal, not_found
from pilothouse.machinery.selectors import NOTHING, LabelSelector, SelectorError, label_selector_of
from pilothouse.registry.resource import Object

GROUP: Final = "admissionregistration.k8s.io"  # of what is never asked about: configurations and policies
_ANY: Final = "*"
_CLUSTER: Final = "Cluster"
_NAMESPACED: Final = "Namespaced"
_NAMESPACES: Final = ("", "namespaces")
_NO_LABELS: Final[Mapping[str, str]] = {}


@record
class Kind:
    """What rules look at, of one kind of write. `own` is the form of the request, `others` are equal to it."""

    operation: str
    own: Form
    others: Sequence[Form]
    subresource: str
    namespaced: bool


@record
class Rule:
    """One rule with operations. `resources`: pairs of resource and subresource."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> Rule:
        pairs = tuple(
            (resource, part) for resource, _, part in (one.partition("/") for one in rule.get("resources") or ())
        )
        return cls(
            frozenset(rule.get("operations") or ()),
            frozenset(rule.get("apiGroups") or ()),
            frozenset(rule.get("apiVersions") or ()),
            pairs,
            rule.get("scope") or _ANY,
            frozenset(rule.get("resourceNames") or ()),
        )

    def takes(self, kind: Kind, form: Form, name: str | None) -> bool:
        """Whether it is about such a write, seen in a form. `name` None: names are not looked at."""
        return (
            (not self.names or name is None or name in self.names)
            and _among(kind.operation, self.operations)
            and _among(form.group, self.groups)
            and _among(form.version, self.versions)
            and self._takes_scope(kind)
            and any(
                resource in (_ANY, form.plural) and part in (_ANY, kind.subresource)
                for resource, part in self.resources
            )
        )

    def _takes_scope(self, kind: Kind) -> bool:
        if self.scope == _CLUSTER:
            return not kind.namespaced
        return self.scope != _NAMESPACED or kind.namespaced


def _among(value: str, wanted: frozenset[str]) -> bool:
    return value in wanted or _ANY in wanted


class Criteria:
    """All that one webhook or policy says about the writes it wants. `what` holds namespaceSelector, objectSelector
    and matchPolicy; `rules` and `excluded` are lists of rules as they stand in a configuration. `all_without`: without
    rules all writes are wanted.
    """

    def __init__(
        self,
        what: Mapping[str, Any],
        rules: Sequence[Mapping[str, Any]],
        excluded: Sequence[Mapping[str, Any]] = (),
        *,
        all_without: bool = False,
    ) -> None:
        self._all = all_without
        self._rules = [Rule.of(rule) for rule in rules]
        self._excluded = [Rule.of(rule) for rule in excluded]
        self._equivalent = what.get("matchPolicy") != "Exact"
        self._broken = ""
        self._namespace = self._selector(what.get("namespaceSelector"))
        self._object = self._selector(what.get("objectSelector"))

    def _selector(self, selector: Mapping[str, Any] | None) -> LabelSelector:
        try:
            return label_selector_of(dict(selector or {}))
        except SelectorError as error:  # validation refuses it: others wrote it to the store
            self._broken = str(error)
            return NOTHING

    def form(self, kind: Kind, name: str | None = None) -> Form | None:
        """In which form it wants to see such writes; None where it does not. Without rules it wants all.

        `name` of the object decides where rules say names; without it (None) all that may be wanted is.
        """
        if name is not None or not any(rule.names for rule in self._excluded):
            if self._taken(self._excluded, kind, name) is not None:
                return None
        return self._taken(self._rules, kind, name) if self._rules or not self._all else kind.own

    def _taken(self, rules: Sequence[Rule], kind: Kind, name: str | None) -> Form | None:
        if any(rule.takes(kind, kind.own, name) for rule in rules):
            return kind.own
        for form in kind.others if self._equivalent else ():
            if any(rule.takes(kind, form, name) for rule in rules):
                return form
        return None

    @property
    def asks_name(self) -> bool:
        """Whether `form` needs the name."""
        return any(rule.names for rule in (*self._rules, *self._excluded))

    @property
    def asks_namespace(self) -> bool:
        """Whether `selects` needs the labels of the namespace."""
        return not self._namespace.empty

    def selects(self, attributes: Attributes, labels: Mapping[str, str] | None) -> bool:
        """Whether the selectors take a write. `labels`: of its namespace, as `namespace_labels` gives them.

        Raises InternalError for selectors that cannot be read.
        """
        if self._broken:
            raise internal(self._broken)
        if labels is not None and not self._namespace.matches(labels):
            return False
        return self._object.empty or self._object_matches(attributes.obj) or self._object_matches(attributes.old)

    def _object_matches(self, obj: Object | None) -> bool:
        metadata = obj.get("metadata") if obj is not None else None
        return metadata is not None and self._object.matches(metadata.get("labels") or _NO_LABELS)


async def namespace_labels(attributes: Attributes, namespaces: Reader) -> Mapping[str, str] | None:
    """The labels that namespace selectors look at; None where there is no namespace, which selects all.

    A Namespace that is written has its new labels already. Raises NotFound for a namespace that is not there.
    """
    resource, write = attributes.resource, attributes.write
    name = write.namespace
    if (resource.group, resource.plural) == _NAMESPACES:
        if attributes.operation in (CREATE, UPDATE) and not write.subresource:
            return _labels(attributes.obj)
        name = write.name
    if not name:
        return None
    namespace = await namespaces.get("", name)
    if namespace is None:
        raise not_found(*_NAMESPACES, name)
    return _labels(namespace)


def _labels(obj: Object | None) -> Mapping[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or _NO_LABELS
