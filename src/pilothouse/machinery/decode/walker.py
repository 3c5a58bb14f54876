"""Typed decoding, object by object: one walk that is compiled, over the plan of a type.

It knows only the good case. Anything else raises Mismatch (or is flagged in Findings), and `explain` walks again to
word it. What nobody else has (`Findings.owned`) becomes the object itself where nothing in it has to be moved or left
out: then nothing is made at all.
"""

from __future__ import annotations

from typing import Any, Final, cast

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.kit.sorting import in_order
from pilothouse.machinery.decode import plan as p
from pilothouse.machinery.decode.findings import Findings, Mismatch
from pilothouse.machinery.decode.plan import Member, Plan, Struct
from pilothouse.machinery.decode.scalars import SHORT_MAP, int_or_string, quantity, string_map, strings
from pilothouse.machinery.decode.schemaprops import OR_BOOL, OR_STRINGS
from pilothouse.machinery.errors import too_large
from pilothouse.machinery.quantity import QuantityError
from pilothouse.machinery.schema import Schema

_DEEPEST: Final = 500  # structs in each other
_LONG: Final = 1000  # items; of these no type is so long that they are too many
_TURN: Final = 1000  # values between two looks whether others wait


REFUSALS: Final = (Mismatch, QuantityError)


def decode(schema: Schema, value: Any, findings: Findings) -> dict[str, Any]:
    """The object of a STRUCT. Raises one of REFUSALS, RecursionError, RequestEntityTooLarge."""
    made: dict[str, Any] = _Walk(findings).struct(p.struct_of(schema), value)
    return made


