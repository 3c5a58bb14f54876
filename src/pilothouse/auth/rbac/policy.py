"""All roles and bindings of a server: who has which role where. Fed with each change, asked on every request.

What a caller has is found once (`Authority`) and kept until any role or binding changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pilothouse.auth.attributes import Decision
from pilothouse.auth.rbac.rules import ALL, Grants, PolicyRule
from pilothouse.kit.record import record
from pilothouse.registry.request import Caller

ROLE_GROUP: Final = "rbac.authorization.k8s.io"
SERVICE_ACCOUNT: Final = "system:serviceaccount:"
_MOST_AUTHORITIES: Final = 4096
_MOST_ANSWERS: Final = 1024  # of one authority
Answer = tuple[Decision, str]
Question = tuple[str, ...]


@record
class Subject:
    """`kind` of User, Group and ServiceAccount. `namespace` of an account, as written."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}/{self.namespace}"' if self.namespace else f'{self.kind} "{self.name}"'

    def key(self, home: str) -> str | None:
        """How callers are looked up; None for who can't be found. `home`: the binding's namespace."""
        if self.kind == "User":
            return user_key(self.name)
        if self.kind == "Group":
            return group_key(self.name)
        namespace = self.namespace or home
        if self.kind != "ServiceAccount" or not namespace:
            return None
        return user_key(f"{SERVICE_ACCOUNT}{namespace}:{self.name}")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """`namespace` "": a ClusterRoleBinding. `role`: kind and name."""

    namespace: str
    name: str
    role: tuple[str, str]
    subjects: tuple[Subject, ...]

    @property
    def role_home(self) -> tuple[str, str]:
        """Namespace and name of the role."""
        kind, name = self.role
        return (self.namespace if kind == "Role" else "", name)

    def reason(self, subject: Subject) -> str:
        """Why one of its subjects may."""
        kind, role = self.role
        own = f'RoleBinding "{self.name}/{self.namespace}"' if self.namespace else f'ClusterRoleBinding "{self.name}"'
        return f'RBAC: allowed by {own} of {kind} "{role}" to {subject}'


def user_key(name: str) -> str:
    return "u" + name


def group_key(name: str) -> str:
    return "g" + name


def missing(kind: str, name: str) -> str:
    """What is said of a role that is bound and not there."""
    return f'{kind.lower()}.{ROLE_GROUP} "{name}" not found'


def told(problems: list[str]) -> str:
    """Several problems as the original joins them; each is told once."""
    once = list(dict.fromkeys(problems))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"


class Held(NamedTuple):
    """A role that a caller has. `grants` None: it is bound and not there."""

    binding: Binding
    subject: Subject
    grants: Grants | None


class Authority:
    """What one caller has in one namespace, roles at cluster scope first. Answers are remembered."""

    __slots__ = ("_answers", "_named", "held")

    def __init__(self, held: tuple[Held, ...]) -> None:
        self.held = held
        self._answers: dict[Question, Answer] = {}
        named: frozenset[str] = frozenset()
        for one in held:
            if one.grants is not None:
                named |= one.grants.named
        self._named = named

    def answer(self, verb: str, group: str, resource: str, subresource: str, name: str) -> Answer:
        if name and not self._names_matter(resource, subresource):
            name = ""
        question = (verb, group, resource, subresource, name)
        known = self._answers.get(question)
        if known is None:
            known = self._keep(question, self._find(question))
        return known

    def answer_path(self, verb: str, path: str) -> Answer:
        question = (verb, path)
        known = self._answers.get(question)
        if known is None:
            known = self._keep(question, self._find_path(verb, path))
        return known

    def _names_matter(self, resource: str, subresource: str) -> bool:
        """Whether the name of the object can change the answer; where not, all objects share one."""
        named = self._named
        if not named:
            return False
        if ALL in named:
            return True
        if not subresource:
            return resource in named
        return f"{resource}/{subresource}" in named or f"*/{subresource}" in named

    def problems(self) -> list[str]:
        """Roles that are bound and not there."""
        return [missing(*one.binding.role) for one in self.held if one.grants is None]

    def _find(self, question: Question) -> Answer:
        for one in self.held:
            if one.grants is not None and one.grants.allow(*question):
                return Decision.ALLOW, one.binding.reason(one.subject)
        return self._nothing()

    def _find_path(self, verb: str, path: str) -> Answer:
        for one in self.held:
            if one.grants is not None and one.grants.allow_path(verb, path):
                return Decision.ALLOW, one.binding.reason(one.subject)
        return self._nothing()

    def _nothing(self) -> Answer:
        problems = self.problems()
        return Decision.NO_OPINION, f"RBAC: {told(problems)}" if problems else ""

    def _keep(self, question: Question, answer: Answer) -> Answer:
        if len(self._answers) >= _MOST_ANSWERS:
            self._answers.clear()
        self._answers[question] = answer
        return answer


