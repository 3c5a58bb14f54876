"""The row of a pod: what its containers and init containers say together."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import NONE, Object, age, is_true, items, moment, name, part
from pilothouse.endpoints.table import Age

_DONE: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def cells(obj: Object) -> list[Any]:
    """Name, ready, status, restarts, age, IP, node, nominated node, readiness gates."""
    spec, status = part(obj, "spec"), part(obj, "status")
    ready, total, reason, restarts = _containers(obj, spec, status)
    return [
        name(obj),
        f"{ready}/{total}",
        reason,
        restarts,
        age(obj),
        _address(status),
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def conditions(obj: Object) -> list[dict[str, str]] | None:
    """A pod that will not run again is Completed; kubectl uses it to colour or hide rows."""
    phase = part(obj, "status").get("phase")
    if phase not in _DONE:
        return None
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _DONE[phase]}]


class _Restarts:
    """How often containers were restarted, and when the last of them had ended."""

    __slots__ = ("count", "last")

    def __init__(self) -> None:
        self.count = 0
        self.last: float | None = None

    def add(self, container: Object) -> None:
        self.count += container.get("restartCount") or 0
        last = container.get("lastState")
        if last and (ended := last.get("terminated")):
            at = moment(ended.get("finishedAt"))
            if at is not None and (self.last is None or at > self.last):
                self.last = at

    def cell(self) -> Age | str:
        if self.count and self.last is not None:
            return Age(self.last, f"{self.count} (", " ago)")
        return str(self.count)


def _containers(obj: Object, spec: Object, status: Object) -> tuple[int, int, str, Age | str]:
    """How many are ready, of how many, in which state the pod is, and the restarts."""
    reason: str = status.get("reason") or status.get("phase") or ""
    found = items(status, "conditions")
    for one in found:
        if one.get("type") == "PodScheduled" and one.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    sidecars = {one.get("name") for one in items(spec, "initContainers") if one.get("restartPolicy") == "Always"}
    total = len(items(spec, "containers")) + len(sidecars)
    ready, waiting, restarts, of_sidecars = _initialising(spec, status, sidecars)
    if not waiting or is_true(found, "Initialized"):
        restarts = of_sidecars
        more, reason = _running(status, waiting or reason, restarts, is_true(found, "Ready"))
        ready += more
    else:
        reason = waiting
    return ready, total, _going(obj, status, reason), restarts.cell()


def _initialising(spec: Object, status: Object, sidecars: set[Any]) -> tuple[int, str, _Restarts, _Restarts]:
    """Ready sidecars, the state of the first unfinished init container ("" if all are done), the restarts so far."""
    ready = 0
    restarts, of_sidecars = _Restarts(), _Restarts()
    for index, container in enumerate(items(status, "initContainerStatuses")):
        restarts.add(container)
        is_sidecar = container.get("name") in sidecars
        if is_sidecar:
            of_sidecars.add(container)
        state = part(container, "state")
        ended = state.get("terminated")
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            ready += bool(container.get("ready"))
            continue
        waiting = part(state, "waiting").get("reason")
        if ended is not None:
            shown = _ending(ended)
        elif waiting and waiting != "PodInitializing":
            shown = waiting
        else:
            shown = f"{index}/{len(items(spec, 'initContainers'))}"
        return ready, f"Init:{shown}", restarts, of_sidecars
    return ready, "", restarts, of_sidecars


def _running(status: Object, reason: str, restarts: _Restarts, is_ready: bool) -> tuple[int, str]:
    """How many containers are ready, and the reason that the first one with something to say gives."""
    ready = 0
    for container in reversed(items(status, "containerStatuses")):
        restarts.add(container)
        state = part(container, "state")
        ended = state.get("terminated")
        if waiting := part(state, "waiting").get("reason"):
            reason = waiting
        elif ended is not None:
            reason = _ending(ended)
        elif container.get("ready") and state.get("running") is not None:
            ready += 1
    if reason == "Completed" and ready:
        reason = "Running" if is_ready else "NotReady"
    return ready, reason


def _ending(ended: Object) -> str:
    """Why a container ended: its reason, the signal or the exit code."""
    if reason := ended.get("reason"):
        return str(reason)
    signal = ended.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{ended.get('exitCode') or 0}"


def _going(obj: Object, status: Object, reason: str) -> str:
    if not part(obj, "metadata").get("deletionTimestamp"):
        return reason
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return reason if status.get("phase") in _DONE else "Terminating"


def _address(status: Object) -> str:
    addresses = items(status, "podIPs")
    found = addresses[0].get("ip") if addresses else status.get("podIP")
    return found or NONE


def _gates(spec: Object, status: Object) -> str:
    gates = items(spec, "readinessGates")
    if not gates:
        return NONE
    found = items(status, "conditions")
    return f"{sum(_open(gate.get('conditionType'), found) for gate in gates)}/{len(gates)}"


def _open(gate: str | None, found: list[Object]) -> bool:
    """The first condition of the gate's type decides."""
    for one in found:
        if one.get("type") == gate:
            return bool(one.get("status") == "True")
    return False
