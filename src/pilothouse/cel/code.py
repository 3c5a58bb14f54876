"""Lines of generated Python: indentation, names for what is between, constants, and the cost of what was written.

Costs that are known beforehand are added up while lines are written, and counted once for each run of lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_MOST_BLOCKS: Final = 12
_LONG: Final = 120  # characters; longer expressions get a name


class Code:
    """What has been written.

    Names in generated code: `b…` variables, `v…` variables of loops, `t…` values between, `k…` constants.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 2
        self._blocks = 0
        self._names = 0
        self._pending = 0
        self.constants: dict[str, Any] = {}
        self._known: dict[int, str] = {}

    def name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    def constant(self, value: Any) -> str:
        """A name for an object that the code uses."""
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = f"k{len(self.constants)}"
            self.constants[found] = value
        return found

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def cost(self, units: int) -> None:
        self._pending += units

    def flush(self) -> None:
        if self._pending:
            self.line(f"c += {self._pending}")
            self._pending = 0

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines below `head`."""
        self.flush()
        self.line(head)
        self._depth += 1
        self._blocks += 1
        before = len(self._lines)
        yield
        self.flush()
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1
        self._blocks -= 1

    @property
    def crowded(self) -> bool:
        """Python allows no more than twenty blocks in each other; a function begins anew."""
        return self._blocks >= _MOST_BLOCKS

    @contextmanager
    def function(self, name: str) -> Iterator[None]:
        """Lines of a function without arguments, which sees and counts what is around it."""
        blocks, self._blocks = self._blocks, 0
        with self.block(f"def {name}():"):
            self.line("nonlocal c")
            yield
        self._blocks = blocks

    def keep(self, expression: str) -> str:
        """A name for the value of an expression, computed now."""
        if expression.isidentifier():
            return expression
        name = self.name()
        self.line(f"{name} = {expression}")
        return name

    def short(self, expression: str) -> str:
        """The expression, or a name for it where it is long."""
        return expression if len(expression) < _LONG else self.keep(expression)

    def text(self, head: str, tail: str) -> str:
        return "\n".join((head, *self._lines, tail))
