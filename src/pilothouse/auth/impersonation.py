"""Who may act as whom (Kubernetes documentation, "User Impersonation", "Constrained impersonation").

There are five modes, tried in order; each one asks the authorizer questions of its own. The mode that last succeeded
for a user is tried first from then on, so what a refusal says depends on history.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from pilothouse.auth.actingmetrics import ImpersonationMetrics
from pilothouse.auth.attributes import Attributes, Authorizer, Decision
from pilothouse.auth.authenticators import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED
from pilothouse.auth.order import MASTERS
from pilothouse.auth.refusal import refusal_at_the_door
from pilothouse.auth.usernames import NODE_CLAIM, NODES, account_groups, account_of, node_of
from pilothouse.kit.record import record
from pilothouse.machinery import names
from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.goquote import quote
from pilothouse.registry.request import Caller

_GROUP: Final = "authentication.k8s.io"
_VERSION: Final = "v1"
_REMEMBERED: Final = 10_000  # users
_ASKED_ONE_BY_ONE: Final = 3  # from the next one on, all are asked about at once first
_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


@record
class Wanted:
    """The user that a request asks to be. The keys of `extra` are in lower case."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def only_named(self) -> bool:
        return not (self.uid or self.groups or self.extra)


@record
class Original:
    """Who sent a request that is made as somebody else; attached to it for the audit log."""

    caller: Caller


@record
class _Question:
    """One thing that must be allowed. `never`: why it can't be, whatever the authorizer says."""

    verb: str
    resource: str
    name: str = ""
    subresource: str = ""
    namespace: str = ""
    group: str = _GROUP
    never: str = ""


# Questions that stand together: if there are many, one about "*" may answer them all.
_Questions = Sequence[_Question]


@record
class _Attempt:
    """A mode that fits. `on`: its word in the question about the request, "" for none. `groups`: of the user, added."""

    on: str
    questions: Callable[[], Iterator[_Questions]]
    groups: tuple[str, ...] = ()


class Impersonation:
    """Decides, and remembers the last mode of each user."""

    def __init__(self, authorizer: Authorizer, metrics: ImpersonationMetrics | None = None) -> None:
        self._authorizer = authorizer
        self._metrics = metrics or ImpersonationMetrics()
        self._last: OrderedDict[str, str] = OrderedDict()

    def become(self, wanted: Wanted, asked: Attributes) -> Caller:
        """The user to go on as. `asked`: the request as its sender makes it. Raises BadRequest, Forbidden."""
        if not wanted.name:
            raise bad_request(f"requested {_struct(wanted)} without impersonating a user name")
        refused: APIError | None = None
        started = self._metrics.clock()
        for mode in self._order(asked.caller.name):
            attempt = _MODES[mode](wanted, asked.caller)
            if attempt is None:
                continue
            error = self._refused(_called(mode), attempt, asked)
            if error is None:
                self._remember(asked.caller.name, mode)
                self._metrics.attempted(_called(mode), True, started)
                return _caller(wanted, attempt.groups)
            refused = refused or error
        self._metrics.attempted("", False, started)
        assert refused is not None, "the old verb always fits"
        raise refused

    def _order(self, user: str) -> list[str]:
        last = self._last.get(user)
        return list(_MODES) if last is None else [last, *(mode for mode in _MODES if mode != last)]

    def _remember(self, user: str, mode: str) -> None:
        if self._last.get(user) == mode:
            return
        self._last[user] = mode
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def _refused(self, mode: str, attempt: _Attempt, asked: Attributes) -> APIError | None:
        if attempt.on:
            error = self._ask(mode, asked._replace(verb=f"impersonate-on:{attempt.on}:{asked.verb}"))
            if error is not None:
                return error
        for together in attempt.questions():
            if len(together) > _ASKED_ONE_BY_ONE and attempt.on:
                everything = replace(together[0], name="*", never="")
                if not any(one.never for one in together) and self._answer(mode, everything, asked.caller) is None:
                    continue
            for one in together:
                error = self._answer(mode, one, asked.caller)
                if error is not None:
                    return error
        return None

    def _answer(self, mode: str, question: _Question, caller: Caller) -> APIError | None:
        attributes = Attributes(
            caller, question.verb, True, "", question.group, _VERSION, question.namespace, question.resource,
            question.subresource, question.name,
        )  # fmt: skip
        return refusal_at_the_door(attributes, question.never) if question.never else self._ask(mode, attributes)

    def _ask(self, mode: str, attributes: Attributes) -> APIError | None:
        started = self._metrics.clock()
        decision, reason = self._authorizer.authorize(attributes)
        allowed = decision is Decision.ALLOW
        self._metrics.checked(mode, allowed, started)
        return None if allowed else refusal_at_the_door(attributes, reason)


def _called(mode: str) -> str:
    """The mode as metrics name it."""
    return "legacy" if mode == "impersonate" else mode


