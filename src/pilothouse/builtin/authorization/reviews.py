"""Access reviews: may this user, may I (Kubernetes documentation, "Authorization Overview", "Checking API Access")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pilothouse.auth.attributes import Attributes, Authorizer, Decision
from pilothouse.builtin.authorization import rules
from pilothouse.machinery.errors import bad_request, invalid
from pilothouse.machinery.requirements import FieldRequirement
from pilothouse.machinery.rules import Validate
from pilothouse.machinery.selectors import (
    FieldSelector,
    LabelSelector,
    SelectorError,
    label_selector_of,
    read_field_selector,
    read_label_selector,
)
from pilothouse.registry.request import Caller, Write
from pilothouse.registry.resource import Object

if TYPE_CHECKING:
    from pilothouse.builtin.virtuals import VirtualContext

_GROUP: Final = "authorization.k8s.io"
_SELECTING: Final = frozenset({"list", "watch", "deletecollection"})
Asked = Callable[[Object, Write], Caller]  # (spec, request) -> whom a review is about


class AccessReviews:
    """One of the three kinds of review."""

    def __init__(self, context: VirtualContext, validate: Validate, asked: Asked) -> None:
        self._own = context.own
        self._aside = context.aside.run
        self._authorizer: Authorizer = context.identity.authorizer
        self._validate = validate
        self._asked = asked

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """Raises Invalid."""
        obj, attributes, problems = await self._aside(write.load.size, self._read, obj, write)
        decision, reason = self._authorizer.authorize(attributes)
        status: Object = {"allowed": decision is Decision.ALLOW}
        if decision is Decision.DENY:
            status["denied"] = True
        if reason:
            status["reason"] = reason
        if problems:
            status["evaluationError"] = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        return 201, {**obj, "status": status}

    def _read(self, obj: Object, write: Write) -> tuple[Object, Attributes, list[str]]:
        """The object with its metadata, the request that it is about, and what of that could not be read."""
        obj = self._own(obj, write)
        causes = self._validate(obj, None, None)
        if causes:
            raise invalid(_GROUP, "", "", causes)
        spec = obj["spec"]
        return obj, *_attributes(spec, self._asked(spec, write))


def _anyone(spec: Object, write: Write) -> Caller:
    extra = tuple((key, tuple(values or ())) for key, values in (spec.get("extra") or {}).items())
    return Caller(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)


def _oneself(spec: Object, write: Write) -> Caller:
    return write.caller


def _attributes(spec: Object, caller: Caller) -> tuple[Attributes, list[str]]:
    """The request that a review is about, and what of it could not be read."""
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(caller, path.get("verb", ""), False, path.get("path", "")), []
    asked: dict[str, Any] = spec["resourceAttributes"]
    problems: list[str] = []
    fields: FieldSelector | None = None
    labels: LabelSelector | None = None
    if asked.get("verb") in _SELECTING:
        fields, labels = _field_selector(asked, problems), _label_selector(asked, problems)
    return Attributes(
        caller, asked.get("verb", ""), True, "", asked.get("group", ""), asked.get("version", ""),
        asked.get("namespace", ""), asked.get("resource", ""), asked.get("subresource", ""), asked.get("name", ""),
        fields, labels,
    ), problems  # fmt: skip


def _field_selector(asked: dict[str, Any], problems: list[str]) -> FieldSelector | None:
    selector = asked.get("fieldSelector")
    if selector is None:
        return None
    if not selector.get("requirements"):
        try:
            return read_field_selector(selector.get("rawSelector", ""))
        except SelectorError:
            problems.append("spec.resourceAttributes.fieldSelector ignored due to parse error")
            return None
    return FieldSelector(tuple(
        FieldRequirement(one.get("key", ""), one["operator"] == "In", one["values"][0])
        for one in selector["requirements"]
        if one.get("operator") in ("In", "NotIn") and len(one.get("values") or ()) == 1
    ))  # fmt: skip


def _label_selector(asked: dict[str, Any], problems: list[str]) -> LabelSelector | None:
    selector = asked.get("labelSelector")
    if selector is None:
        return None
    try:
        if not selector.get("requirements"):
            return read_label_selector(selector.get("rawSelector", ""))
        return label_selector_of({"matchExpressions": selector["requirements"]})
    except SelectorError:
        problems.append("spec.resourceAttributes.labelSelector ignored due to parse error")
        return None


def access_reviews(context: VirtualContext) -> AccessReviews:
    return AccessReviews(context, rules.access, _anyone)


def self_access_reviews(context: VirtualContext) -> AccessReviews:
    return AccessReviews(context, rules.self_access, _oneself)


def local_access_reviews(context: VirtualContext) -> AccessReviews:
    return AccessReviews(context, rules.local_access, _anyone)


class RulesReviews:
    """SelfSubjectRulesReview: all that the caller may do in a namespace, as far as authorizers can list it."""

    def __init__(self, context: VirtualContext) -> None:
        self._rules = context.identity.rules

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """Raises BadRequest without a namespace."""
        namespace = (obj.get("spec") or {}).get("namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        found = self._rules.rules(write.caller, namespace)
        status: Object = {
            "resourceRules": [
                _shown(verbs=rule.verbs, apiGroups=rule.groups, resources=rule.resources, resourceNames=rule.names)
                for rule in found.resources
            ],
            "nonResourceRules": [_shown(verbs=rule.verbs, nonResourceURLs=rule.paths) for rule in found.paths],
            "incomplete": found.incomplete,
        }
        if found.errors:
            status["evaluationError"] = ", ".join(found.errors)
        made = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": {}, "spec": {}, "status": status}
        return 201, made


def _shown(**members: tuple[str, ...]) -> Object:
    return {name: list(values) for name, values in members.items() if values or name == "verbs"}


def rules_reviews(context: VirtualContext) -> RulesReviews:
    return RulesReviews(context)
