"""Loops, and bodies over a value that has a name, as generated Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.cel import syntax, work
from pilothouse.cel.code import Code
from pilothouse.cel.library.collections import sort_by
from pilothouse.cel.syntax import Bind, Expr, Loop, OptionalMap

# What a turn of each kind of loop costs beside its condition and its step.
TURN: Final = {
    syntax.ALL: 3, syntax.EXISTS: 4, syntax.ONE: 2, syntax.MAP: 12, syntax.FILTER: 13, syntax.TO_LIST: 12,
    syntax.TO_MAP: 3, syntax.TO_ENTRIES: 3, syntax.SORT: 12,
}  # fmt: skip
# ... and the loop as a whole, beside what it goes over.
WHOLE: Final = {
    syntax.ALL: 1, syntax.EXISTS: 1, syntax.ONE: 2, syntax.MAP: 11, syntax.FILTER: 11, syntax.TO_LIST: 11,
    syntax.TO_MAP: work.MAP_COST + 1, syntax.TO_ENTRIES: work.MAP_COST + 1, syntax.SORT: 13,
}  # fmt: skip


class LoopWriter:
    """The part of the writer that knows loops."""

    code: Code
    emit: Callable[[Expr], str]
    kept: Callable[[Expr], str]
    condition: Callable[[Expr], str]

    def loop(self, tree: Loop) -> str:
        code = self.code
        over = self._over(tree)
        code.cost(WHOLE[tree.kind])
        if tree.kind in (syntax.ALL, syntax.EXISTS):
            return self._search(tree, over)
        found = code.name()
        start = {syntax.ONE: "0", syntax.TO_MAP: "{}", syntax.TO_ENTRIES: "{}"}.get(tree.kind, "[]")
        code.flush()
        code.line(f"{found} = {start}")
        items = ""
        if tree.kind == syntax.SORT:
            items = code.keep("[]")
        with code.block(self._head(tree, over)):
            self._turn(tree)
            if tree.condition is not None:
                condition = self.condition(tree.condition)
                with code.block(f"if {condition}:"):
                    self._step(tree, found, items)
            else:
                self._step(tree, found, items)
        if tree.kind == syntax.ONE:
            return f"({found} == 1)"
        if tree.kind == syntax.SORT:
            return code.keep(f"{code.constant(sort_by)}({items}, {found})")
        return found

    def _over(self, tree: Loop) -> str:
        over, kind = self.kept(tree.over), tree.over.type.kind
        if tree.second:
            plain = {"list": f"enumerate({over})", "map": f"{over}.items()"}
            return plain.get(kind, f"walk_pairs({over})")
        return over if kind in ("list", "map") else f"walk({over})"

    def _head(self, tree: Loop, over: str) -> str:
        return f"for {', '.join(slot.code for slot in tree.slots)} in {over}:"

    def _turn(self, tree: Loop) -> None:
        self.code.cost(TURN[tree.kind])
        self.code.line("if c > limit: raise CostExceeded")

    def _search(self, tree: Loop, over: str) -> str:
        """all and exists: ends at what decides; an error counts only where nothing does."""
        code = self.code
        found, failed = code.name(), code.name()
        everything = tree.kind == syntax.ALL
        code.flush()
        code.line(f"{found} = {everything}; {failed} = None")
        assert tree.condition is not None
        with code.block(self._head(tree, over)):
            self._turn(tree)
            with code.block("try:"):
                condition = self.condition(tree.condition)
                code.flush()
                with code.block(f"if not {condition}:" if everything else f"if {condition}:"):
                    code.line(f"{found} = {not everything}; {failed} = None")
                    code.line("break")
            with code.block("except FAULTS as fault:"):
                code.line(f"{failed} = {failed} or fault.with_traceback(None)")
        code.line(f"if {failed} is not None: raise {failed}")
        return found

    def _step(self, tree: Loop, found: str, items: str) -> None:
        code = self.code
        first = tree.slots[0].code
        if tree.kind == syntax.ONE:
            code.line(f"{found} += 1")
        elif tree.kind == syntax.FILTER:
            code.line(f"{found}.append({first})")
        elif tree.step is not None:
            value = self.emit(tree.step)
            if tree.kind == syntax.TO_MAP:
                code.line(f"{found}[{first}] = {value}")
            elif tree.kind == syntax.TO_ENTRIES:
                self._insert(found, code.keep(value))
            else:
                code.line(f"{found}.append({value})")
                if items:
                    code.line(f"{items}.append({first})")

    def _insert(self, found: str, entries: str) -> None:
        key, code = self.code.name(), self.code
        with code.block(f"for {key} in {entries}:"):
            code.line(f"if {key} in {found}: raise Fault(f'insert failed: key {{{key}}} already exists')")
        code.line(f"{found}.update({entries})")

    def optional_map(self, tree: OptionalMap) -> str:
        code = self.code
        target, found = self.kept(tree.target), code.name()
        code.cost(2)
        with code.block(f"if {target}.there:"):
            code.line(f"{tree.slot.code} = {target}.held")
            code.cost(1)
            body = self.emit(tree.body)
            code.line(f"{found} = {body}" if tree.flat else f"{found} = Optional({body})")
        with code.block("else:"):
            code.line(f"{found} = NONE")
        return found

    def bind(self, tree: Bind) -> str:
        value = self.emit(tree.value)
        self.code.line(f"{tree.slot.code} = {value}")
        return self.emit(tree.body)