def _associated_node(wanted: Wanted, caller: Caller) -> _Attempt | None:
    """An account of a pod acts as the pod's node."""
    node = node_of(wanted.name) if wanted.only_named else None
    if node is None or account_of(caller.name) is None or dict(caller.extra).get(NODE_CLAIM) != (node,):
        return None
    return _node_attempt("associated-node", "*")


def _arbitrary_node(wanted: Wanted, caller: Caller) -> _Attempt | None:
    node = node_of(wanted.name) if wanted.only_named else None
    return None if node is None else _node_attempt("arbitrary-node", node)


def _node_attempt(mode: str, name: str) -> _Attempt:
    return _Attempt(mode, lambda: iter([[_Question(f"impersonate:{mode}", "nodes", name)]]), (NODES,))


def _account(wanted: Wanted, caller: Caller) -> _Attempt | None:
    account = account_of(wanted.name) if wanted.only_named else None
    if account is None:
        return None
    namespace, name = account
    question = _Question("impersonate:serviceaccount", "serviceaccounts", name, namespace=namespace)
    return _Attempt("serviceaccount", lambda: iter([[question]]), account_groups(namespace))


def _user_info(wanted: Wanted, caller: Caller) -> _Attempt | None:
    """Any other user, piece by piece."""
    if node_of(wanted.name) is not None or account_of(wanted.name) is not None:
        return None
    verb = "impersonate:user-info"

    def questions() -> Iterator[_Questions]:
        yield [_Question(verb, "users", wanted.name)]
        if wanted.uid:
            yield [_Question(verb, "uids", wanted.uid)]
        yield [_Question(verb, "groups", group, never=_wrong_group(group)) for group in wanted.groups]
        for key, values in wanted.extra:
            wrong = _wrong_key(key)
            if wrong:
                yield [_Question(verb, "userextras", never=wrong)]
            yield [_Question(verb, "userextras", value, key, never=_wrong_value(value)) for value in values]

    return _Attempt("user-info", questions)


def _old_verb(wanted: Wanted, caller: Caller) -> _Attempt:
    """The verb impersonate, whatever the request is about."""
    account = account_of(wanted.name)

    def questions() -> Iterator[_Questions]:
        if account is not None:
            yield [_Question("impersonate", "serviceaccounts", account[1], namespace=account[0], group="")]
        else:
            yield [_Question("impersonate", "users", wanted.name, group="")]
        if wanted.uid:
            yield [_Question("impersonate", "uids", wanted.uid)]
        yield [_Question("impersonate", "groups", group, group="") for group in wanted.groups]
        for key, values in wanted.extra:
            yield [_Question("impersonate", "userextras", value, key) for value in values]

    follows = account_groups(account[0]) if account is not None and not wanted.groups else ()
    return _Attempt("", questions, follows)


_MODES: Final[dict[str, Callable[[Wanted, Caller], _Attempt | None]]] = {
    "associated-node": _associated_node,
    "arbitrary-node": _arbitrary_node,
    "serviceaccount": _account,
    "user-info": _user_info,
    "impersonate": _old_verb,
}


def _wrong_group(group: str) -> str:
    if not group:
        return "impersonating the empty string group is not allowed"
    return f"impersonating the {MASTERS} group is not allowed" if group == MASTERS else ""


def _wrong_key(key: str) -> str:
    if not key:
        return "impersonating the empty string key in extra is not allowed"
    domain, slash, path = key.partition("/")
    if not slash or not domain or not path:
        problems = [f'extra.key: Invalid value: {quote(key)}: must be a domain-prefixed path (such as "acme.io/foo")']
    else:
        problems = [f"extra.key: Invalid value: {quote(domain)}: {why}" for why in names.subdomain(domain)]
        if _PATH.fullmatch(path) is None:
            why = f"Invalid path (regex used for validation is '{_PATH.pattern}')"
            problems.append(f"extra.key: Invalid value: {quote(path)}: {why}")
    if not problems:
        return ""
    told = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return f"impersonating an invalid key in extra is not allowed: {told}"


def _wrong_value(value: str) -> str:
    return "" if value else "impersonating the empty string value in extra is not allowed"


def _caller(wanted: Wanted, groups: tuple[str, ...]) -> Caller:
    """The wanted user with the group of all users, or of those that nobody knows."""
    found = (*wanted.groups, *groups)
    if AUTHENTICATED not in found and UNAUTHENTICATED not in found:
        found += (UNAUTHENTICATED,) if wanted.name == ANONYMOUS.name else (AUTHENTICATED,)
    return Caller(wanted.name, wanted.uid, found, wanted.extra)


def _struct(wanted: Wanted) -> str:
    """The user as the original prints its own type."""
    groups = _list(wanted.groups) if wanted.groups else "[]string(nil)"
    rows = ", ".join(f"{quote(key)}:{_list(values)}" for key, values in wanted.extra)
    extra = f"map[string][]string{{{rows}}}" if wanted.extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quote(wanted.uid)}, Groups:{groups}, Extra:{extra}}}'


def _list(texts: Sequence[str]) -> str:
    return "[]string{" + ", ".join(quote(text) for text in texts) + "}"
