"""Functions that expressions may call: names, signatures, what they do, what they cost.

A signature is written as `string.(string, int) -> list(string)` (with a receiver) or `(A, list(A)) -> bool`; capital
letters stand for any type. Libraries are tables of them (library/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pilothouse.cel import types
from pilothouse.cel.types import Type
from pilothouse.kit.record import record

Work = Callable[[Sequence[int]], int]
"""Cost of a call from the sizes of its arguments (elements of texts, lists and maps; 1 of the rest)."""
Sizes = Callable[[Sequence[int], Sequence[int]], "tuple[int, int]"]
"""Least and greatest size of a result from the least and the greatest sizes of the arguments."""

_NAMED: Final[dict[str, Type]] = {
    "bool": types.BOOL, "int": types.INT, "uint": types.UINT, "double": types.DOUBLE, "string": types.STRING,
    "bytes": types.BYTES, "null": types.NULL, "dyn": types.DYN, "timestamp": types.TIMESTAMP,
    "duration": types.DURATION, "url": types.opaque("kubernetes.URL"), "quantity": types.opaque("kubernetes.Quantity"),
    "ip": types.opaque("net.IP"), "cidr": types.opaque("net.CIDR"), "semver": types.opaque("kubernetes.Semver"),
    "format": types.opaque("kubernetes.NamedFormat"),
    "authorizer": types.opaque("kubernetes.authorization.Authorizer"),
    "pathcheck": types.opaque("kubernetes.authorization.PathCheck"),
    "groupcheck": types.opaque("kubernetes.authorization.GroupCheck"),
    "resourcecheck": types.opaque("kubernetes.authorization.ResourceCheck"),
    "decision": types.opaque("kubernetes.authorization.Decision"),
}  # fmt: skip
_WORD: Final = re.compile(r"\s*([A-Za-z]+|[(),.]|->)")


def named_type(name: str) -> Type:
    """A type by the name that signatures use for it."""
    return _NAMED[name]


@record
class Overload:
    """One signature of a function. `args` begins with the receiver, where there is one.

    `inline`: how generated code writes the call (`len({0})`); "" where it calls `run`. `sure`: it cannot fail if the
    arguments are of their types. `size`: None where nobody knows how big a result is. `metered`: `run` takes a Meter
    behind the arguments. `work` is what it costs at run time, `guess` what is thought of it before.
    """

    function: str
    id: str
    receiver: bool
    args: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    generic: bool
    work: Work | None = None
    size: Sizes | None = None
    inline: str = ""
    sure: bool = False
    metered: bool = False
    guess: Work | None = None


def overload(
    function: str,
    signature: str,
    run: Callable[..., Any],
    *,
    work: Work | None = None,
    size: Sizes | None = None,
    inline: str = "",
    sure: bool = False,
    metered: bool = False,
    guess: Work | None = None,
) -> Overload:
    """One line of a library's table."""
    receiver, args, result = _signature(signature)
    return Overload(
        function=function,
        id=f"{function} {signature}",
        receiver=receiver,
        args=args,
        result=result,
        run=run,
        generic=any(map(_open, (*args, result))),
        work=work,
        size=size,
        inline=inline,
        sure=sure,
        metered=metered,
        guess=guess or work,
    )


def _open(one: Type) -> bool:
    return one.kind == "param" or any(map(_open, one.params))


class _Reader:
    def __init__(self, text: str) -> None:
        self._words = [found[1] for found in _WORD.finditer(text)]
        self._at = 0

    def peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def next(self) -> str:
        self._at += 1
        return self._words[self._at - 1]

    def type(self) -> Type:
        word = self.next()
        if len(word) == 1:
            return types.param(word)
        if word in ("list", "map", "optional", "type"):
            params = self.types()
            if word == "list":
                return types.list_of(params[0])
            if word == "map":
                return types.map_of(params[0], params[1])
            return types.optional_of(params[0]) if word == "optional" else types.type_of(params[0])
        return _NAMED[word]

    def types(self) -> tuple[Type, ...]:
        """`(a, b)`."""
        self.next()
        found: list[Type] = []
        while self.peek() != ")":
            found.append(self.type())
            if self.peek() == ",":
                self.next()
        self.next()
        return tuple(found)


def _signature(text: str) -> tuple[bool, tuple[Type, ...], Type]:
    reader = _Reader(text)
    receiver: tuple[Type, ...] = ()
    if reader.peek() != "(":
        receiver = (reader.type(),)
        reader.next()
    args = reader.types()
    reader.next()
    return bool(receiver), receiver + args, reader.type()


Functions = Mapping[str, tuple[Overload, ...]]


def functions(libraries: Iterable[Sequence[Overload]]) -> Functions:
    """All that the libraries offer, by name."""
    found: dict[str, list[Overload]] = {}
    for library in libraries:
        for one in library:
            found.setdefault(one.function, []).append(one)
    return {name: tuple(overloads) for name, overloads in found.items()}


def fresh(one: Overload, known: types.Substitution) -> tuple[tuple[Type, ...], Type]:
    """Arguments and result with parameters that nothing is known of yet."""
    if not one.generic:
        return one.args, one.result
    names: dict[str, Type] = {}

    def new(each: Type) -> Type:
        if each.kind == "param":
            if each.name not in names:
                names[each.name] = known.fresh()
            return names[each.name]
        if not each.params:
            return each
        return Type(each.kind, each.name, tuple(map(new, each.params)))

    return tuple(map(new, one.args)), new(one.result)
