"""Ingresses: HTTP routes from outside to services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.builtin.networking.references import typed_reference
from pilothouse.builtin.shared import addresses
from pilothouse.builtin.shared.fields import sent_empty
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_RULES: Final = "spec.rules"
CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_IN_PATHS: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_ENDS: Final = ("/..", "/.")
_OLD_CLASS: Final = f"annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
_NO_ADDRESS: Final = "must be a DNS name, not an IP address"


def _service(value: Object, field: Field) -> None:
    name, port = value.get("name", ""), value.get("port") or {}
    field.named("service.name", name, names.label)
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        field.invalid("", "", "cannot set both port name & port number")
    elif port_name:
        field.all_invalid("service.port.name", port_name, names.port_name(port_name))
    elif number:
        field.all_invalid("service.port.number", number, names.port_number(number))
    else:
        field.required("", "port name or number is required")


def _backend(value: Object, field: Field) -> None:
    resource, service = value.get("resource"), value.get("service")
    if resource is not None and service is not None:
        field.invalid("", "", "cannot set both resource and service backends")
    elif resource is not None:
        field.within("resource", typed_reference, resource)
    elif service is not None:
        _service(service, field)
    else:
        field.invalid("", "", "resource or service backend is required")


def _path_text(kind: str, path: str, field: Field) -> None:
    if kind not in _PATH_TYPES:
        field.not_supported("pathType", kind, _PATH_TYPES)
        return
    exact = kind != "ImplementationSpecific"
    if not path.startswith("/") and (path or exact):
        field.invalid("path", path, "must be an absolute path")
    if exact:
        for bad in _BAD_IN_PATHS:
            if bad in path:
                field.invalid("path", path, f"must not contain '{bad}'")
        for bad in _BAD_AT_ENDS:
            if path.endswith(bad):
                field.invalid("path", path, f"cannot end with '{bad}'")


def _path(value: Object, field: Field) -> None:
    kind = value.get("pathType")
    if kind is None:
        field.required("pathType", "pathType must be specified")
        return
    _path_text(kind, value.get("path", ""), field)
    field.within("backend", _backend, value["backend"])


def _host(host: str) -> list[str]:
    if "*" in host:
        return names.wildcard_subdomain(host)
    return names.subdomain(host)


def _rule(value: Object, field: Field) -> None:
    host = value.get("host", "")
    if host and not _was_there(host, field, _rule_hosts):
        if addresses.is_address(host):
            field.invalid("host", host, _NO_ADDRESS)
        field.all_invalid("host", host, _host(host))
    http = value.get("http")
    if http is not None:
        if not http.get("paths"):
            field.required("http.paths")
        field.each("http.paths", _path, http.get("paths"), alone=True)


def _tls(value: Object, field: Field) -> None:
    for index, host in field.doubtful(value.get("hosts") or (), names.are_subdomains):
        field.all_invalid(f"hosts[{index}]", host, _host(host))
    secret = value.get("secretName", "")
    if secret and not _was_there(secret, field, _secrets):
        field.all_invalid("secretName", secret, names.subdomain(secret))


def _rule_hosts(obj: Object) -> frozenset[str]:
    """Wildcard hosts alone: they were checked less strictly once."""
    hosts = (rule.get("host", "") for rule in obj["spec"].get("rules") or ())
    return frozenset(host for host in hosts if "*" in host)


def _secrets(obj: Object) -> frozenset[str]:
    return frozenset(tls.get("secretName", "") for tls in obj["spec"].get("tls") or ())


def _was_there(text: str, field: Field, find: Callable[[Object], frozenset[str]]) -> bool:
    """Whether an update only keeps what an older server let in."""
    return field.updating and text in field.of_old(find)


def _something(value: Object, field: Field) -> None:
    if not value.get("rules") and value.get("defaultBackend") is None:
        field.invalid(
            "", [] if sent_empty(field, _RULES) else None, "either `defaultBackend` or `rules` must be specified"
        )


def _spec(value: Object, field: Field) -> None:
    _something(value, field)
    if value.get("defaultBackend") is not None:
        field.within("defaultBackend", _backend, value["defaultBackend"])
    field.each("rules", _rule, value.get("rules"), alone=True)
    field.each("tls", _tls, value.get("tls"), alone=True)
    class_name = value.get("ingressClassName")
    if class_name is not None:
        field.all_invalid("ingressClassName", class_name, names.subdomain(class_name))


def _class_annotation(value: Object, field: Field) -> None:
    """The annotation of old may stand beside the field only where both say the same; updates are not asked."""
    old_way = (value["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    class_name = value["spec"].get("ingressClassName")
    if not field.updating and old_way is not None and class_name is not None and old_way != class_name:
        path = f"annotations.{CLASS_ANNOTATION}"
        field.invalid(path, old_way, "must match `ingressClassName` when both are specified")


def _points(obj: Object) -> list[Object]:
    return (obj["status"].get("loadBalancer") or {}).get("ingress") or []


def _load_balancer(value: Sequence[Object], field: Field) -> None:
    kept = {point.get("ip", "") for point in _points(field.root_old)} if field.updating else set()

    def point(one: Object, inner: Field) -> None:
        ip, hostname = one.get("ip", ""), one.get("hostname", "")
        if ip:
            addresses.old_address("ip", ip, inner, kept)
        if hostname:
            inner.all_invalid("hostname", hostname, names.subdomain(hostname))
            if addresses.is_address(hostname):
                inner.invalid("hostname", hostname, _NO_ADDRESS)

    field.each("", point, value)


def _warn(new: Object, old: Object | None) -> list[str]:
    annotated = CLASS_ANNOTATION in (new["metadata"].get("annotations") or {})
    if old is None and annotated and new["spec"].get("ingressClassName") is None:
        return [_OLD_CLASS]
    return []


def _warn_status(new: Object, old: Object | None) -> list[str]:
    found: list[str] = []
    for index, point in enumerate(_points(new)):
        found += addresses.address_warnings(f"status.loadBalancer.ingress[{index}]", point.get("ip"))
    return found


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    if old is None:
        new["status"] = {"loadBalancer": {}}


behaviour: Final = Behaviour(
    heeds_empty=(_RULES,),
    prepare=_prepare,
    validate=rules(at("spec", _spec), _class_annotation),
    warn=_warn,
    parts={"status": Part(validate=rules(at("status.loadBalancer.ingress", _load_balancer)), warn=_warn_status)},
)