class Policy:
    """Roles and bindings of all namespaces; the namespace "" holds ClusterRoles and ClusterRoleBindings."""

    def __init__(self) -> None:
        self._roles: dict[tuple[str, str], Grants] = {}
        self._bindings: dict[tuple[str, str], Binding] = {}
        # namespace -> subject -> binding -> place of the subject in it
        self._bound: dict[str, dict[str, dict[Binding, int]]] = {}
        self._authorities: dict[tuple[str, tuple[str, ...], str], Authority] = {}

    def set_role(self, namespace: str, name: str, role: Mapping[str, Any] | None) -> None:
        """A role is new, changed or (None) gone."""
        if role is None:
            self._roles.pop((namespace, name), None)
        else:
            self._roles[namespace, name] = Grants(role)
        self._authorities.clear()

    def set_binding(self, namespace: str, name: str, binding: Mapping[str, Any] | None) -> None:
        """A binding is new, changed or (None) gone."""
        old = self._bindings.pop((namespace, name), None)
        if old is not None:
            self._unbind(old)
        if binding is not None:
            self._bind(_binding(namespace, name, binding))
        self._authorities.clear()

    def rules_of_role(self, namespace: str, name: str) -> tuple[PolicyRule, ...] | None:
        """`namespace` "": of a ClusterRole. None where there is no such role."""
        grants = self._roles.get((namespace, name))
        return None if grants is None else grants.rules

    def authority(self, caller: Caller, namespace: str) -> Authority:
        """What the caller has. `namespace` "": at cluster scope alone."""
        key = (caller.name, caller.groups, namespace)
        known = self._authorities.get(key)
        if known is None:
            if len(self._authorities) >= _MOST_AUTHORITIES:
                self._authorities.clear()
            known = self._authorities[key] = Authority(tuple(self._held(caller, namespace)))
        return known

    def _held(self, caller: Caller, namespace: str) -> Iterator[Held]:
        for place in ("", namespace) if namespace else ("",):
            for binding, at in self._of(caller, place).items():
                yield Held(binding, binding.subjects[at], self._roles.get(binding.role_home))

    def _of(self, caller: Caller, namespace: str) -> dict[Binding, int]:
        """Bindings to the caller, with the first subject that he is."""
        bound = self._bound.get(namespace)
        found: dict[Binding, int] = {}
        if bound is None:
            return found
        for key in (user_key(caller.name), *map(group_key, caller.groups)):
            for binding, at in bound.get(key, {}).items():
                found[binding] = min(at, found.get(binding, at))
        return found

    def _bind(self, binding: Binding) -> None:
        self._bindings[binding.namespace, binding.name] = binding
        bound = self._bound.setdefault(binding.namespace, {})
        for at, subject in enumerate(binding.subjects):
            key = subject.key(binding.namespace)
            if key is not None:
                bound.setdefault(key, {}).setdefault(binding, at)

    def _unbind(self, binding: Binding) -> None:
        bound = self._bound[binding.namespace]
        for subject in binding.subjects:
            key = subject.key(binding.namespace)
            if key is not None and key in bound:
                bound[key].pop(binding, None)
                if not bound[key]:
                    del bound[key]
        if not bound:
            del self._bound[binding.namespace]


def _binding(namespace: str, name: str, obj: Mapping[str, Any]) -> Binding:
    role = obj.get("roleRef") or {}
    return Binding(
        namespace,
        name,
        (role.get("kind", ""), role.get("name", "")),
        tuple(
            Subject(subject.get("kind", ""), subject.get("name", ""), subject.get("namespace", ""))
            for subject in obj.get("subjects") or ()
        ),
    )
