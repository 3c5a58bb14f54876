"""Defaults as a table, compiled to one generated function for each table.

    fill = defaults({
        "spec.replicas": 1,
        "spec.strategy.type": "RollingUpdate",
        "spec.strategy.rollingUpdate": when_is("type", "RollingUpdate", {}),
        "spec.template": pod_template_defaults,       # another table, run inside where the value is there
        "spec.ports[].protocol": "TCP",               # every item of a list
        "spec.selector": computed(from_template),     # (parent, whole object) -> value, or None for none
    })

Lines work in the order written. A default is filled in only where its parent is there: the decoder makes the structs
that the original has always (`spec`, `resources`), and an absent pointer gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pilothouse.kit.record import record

Defaults = Callable[[dict[str, Any]], None]
Make = Callable[[dict[str, Any], dict[str, Any]], Any]


@record
class Computed:
    """A default that depends on the rest: `make(parent, whole object)`; None leaves the field out."""

    make: Make


@record
class WhenIs:
    """A default that applies where a sibling has a certain value."""

    sibling: str
    value: Any
    default: Any


def computed(make: Make) -> Computed:
    return Computed(make)


def when_is(sibling: str, value: Any, default: Any) -> WhenIs:
    return WhenIs(sibling, value, default)


class _Writer:
    """Writes the source of one table's function. Values that are not plain data are its globals."""

    def __init__(self) -> None:
        self.lines = ["def fill(o0):"]
        self.names: dict[str, Any] = {}
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return f"o{self._count}"

    def give(self, value: Any) -> str:
        name = f"g{len(self.names)}"
        self.names[name] = value
        return name

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def made(self) -> Defaults:
        if len(self.lines) == 1:
            self.line(1, "pass")
        exec("\n".join(self.lines), self.names)  # the source is made of table keys and literals only
        fill: Defaults = self.names["fill"]
        return fill


def _merge(table: Mapping[str, Any]) -> dict[str, Any]:
    """Neighbouring lines with the same first step become one branch, so that a parent is looked up once."""
    tree: dict[str, Any] = {}
    for path, value in table.items():
        step, _, rest = path.partition(".")
        if not rest:
            tree[_unique(tree, step)] = value
            continue
        last = next(reversed(tree), "")
        if last.rstrip("~") == step and isinstance(tree[last], _Branch):
            tree[last].table[rest] = value
        else:
            tree[_unique(tree, step)] = _Branch({rest: value})
    return tree


def _unique(tree: Mapping[str, Any], step: str) -> str:
    while step in tree:
        step += "~"
    return step


@dataclass(slots=True)
class _Branch:
    table: dict[str, Any]

    def is_inside(self) -> bool:
        """Whether all lines are about members of members."""
        return all("." in path or path.endswith("[]") for path in self.table)


def _write(out: _Writer, owner: str, depth: int, table: Mapping[str, Any]) -> None:
    for key, value in _merge(table).items():
        step = key.rstrip("~")
        listed = step.endswith("[]")
        name = step.removesuffix("[]")
        if isinstance(value, _Branch) or callable(value):
            _write_inside(out, owner, depth, name, listed, value)
        elif isinstance(value, Computed):
            found = out.fresh()
            out.line(depth, f"if {name!r} not in {owner}:")
            out.line(depth + 1, f"{found} = {out.give(value.make)}({owner}, o0)")
            out.line(depth + 1, f"if {found} is not None: {owner}[{name!r}] = {found}")
        elif isinstance(value, WhenIs):
            condition = f"{name!r} not in {owner} and {owner}.get({value.sibling!r}) == {value.value!r}"
            out.line(depth, f"if {condition}: {owner}[{name!r}] = {value.default!r}")
        else:
            out.line(depth, f"if {name!r} not in {owner}: {owner}[{name!r}] = {value!r}")


def _write_inside(out: _Writer, owner: str, depth: int, name: str, listed: bool, value: Any) -> None:
    inner = out.fresh()
    if listed:
        items = f"{owner}.get({name!r}) or ()"
        if isinstance(value, _Branch) and value.is_inside():  # an empty item has no inside
            items = f"filter(None, {items})"
        out.line(depth, f"for {inner} in {items}:")
    elif name:
        out.line(depth, f"{inner} = {owner}.get({name!r})")
        out.line(depth, f"if {inner} is not None:")
    else:
        out.line(depth, f"{out.give(value)}({owner})")
        return
    if isinstance(value, _Branch):
        _write(out, inner, depth + 1, value.table)
    else:
        out.line(depth + 1, f"{out.give(value)}({inner})")


def defaults(table: Mapping[str, Any]) -> Defaults:
    """Compile a table (see the module's docstring). The path `""` with a function runs it on the object itself.

    Values: plain data (lists and maps are made anew), `computed(...)`, `when_is(...)`, or a function, run inside.
    """
    out = _Writer()
    _write(out, "o0", 1, table)
    return out.made()
