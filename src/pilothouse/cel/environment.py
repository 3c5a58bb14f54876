"""The face of this room: declare what expressions may speak of, compile one, evaluate it.

environment = Environment({"object": types.DYN, "oldObject": types.DYN})
program = environment.compile("object.metadata.name != 'x'")      # raises NotCompiled, with the text for clients
answer = program.evaluate({"object": {...}, "oldObject": None}, budget=1_000_000)
answer.error or answer.value, answer.cost
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pilothouse.cel.checker import check
from pilothouse.cel.declarations import Overload, functions
from pilothouse.cel.estimate import estimate
from pilothouse.cel.generate import OVER_LIMIT, Run, generate
from pilothouse.cel.library.addresses import ADDRESSES
from pilothouse.cel.library.authorizing import AUTHORIZING
from pilothouse.cel.library.collections import LISTS, SETS
from pilothouse.cel.library.namedformats import NAMED_FORMATS
from pilothouse.cel.library.optionals import OPTIONALS
from pilothouse.cel.library.quantities import QUANTITIES
from pilothouse.cel.library.regexes import REGEXES
from pilothouse.cel.library.semvers import SEMVERS
from pilothouse.cel.library.standard import STANDARD
from pilothouse.cel.library.strings import STRINGS
from pilothouse.cel.library.urls import URLS
from pilothouse.cel.literalchecks import literal_problems, walk
from pilothouse.cel.parser import parse
from pilothouse.cel.problems import Problem, shown
from pilothouse.cel.scope import Scope
from pilothouse.cel.syntax import Expr, Ident, Select
from pilothouse.cel.types import Type
from pilothouse.cel.work import UNBOUNDED

Library = Sequence[Overload]

LIBRARIES: Final[tuple[Library, ...]] = (
    STANDARD, OPTIONALS, STRINGS, REGEXES, URLS, QUANTITIES, ADDRESSES, SEMVERS, NAMED_FORMATS, LISTS, SETS,
    AUTHORIZING,
)  # fmt: skip
"""What every expression can call. Questions to the authorizer need a variable of its type."""

PER_CALL: Final = 1_000_000  # units that one expression may use at run time
PER_REQUEST: Final = 10_000_000  # ... and all of one object or policy together
ESTIMATED_MOST: Final = 10_000_000  # units that an expression may be estimated at


class NotCompiled(ValueError):
    """`str(error)`: all problems with their places, as clients see them."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        super().__init__(shown(source, problems))
        self.problems = tuple(problems)


class Answer(NamedTuple):
    """`error`: what went wrong, None where `value` counts. `cost` in units, up to what went wrong."""

    value: Any
    error: str | None
    cost: int

    @property
    def over_limit(self) -> bool:
        """It did more than it may."""
        return self.error == OVER_LIMIT


class Environment:
    """Variables (name -> type) and libraries. Share one: it holds what was compiled of the libraries.

    `structs`: types of objects that expressions may make (`Name{field: value}`), by name. `bindings`: `cel.bind` is
    known.
    """

    def __init__(
        self,
        variables: Mapping[str, Type],
        libraries: Sequence[Library] = LIBRARIES,
        structs: Mapping[str, Type] | None = None,
        *,
        bindings: bool = False,
    ) -> None:
        self.scope = Scope(variables, functions(libraries), structs, bindings=bindings)

    def with_variables(self, variables: Mapping[str, Type]) -> Environment:
        """The same libraries, other variables."""
        other = Environment.__new__(Environment)
        other.scope = Scope(variables, self.scope.functions, self.scope.structs, bindings=self.scope.bindings)
        return other

    def compile(self, source: str) -> Program:
        """Raises NotCompiled."""
        tree, problems = parse(source, bindings=self.scope.bindings)
        if tree is None:
            raise NotCompiled(source, problems)
        try:
            kind = check(tree, self.scope, problems)
            if not problems:
                problems += literal_problems(tree)
        except RecursionError:
            problems = [Problem(0, "expression recursion limit exceeded: 250")]
        if problems:
            raise NotCompiled(source, problems)
        return Program(source, tree, kind, self.scope)


class Program:
    """A compiled expression. `type`: of its value. May be used by many threads at once."""

    __slots__ = ("_run", "_scope", "source", "tree", "type")

    def __init__(self, source: str, tree: Expr, kind: Type, scope: Scope) -> None:
        self.source = source
        self.tree = tree
        self.type = kind
        self._scope = scope
        self._run: Run | None = None

    def names(self) -> frozenset[str]:
        """The variables that it speaks of."""
        used = {id(one.slot) for one in walk(self.tree) if isinstance(one, Ident | Select)}
        return frozenset(name for name, slot in self._scope.variables.items() if id(slot) in used)

    def estimate(self, declared: Mapping[str, Type] | None = None, unknown: int = UNBOUNDED) -> int:
        """The most that it can cost, in units.

        `declared`: variables whose sizes are known by their types; `unknown`: how big other values are thought to be.
        """
        return estimate(self.tree, dict(declared or {}), unknown)

    def evaluate(self, bindings: Mapping[str, Any], budget: int = PER_CALL) -> Answer:
        """`bindings`: values of variables; null where one is missing. Raises nothing."""
        return self.call([bindings.get(name) for name in self._scope.variables], budget)

    def call(self, values: Sequence[Any], budget: int = PER_CALL) -> Answer:
        """As `evaluate`, with the values in the order in which the variables were declared."""
        run = self._run
        if run is None:
            run = self._run = generate(self.tree, self._scope)
        value, error, cost = run(*values, budget)
        if cost > budget and error is None:
            return Answer(None, OVER_LIMIT, cost)
        return Answer(value, error, cost)
