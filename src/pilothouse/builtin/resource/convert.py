"""Between resource.k8s.io/v1beta1 and v1, in which its kinds are stored: v1beta1 has what an exact request asks for
beside its name, and what a device is under `basic`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.registry.resource import Convert

Object = dict[str, Any]
_EXACT: Final = (
    "deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity",
    "derivedAttributes",
)  # fmt: skip
_FLAT: Final = (
    "deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "firstAvailable", "tolerations",
    "capacity", "derivedAttributes",
)  # fmt: skip
_OLD: Final = "v1beta1"
Change = Callable[[Object], Object]


def _nested(request: Object) -> Object:
    """A v1 request of a flat one."""
    exact = {name: request[name] for name in _EXACT if request.get(name) is not None}
    made: Object = {"name": request.get("name", "")}
    if any(value or name == "adminAccess" for name, value in exact.items()):
        made["exactly"] = exact
    if request.get("firstAvailable"):
        made["firstAvailable"] = request["firstAvailable"]
    return made


def _flat(request: Object) -> Object:
    """A flat request of a v1 one."""
    found = {"deviceClassName": "", **(request.get("exactly") or {})}
    if request.get("firstAvailable"):
        found["firstAvailable"] = request["firstAvailable"]
    return {"name": request.get("name", ""), **{name: found[name] for name in _FLAT if name in found}}


def _lifted(device: Object) -> Object:
    """A v1 device of one with its properties under `basic`."""
    return {"name": device.get("name", ""), **(device.get("basic") or {})}


def _lowered(device: Object) -> Object:
    properties = {name: value for name, value in device.items() if name != "name"}
    return {"name": device.get("name", ""), "basic": properties}


def _each(path: tuple[str, ...], change: Change) -> Change:
    """Change every item of the list at a path; what is around it is copied, the rest shared."""
    head, *rest = path

    def changed(obj: Object) -> Object:
        found = obj.get(head)
        if not found:
            return obj
        value = [change(item) for item in found] if not rest else _each(tuple(rest), change)(found)
        return {**obj, head: value}

    return changed


def _pair(path: str, new: Change, old: Change) -> Convert:
    to_new, to_old = _each(tuple(path.split(".")), new), _each(tuple(path.split(".")), old)
    return Convert(
        lambda obj, version: to_new(obj) if version == _OLD else obj,
        lambda obj, version: to_old(obj) if version == _OLD else obj,
    )


claims: Final = _pair("spec.devices.requests", _nested, _flat)
templates: Final = _pair("spec.spec.devices.requests", _nested, _flat)
slices: Final = _pair("spec.devices", _lifted, _lowered)
