"""What the checks read of a pod, and the words they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.goquote import quote

Part = Mapping[str, Any]
_NONE: Final[Part] = {}


@record
class Pod:
    """A pod, or the template of one."""

    annotations: Mapping[str, str]
    spec: Part
    containers: Sequence[Part]  # of the start, ordinary, for debugging

    @property
    def security(self) -> Part:
        return self.spec.get("securityContext") or _NONE

    @property
    def windows(self) -> bool:
        return bool((self.spec.get("os") or _NONE).get("name") == "windows")

    @property
    def own_users(self) -> bool:
        """Whether its users are none of the host's: to be root inside is then to be nobody outside."""
        return self.spec.get("hostUsers") is False

    def named(self, bad: Callable[[Part], bool]) -> list[str]:
        """Names of the containers for which `bad` is true of their security context."""
        return [one.get("name", "") for one in self.containers if bad(security_of(one))]


def pod_of(metadata: Part | None, spec: Part) -> Pod:
    kinds = ("initContainers", "containers", "ephemeralContainers")
    containers = [one for kind in kinds for one in spec.get(kind) or ()]
    return Pod((metadata or _NONE).get("annotations") or _NONE, spec, containers)


def security_of(container: Part) -> Part:
    return container.get("securityContext") or _NONE


@record
class Violation:
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[Pod], "Violation | None"]


def but_own_users(check: Check) -> Check:
    """The check for pods that share the host's users."""
    return lambda pod: None if pod.own_users else check(pod)


def quoted(names: Iterable[str]) -> str:
    return ", ".join(quote(name) for name in names)


def plural(one: str, count: int) -> str:
    return one if count == 1 else f"{one}s"


def containers(names: Sequence[str]) -> str:
    """`container "a"`, `containers "a", "b"`."""
    return f"{plural('container', len(names))} {quoted(names)}"


def setters(pod: bool, names: Sequence[str]) -> str:
    """Who sets something: `pod and containers "a", "b"`."""
    return " and ".join([*(["pod"] if pod else []), *([containers(names)] if names else [])])
