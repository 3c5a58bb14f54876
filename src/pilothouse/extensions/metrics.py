"""What custom resources cost: documents made anew, and updates that are looked at twice. Names, labels and buckets are
the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pilothouse.cel.metrics import ExpressionMetrics
from pilothouse.extensions.definition import Definition, Served
from pilothouse.kit.metrics import Counter, Histogram, Registry

_BOUNDS: Final = tuple(0.00001 * 4**power for power in range(10))
_COMPARED: Final = (
    "[ALPHA] Time for comparison of old to new for the purposes of CRDValidationRatcheting during an UPDATE in seconds."
)
_V2: Final = "[ALPHA] Counter of OpenAPI v2 spec regeneration count broken down by causing CRD name and reason."
_V3: Final = (
    "[ALPHA] Counter of OpenAPI v3 spec regeneration count broken down by group, version, causing CRD and reason."
)
Place = tuple[str, str, str]  # group, version, name of the definition


class CustomMetrics(ExpressionMetrics):
    """`now` gives seconds. `compared`: how long it took to tell what of an update that is not valid was so before."""

    def __init__(self, registry: Registry, now: Callable[[], float]) -> None:
        super().__init__(registry, now)
        name = "apiextensions_apiserver_validation_ratcheting_seconds"
        self.compared = registry.add(Histogram(name, _COMPARED, (), _BOUNDS)).bind().observe
        self._v2 = registry.add(Counter("apiextensions_openapi_v2_regeneration_count", _V2, ("crd", "reason")))
        third = ("group", "version", "crd", "reason")
        self._v3 = registry.add(Counter("apiextensions_openapi_v3_regeneration_count", _V3, third))
        self._shown: dict[Place, Definition] = {}

    def published(self, found: Served) -> None:
        """The documents tell of these definitions from now on."""
        shown = {(group, version, one.name): one for (group, version), several in found.items() for one, _ in several}
        second: dict[str, str] = {}
        for place, reason in _changes(self._shown, shown):
            self._v3.bind(*place, reason).add()
            second[place[2]] = "update" if second.get(place[2], reason) != reason else reason
        for crd, reason in second.items():
            self._v2.bind(crd, reason).add()
        self._shown = shown


def _changes(before: dict[Place, Definition], after: dict[Place, Definition]) -> Iterator[tuple[Place, str]]:
    """What came, goes or is another now."""
    for place, definition in after.items():
        old = before.get(place)
        if old is None:
            yield place, "add"
        elif old is not definition:
            yield place, "update"
    for place in before.keys() - after.keys():
        yield place, "remove"
