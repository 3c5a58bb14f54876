"""Questions to whoever decides who may do what; only the questions, the answers come from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.kit.record import record


@record
class Question:
    """`service_account`: ("namespace", "name") of who is asked about, () for who sent the request.

    `path`: of what is no resource. Selectors as they were written.
    """

    verb: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | tuple[()] = ()


@record
class Decision:
    """`error`: why nobody could decide, "" where somebody did."""

    is_allowed: bool
    why: str = ""
    error: str = ""
    type_name = "kubernetes.authorization.Decision"


Ask = Callable[[Question], Decision]


class _Named:
    __slots__ = ("ask", "question")

    def __init__(self, ask: Ask, question: Question) -> None:
        self.ask = ask
        self.question = question


class Authorizer(_Named):
    """The variable `authorizer`."""

    __slots__ = ()
    type_name: Final = "kubernetes.authorization.Authorizer"

    def __init__(self, ask: Ask, question: Question | None = None) -> None:
        super().__init__(ask, question or Question())


class PathCheck(_Named):
    __slots__ = ()
    type_name: Final = "kubernetes.authorization.PathCheck"


class GroupCheck(_Named):
    __slots__ = ()
    type_name: Final = "kubernetes.authorization.GroupCheck"


class ResourceCheck(_Named):
    """Also the variable `authorizer.requestResource`."""

    __slots__ = ()
    type_name: Final = "kubernetes.authorization.ResourceCheck"


def _with(field: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    def run(one: ResourceCheck, text: str) -> ResourceCheck:
        changed: dict[str, Any] = {field: text}
        return ResourceCheck(one.ask, replace(one.question, **changed))

    return run


def _path(one: Authorizer, path: str) -> PathCheck:
    return PathCheck(one.ask, replace(one.question, path=path))


def _group(one: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(one.ask, replace(one.question, group=group))


def _resource(one: GroupCheck, name: str) -> ResourceCheck:
    return ResourceCheck(one.ask, replace(one.question, resource=name))


def _check(one: _Named, verb: str) -> Decision:
    return one.ask(replace(one.question, verb=verb))


def _account(one: Authorizer, namespace: str, name: str) -> Authorizer:
    return Authorizer(one.ask, replace(one.question, service_account=(namespace, name)))


_COST: Final = work.fixed(work.AUTHORIZER_COST)

AUTHORIZING: Final = (
    overload("path", "authorizer.(string) -> pathcheck", _path),
    overload("group", "authorizer.(string) -> groupcheck", _group),
    overload("serviceAccount", "authorizer.(string, string) -> authorizer", _account),
    overload("resource", "groupcheck.(string) -> resourcecheck", _resource),
    overload("subresource", "resourcecheck.(string) -> resourcecheck", _with("subresource")),
    overload("namespace", "resourcecheck.(string) -> resourcecheck", _with("namespace")),
    overload("name", "resourcecheck.(string) -> resourcecheck", _with("name")),
    overload("fieldSelector", "resourcecheck.(string) -> resourcecheck", _with("field_selector"), work=work.selector),
    overload("labelSelector", "resourcecheck.(string) -> resourcecheck", _with("label_selector"), work=work.selector),
    overload("check", "pathcheck.(string) -> decision", _check, work=_COST),
    overload("check", "resourcecheck.(string) -> decision", _check, work=_COST),
    overload("allowed", "decision.() -> bool", lambda one: one.is_allowed),
    overload("reason", "decision.() -> string", lambda one: one.why),
    overload("errored", "decision.() -> bool", lambda one: bool(one.error)),
    overload("error", "decision.() -> string", lambda one: one.error),
)  # fmt: skip
