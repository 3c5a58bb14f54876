"""Probes and lifecycle hooks of containers, and the handlers they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery import names as words
from pilothouse.machinery.rules import NOT_NEGATIVE, POSITIVE, Field, Rule

_SCHEMES: Final = ("HTTP", "HTTPS")
_TIMES: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_TOO_MANY_HANDLERS: Final = "may not specify more than 1 handler type"

Object = Mapping[str, Any]


def _port(value: int | str, field: Field) -> None:
    if isinstance(value, int):
        field.all_invalid("port", value, words.port_number(value))
    else:
        field.all_invalid("port", value, words.port_name(value))


def _http_get(value: Object, field: Field) -> None:
    if not value.get("path"):
        field.required("path")
    _port(value.get("port", 0), field)
    scheme = value.get("scheme", "")
    if scheme not in _SCHEMES:
        field.not_supported("scheme", scheme, _SCHEMES)
    names = [header.get("name", "") for header in value.get("httpHeaders") or ()]
    for _, name in field.doubtful(names, words.are_header_names):
        field.all_invalid("httpHeaders", name, words.header_name(name))


def _exec(value: Object, field: Field) -> None:
    if not value.get("command"):
        field.required("command")


def _tcp_socket(value: Object, field: Field) -> None:
    _port(value.get("port", 0), field)


def _grpc(value: Object, field: Field) -> None:
    field.all_invalid("port", value.get("port", 0), words.port_number(value.get("port", 0)))


def _sleep(grace: int | None) -> Rule:
    def run(value: Object, field: Field) -> None:
        seconds = value.get("seconds", 0)
        if seconds < 0 or (grace is not None and seconds > grace):
            why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace or 0})"
            field.add("", "FieldValueInvalid", f"Invalid value: {seconds}: {why}")

    return run


_HANDLERS: Final[tuple[tuple[str, Rule], ...]] = (
    ("exec", _exec),
    ("httpGet", _http_get),
    ("tcpSocket", _tcp_socket),
    ("grpc", _grpc),
)


def _handler(value: Object, field: Field, grace: int | None = None) -> None:
    count = 0
    for name, rule in _HANDLERS:
        inner = value.get(name)
        if inner is None:
            continue
        count += 1
        if count > 1:
            field.forbidden(name, _TOO_MANY_HANDLERS)
        else:
            field.within(name, rule, inner)
    if value.get("sleep") is not None:
        count += 1
        if count > 1:
            field.forbidden("sleep", _TOO_MANY_HANDLERS)
        else:
            field.within("sleep", _sleep(grace), value["sleep"])
    if not count:
        field.required("", "must specify a handler type")


def _probe(value: Object, field: Field) -> None:
    _handler(value, field)
    for name in _TIMES:
        number = value.get(name, 0)
        if number < 0:
            field.invalid(name, number, NOT_NEGATIVE)
    grace = value.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        field.invalid("terminationGracePeriodSeconds", grace, POSITIVE)


def _once(value: Object, field: Field) -> None:
    _probe(value, field)
    if value.get("successThreshold", 0) != 1:
        field.invalid("successThreshold", value.get("successThreshold", 0), "must be 1")


def _readiness(value: Object, field: Field) -> None:
    _probe(value, field)
    grace = value.get("terminationGracePeriodSeconds")
    if grace is not None:
        field.invalid("terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")


def probes(container: Object, field: Field) -> None:
    """The three probes of a container."""
    if "livenessProbe" in container:
        field.within("livenessProbe", _once, container["livenessProbe"])
    if "readinessProbe" in container:
        field.within("readinessProbe", _readiness, container["readinessProbe"])
    if "startupProbe" in container:
        field.within("startupProbe", _once, container["startupProbe"])


def lifecycle(value: Object, field: Field, grace: int | None) -> None:
    """Hooks after start and before stop; `grace`: seconds the pod has to stop."""

    def handler(inner: Object, within: Field) -> None:
        _handler(inner, within, grace)

    for name in ("postStart", "preStop"):
        if value.get(name) is not None:
            field.within(name, handler, value[name])
