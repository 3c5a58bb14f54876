"""AdmissionReviews: what webhooks are told of a write (Kubernetes documentation, "Dynamic Admission Control")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from pilothouse.admission.forms import Form, Forms, view
from pilothouse.admission.plugin import CONNECT, CREATE, DELETE, UPDATE, Attributes
from pilothouse.kit.aside import Aside
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.registry.request import Caller
from pilothouse.registry.resource import Object

P = ParamSpec("P")
T = TypeVar("T")
GROUP: Final = "admission.k8s.io"
KIND: Final = "AdmissionReview"
VERSIONS: Final = ("v1", "v1beta1")
_OPTIONS: Final = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}
_NAMESPACES: Final = ("", "namespaces")


def own_form(attributes: Attributes, forms: Forms) -> Form:
    """The form in which a write was sent; the preferred one for writes of the server's own."""
    found = forms.all()
    resource, version = attributes.resource, attributes.write.version
    return next((form for form in found if (form.group, form.version) == (resource.group, version)), found[0])


class Shown:
    """The objects of one write in the forms that webhooks want, each made once until the object is changed.

    `final`: the new object is as it will be stored, over the old one. `aside`: where work on big ones is done.
    """

    def __init__(self, attributes: Attributes, forms: Forms, aside: Aside, *, final: bool) -> None:
        self._aside = aside
        self._final = final
        self.attributes = attributes
        self.forms = forms
        self.own = own_form(attributes, forms)
        self.foreign = attributes.foreign or attributes.operation == CONNECT
        self._new: dict[Form, Object] = {}
        self._old: dict[Form, Object] = {}

    async def new(self, form: Form) -> Object | None:
        """Read only. Raises an APIError where it cannot be converted."""
        return await self._shown(self.attributes.obj, form, self._new, self._named)

    async def old(self, form: Form) -> Object | None:
        return await self._shown(self.attributes.old, form, self._old, lambda obj: None)

    async def beside(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Do what takes its time with a big object."""
        return await self._aside.run(self.attributes.write.load.size, work, *arguments, **named)

    def changed(self) -> None:
        """The new object is another one now."""
        self._new.clear()

    async def _shown(
        self, obj: Object | None, form: Form, made: dict[Form, Object], finish: Callable[[Object], None]
    ) -> Object | None:
        if obj is None:
            return None
        found = made.get(form)
        if found is None:
            found = made[form] = view(obj, *_type(obj)) if self.foreign else await self.forms.shown(obj, form)
            finish(found)
        return found

    def _named(self, obj: Object) -> None:
        """A new object says its namespace, also where it was left to the URL."""
        namespace = self.attributes.write.namespace
        if namespace and "metadata" in obj:
            obj["metadata"].setdefault("namespace", namespace)
        old = self.attributes.old
        if self._final and old is not None and "metadata" in obj:
            revision = old["metadata"].get("resourceVersion")
            if revision:
                obj["metadata"]["resourceVersion"] = revision

    def kind(self, form: Form) -> dict[str, str]:
        """Group, version and kind of the objects in a form."""
        if not self.foreign:
            return {"group": form.group, "version": form.version, "kind": form.kind}
        obj = self.attributes.obj or self.attributes.old or {}
        group, _, version = obj.get("apiVersion", "").rpartition("/")
        return {"group": group, "version": version, "kind": obj.get("kind", "")}


def _type(obj: Object) -> tuple[str, str]:
    return obj.get("kind", ""), obj.get("apiVersion", "")


async def request_of(shown: Shown, form: Form, uid: str) -> dict[str, Any]:
    """The `request` of a review. What it holds is shared: read only."""
    attributes, own = shown.attributes, shown.own
    write, operation = attributes.write, attributes.operation
    request: dict[str, Any] = {
        "uid": uid,
        "kind": shown.kind(form),
        "resource": _resource(form),
        "requestKind": shown.kind(own),
        "requestResource": _resource(own),
    }
    if write.subresource:
        request["subResource"] = request["requestSubResource"] = write.subresource
    name, namespace = name_of(attributes), namespace_of(attributes)
    if name:
        request["name"] = name
    if namespace:
        request["namespace"] = namespace
    request["operation"] = operation
    request["userInfo"] = user_info(write.caller)
    request["object"] = await shown.new(form)
    request["oldObject"] = await shown.old(form)
    request["dryRun"] = write.dry_run
    request["options"] = options_of(attributes)
    return request


def review(version: str, request: dict[str, Any]) -> bytes:
    """The body of a call. `version`: of the review."""
    return dumps({"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": request})


def name_of(attributes: Attributes) -> str:
    """The name of what is written; "" where it has none yet, or is one of many that are deleted."""
    write = attributes.write
    if write.collection:
        return ""
    return write.name or ((attributes.obj or {}).get("metadata") or {}).get("name") or ""


def namespace_of(attributes: Attributes) -> str:
    """A Namespace is in the namespace of its name."""
    resource = attributes.resource
    if (resource.group, resource.plural) == _NAMESPACES:
        return name_of(attributes)
    return attributes.write.namespace


def options_of(attributes: Attributes) -> dict[str, Any] | None:
    """The options as they were sent; a connection has none of its own."""
    kind = _OPTIONS.get(attributes.operation)
    if kind is None:
        return None
    return {"kind": kind, "apiVersion": "meta.k8s.io/v1", **attributes.write.sent()}


def user_info(caller: Caller) -> dict[str, Any]:
    shown: dict[str, Any] = {"username": caller.name}
    if caller.uid:
        shown["uid"] = caller.uid
    if caller.groups:
        shown["groups"] = list(caller.groups)
    if caller.extra:
        shown["extra"] = {name: list(values) for name, values in caller.extra}
    return shown


def _resource(form: Form) -> dict[str, str]:
    return {"group": form.group, "version": form.version, "resource": form.plural}