class _Walk:
    """Over one value."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.owned = findings.owned
        self.depth: i64 = 0
        self.left: i64 = _TURN

    def struct(self, struct: Struct, value: object) -> dict[str, Any]:
        if value is None:
            return p.zeros(struct)
        if type(value) is not dict:
            raise Mismatch
        self.depth += 1
        if self.depth > _DEEPEST:
            raise RecursionError
        made = self._object(struct, value)
        self.depth -= 1
        return made

    def _object(self, struct: Struct, sent: dict[str, Any]) -> dict[str, Any]:
        members = struct.members
        made: dict[str, Any] | None = None if self.owned else {}  # None: what was sent, so far
        last: i64 = -1
        needed: i64 = 0
        ordered = True
        self._turn()
        for name, value in sent.items():
            member = members.get(name)
            if member is None:
                self.findings.unknown = True
                if made is None:
                    made = _before(sent, name)
                continue
            if member.place < last:
                ordered = False
                if made is None:
                    made = _before(sent, name)
            else:
                last = member.place
            if not member.left_out:
                needed += 1
            read = self._member(member, value)
            if (value is None and member.left_out) or (member.empty == p.LEFT_OUT and not read):
                if made is None:
                    made = _before(sent, name)
                continue
            if made is not None:
                made[name] = read
            elif read is not value:
                if self.findings.unknown:  # it is still to be told what is unknown, from what was sent
                    made = _before(sent, name)
                    made[name] = read
                else:
                    sent[name] = read
        if made is None:
            made = sent
        if needed < struct.count:
            for member in struct.needed:
                if member.name not in made:
                    made[member.name] = p.zeros(member.plan.struct()) if member.stands else member.zero
                    if member.place < last:
                        ordered = False
                    else:
                        last = member.place
        return made if ordered else _ordered(struct, made)

    def _turn(self) -> None:
        self.left -= 1
        if self.left < 0:
            self.left = _TURN
            give_way()

    def _member(self, member: Member, value: object) -> object:
        """What is kept of the value of a field; nothing where it is left out."""
        code = member.code
        if code == p.STRING:
            if type(value) is str:
                return value
        elif code == p.BOOL:
            if type(value) is bool:
                return value
        elif code == p.INT32:
            if type(value) is int and -2147483648 <= value <= 2147483647:
                return value
        elif code == p.INT64:
            if type(value) is int and -9223372036854775808 <= value <= 9223372036854775807:
                return value
        elif value is not None:
            if code == p.LIST and type(value) is list and len(value) > _LONG and len(value) > member.most():
                raise too_large(p.LONGEST)
            read = self.value(member.plan, value)
            return None if member.empty == p.NULLED and not read else read
        if value is None:
            if member.stands and not member.left_out:
                return p.zeros(member.plan.struct())
            return member.zero
        raise Mismatch

    def value(self, plan: Plan, value: object) -> object:
        """A value that may be null."""
        code = plan.code
        if code == p.STRUCT:
            return self.struct(plan.struct(), value)
        if value is None:
            return plan.zero
        if code == p.LIST:
            if type(value) is not list:
                raise Mismatch
            return self._list(plan.items(), value)
        if code == p.STRING:
            if type(value) is str:
                return value
            raise Mismatch
        if code == p.STRING_MAP:
            if type(value) is dict and len(value) <= SHORT_MAP:
                return self._texts(value)
            return string_map(value, self.findings)
        if code == p.STRINGS:
            return strings(value)
        if code == p.QUANTITY:
            return quantity(value, self.findings)
        if code == p.INT_OR_STRING:
            return int_or_string(value)
        if code == p.MAP:
            if type(value) is not dict:
                raise Mismatch
            return self._map(plan.items(), value)
        if code == p.AS_IT_IS:
            return value
        if code == p.CHOICE:
            return self._choice(plan, value)
        if code == p.BOOL:
            if type(value) is bool:
                return value
            raise Mismatch
        if code == p.INT32:
            if type(value) is int and -2147483648 <= value <= 2147483647:
                return value
            raise Mismatch
        if code == p.INT64:
            if type(value) is int and -9223372036854775808 <= value <= 9223372036854775807:
                return value
            raise Mismatch
        return plan.read(value, self.findings)

    def _list(self, items: Plan, sent: list[Any]) -> list[Any]:
        made: list[Any] | None = None if self.owned else []
        is_struct = items.code == p.STRUCT
        for index, value in enumerate(sent):
            self._turn()
            read: object = self.struct(items.struct(), value) if is_struct else self.value(items, value)
            if made is not None:
                made.append(read)
            elif read is not value:
                if self.findings.unknown:
                    made = sent[:index]
                    made.append(read)
                else:
                    sent[index] = read
        return sent if made is None else made

    def _map(self, items: Plan, sent: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name in in_order(sent):
            self._turn()
            made[name] = self.value(items, sent[name])
        return made

    def _texts(self, sent: dict[str, Any]) -> dict[str, Any]:
        """A short map of texts, by key."""
        ordered = True
        plain = self.owned
        last = ""
        for name, value in sent.items():
            if name < last:
                ordered = False
            last = name
            if type(value) is not str:
                if value is not None:
                    raise Mismatch
                plain = False
        if plain and ordered:
            return sent
        made: dict[str, Any] = {}
        for name in sent if ordered else sorted(sent):
            value = sent[name]
            made[name] = "" if value is None else value
        return made

    def _choice(self, plan: Plan, value: object) -> object:
        """A schema or something else."""
        if type(value) is dict:
            return self._apart(plan.struct(), value)
        name = plan.schema.name
        if name == OR_BOOL:
            if type(value) is bool:
                return value
            raise Mismatch
        if type(value) is not list:
            return None
        if name == OR_STRINGS:
            return strings(value) or None
        return [self._apart(plan.struct(), item) for item in value] or None

    def _apart(self, struct: Struct, value: object) -> object:
        """A schema in which nobody looks for unknown fields."""
        findings, owned = self.findings, self.owned
        self.findings, self.owned = Findings(), False
        self.depth += 1
        made = self.struct(struct, value)
        self.depth -= 1
        findings.inexact = findings.inexact or self.findings.inexact
        self.findings, self.owned = findings, owned
        return made


def _before(sent: dict[str, Any], end: str) -> dict[str, Any]:
    """The members before one."""
    made: dict[str, Any] = {}
    for name, value in sent.items():
        if name is end or name == end:
            break
        made[name] = value
    return made


def _ordered(struct: Struct, made: dict[str, Any]) -> dict[str, Any]:
    """The same members in the order of the type."""
    places = [cast(int, struct.members[name].place) for name in made]
    places.sort()
    order = struct.order
    ordered: dict[str, Any] = {}
    for place in places:
        name = order[place].name
        ordered[name] = made[name]
    return ordered
