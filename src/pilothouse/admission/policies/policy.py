"""Policies and their bindings as they are evaluated. Expressions are compiled at the first use.

Texts and the order in which things count are the original's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from pilothouse.admission.conditions import Conditions
from pilothouse.admission.criteria import Criteria
from pilothouse.admission.expressions import Declared, compiled, environment
from pilothouse.admission.policies.evaluation import Evaluation
from pilothouse.admission.policies.mutation import Mutation, text_of
from pilothouse.cel.environment import Environment, Program
from pilothouse.kit.record import record
from pilothouse.registry.resource import Object

_LONGEST_MESSAGE: Final = 5 * 1024  # bytes of what a messageExpression gives
_LONGEST_NOTE: Final = 10 * 1024  # bytes of an audit annotation
_INVALID: Final = "Invalid"


@record
class Failure:
    """A validation that does not hold, or could not be evaluated (`broken`). `index`: which one it is."""

    message: str
    reason: str
    index: int
    broken: bool = False


@record
class Judgement:
    """What a policy says of one write: failures, what auditors are told (key, text), and how many expressions could not
    be evaluated and were passed over.
    """

    failures: Sequence[Failure] = ()
    notes: Sequence[tuple[str, str]] = ()
    passed_over: int = 0


@record
class _Validation:
    text: str
    program: Program | str
    message: str
    message_text: str
    message_program: Program | str | None
    reason: str


@record
class _Programs:
    """All expressions of a policy but its conditions. `notes`: key, text, program."""

    variables: Mapping[str, Program | str]
    validations: Sequence[_Validation]
    notes: Sequence[tuple[str, str, Program | str]]


class Policy:
    """What both kinds have. `lenient`: what cannot be evaluated is passed over."""

    def __init__(self, name: str, obj: Object) -> None:
        self._spec: Mapping[str, Any] = obj.get("spec") or {}
        self.name = name
        self.lenient = self._spec.get("failurePolicy") == "Ignore"
        self.criteria = criteria_of(self._spec.get("matchConstraints") or {}, all_without=False)
        kind = self._spec.get("paramKind")
        self.param_kind: tuple[str, str] | None = None
        if kind is not None:
            self.param_kind = kind.get("apiVersion", ""), kind.get("kind", "")
        within = environment(params=True) if kind is not None else None
        self.conditions = Conditions(self._spec.get("matchConditions") or (), within)

    def _variables(self, declared: Declared | None, within: Environment) -> dict[str, Program | str]:
        """Compiled one after the other; each is declared for those behind it."""
        variables: dict[str, Program | str] = {}
        for variable in self._spec.get("variables") or ():
            name = variable.get("name", "")
            program = variables[name] = compiled(variable.get("expression", ""), within)
            if declared is not None and not isinstance(program, str):
                declared.add(name, program.type)
        return variables

    def _declared(self) -> Declared | None:
        return Declared({}) if self._spec.get("variables") else None


class ValidatingPolicy(Policy):
    """A ValidatingAdmissionPolicy."""

    def judge(self, values: Mapping[str, Any], *, quick: bool) -> Judgement:
        """`values` of the variables that every policy has. Raises Heavy where `quick` is not enough."""
        programs = self._programs
        evaluation = Evaluation(values, programs.variables, quick=quick)
        failures: list[Failure] = []
        passed_over = 0
        for index, one in enumerate(programs.validations):
            value, wrong = evaluation.evaluate(one.text, one.program)
            if wrong and self.lenient:
                passed_over += 1
            elif wrong:
                failures.append(Failure(wrong, _INVALID, index, broken=True))
            elif value is not True:
                failures.append(Failure(self._message(one, evaluation), one.reason, index))
        notes: list[tuple[str, str]] = []
        for key, text, program in programs.notes:
            value, wrong = evaluation.evaluate(text, program)
            if wrong:
                if not self.lenient:
                    failures.append(Failure(wrong, _INVALID, -1, broken=True))
            elif isinstance(value, str) and value.strip():
                notes.append((f"{self.name}/{key}", value.strip()[:_LONGEST_NOTE]))
        return Judgement(failures, notes, passed_over)

    @staticmethod
    def _message(one: _Validation, evaluation: Evaluation) -> str:
        if one.message_program is not None:
            value, wrong = evaluation.evaluate(one.message_text, one.message_program)
            told = value.strip() if isinstance(value, str) and not wrong else ""
            if told and "\n" not in told and len(told.encode()) <= _LONGEST_MESSAGE:
                return told
        return one.message.strip() or f"failed expression: {one.text.strip()}"

    @cached_property
    def _programs(self) -> _Programs:
        params = self.param_kind is not None
        declared = self._declared()
        within = environment(params=params, variables=declared)
        variables = self._variables(declared, within)
        telling = environment(params=params, asking=False, variables=declared)
        return _Programs(
            variables,
            [_validation(one, within, telling) for one in self._spec.get("validations") or ()],
            [
                (one.get("key", ""), one.get("valueExpression", ""), compiled(one.get("valueExpression", ""), within))
                for one in self._spec.get("auditAnnotations") or ()
            ],
        )


class MutatingPolicy(Policy):
    """A MutatingAdmissionPolicy. `again`: it is asked once more where others changed the object after it."""

    def __init__(self, name: str, obj: Object) -> None:
        super().__init__(name, obj)
        self.again = self._spec.get("reinvocationPolicy") == "IfNeeded"

    @property
    def mutations(self) -> Sequence[Mutation]:
        return self._compiled[1]

    def evaluation(self, values: Mapping[str, Any], *, quick: bool) -> Evaluation:
        """`values` of the variables that every policy has."""
        return Evaluation(values, self._compiled[0], quick=quick)

    @cached_property
    def _compiled(self) -> tuple[Mapping[str, Program | str], Sequence[Mutation]]:
        declared = self._declared()
        within = environment(params=self.param_kind is not None, variables=declared, mutating=True)
        variables = self._variables(declared, within)
        texts = [text_of(one) for one in self._spec.get("mutations") or ()]
        return variables, [Mutation(kind, text, compiled(text, within)) for kind, text in texts]


def _validation(one: Mapping[str, Any], within: Environment, telling: Environment) -> _Validation:
    text, message_text = one.get("expression", ""), one.get("messageExpression", "")
    return _Validation(
        text,
        compiled(text, within),
        one.get("message", ""),
        message_text,
        compiled(message_text, telling) if message_text else None,
        one.get("reason") or _INVALID,
    )


class Binding:
    """Where a policy holds, with which parameters, and what its failures do."""

    def __init__(self, name: str, obj: Object) -> None:
        spec: Mapping[str, Any] = obj.get("spec") or {}
        self.name = name
        self.policy: str = spec.get("policyName", "")
        self.actions: Sequence[str] = spec.get("validationActions") or ()
        self.params: Mapping[str, Any] | None = spec.get("paramRef")
        self.criteria = criteria_of(spec.get("matchResources") or {}, all_without=True)


def criteria_of(resources: Mapping[str, Any], *, all_without: bool) -> Criteria:
    """Of a MatchResources."""
    return Criteria(
        resources,
        resources.get("resourceRules") or (),
        resources.get("excludeResourceRules") or (),
        all_without=all_without,
    )
