"""The spec of jobs and of cron jobs' templates: what is filled in and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.batch.jobpolicies import failure_policy, success_policy
from pilothouse.builtin.shared.paths import domain_prefixed
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podtemplate import pod_template
from pilothouse.builtin.shared.podwarnings import spec_warnings
from pilothouse.machinery.rules import Field, at, defaults, not_negative, one_of, together

_TOO_MANY_INDEXES: Final = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)
MAX_INDEXED: Final = 100_000
_MANY: Final = 10_000
_SEVERAL: Final = "when completion mode is Indexed"
_NO_LIMIT: Final = 2**31 - 1

Object = Mapping[str, Any]


def _counts(spec: dict[str, Any]) -> None:
    """One pod at a time, one in all; a job whose indexes fail by themselves has no limit as a whole."""
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = spec["parallelism"] = 1
    elif "parallelism" not in spec:
        spec["parallelism"] = 1
    if "backoffLimit" not in spec:
        spec["backoffLimit"] = 6 if spec.get("backoffLimitPerIndex") is None else _NO_LIMIT
    if "podReplacementPolicy" not in spec:
        by_failure = spec.get("podFailurePolicy") is not None
        spec["podReplacementPolicy"] = "Failed" if by_failure else "TerminatingOrFailed"


def _happened(condition: dict[str, Any]) -> None:
    """A condition without a status is one that holds; the decoder shows it as empty."""
    if not condition.get("status"):
        condition["status"] = "True"


job_spec_defaults: Final = defaults(
    {
        "": _counts,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podFailurePolicy.rules[].onPodConditions[]": _happened,
        "template": template_defaults,
        "manualSelector": False,
    }
)


def _per_index(spec: Object, field: Field) -> None:
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        field.required("backoffLimitPerIndex", "when maxFailedIndexes is specified")


def _not_indexed(spec: Object, field: Field) -> None:
    if spec.get("completionMode") not in (None, "NonIndexed"):
        return
    for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if spec.get(name) is not None:
            field.invalid(name, spec[name], "requires indexed completion mode")


def _managed_by(value: str, field: Field) -> None:
    domain_prefixed(value, field)
    if len(value.encode()) > 63:
        field.too_long("", 63)


def _indexed(spec: Object, field: Field) -> None:
    if spec.get("completionMode") != "Indexed":
        return
    completions, most = spec.get("completions"), spec.get("maxFailedIndexes")
    parallelism = spec.get("parallelism")
    if completions is None:
        field.required("completions", _SEVERAL)
    if parallelism is not None and parallelism > MAX_INDEXED:
        why = f"must be less than or equal to {MAX_INDEXED} {_SEVERAL}"
        field.invalid("parallelism", parallelism, why)
    if completions is not None and most is not None and most > completions:
        field.invalid("maxFailedIndexes", most, "must be less than or equal to completions")
    if most is not None and most > MAX_INDEXED:
        field.invalid("maxFailedIndexes", most, f"must be less than or equal to {MAX_INDEXED}")
    if completions is not None and completions > MAX_INDEXED and spec.get("backoffLimitPerIndex") is not None:
        _many(parallelism, most, field)


def _many(parallelism: int | None, most: int | None, field: Field) -> None:
    """Limits of a job with very many indexes that fail by themselves."""
    why = f"must be less than or equal to {_MANY} when completions are above {MAX_INDEXED} "
    why += "and used with backoff limit per index"
    if most is None:
        field.required("maxFailedIndexes", f"must be specified when completions is above {MAX_INDEXED}")
    if parallelism is not None and parallelism > _MANY:
        field.invalid("parallelism", parallelism, why)
    if most is not None and most > _MANY:
        field.invalid("maxFailedIndexes", most, why)


def _replacement(spec: Object, field: Field) -> None:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if policy not in allowed:
        field.not_supported("podReplacementPolicy", policy, allowed)


def _template(spec: Object, field: Field) -> None:
    template = spec.get("template") or {}
    field.within("template", pod_template, template)
    policy = (template.get("spec") or {}).get("restartPolicy", "")
    if policy not in ("OnFailure", "Never"):
        if policy in ("", "Always"):
            field.required("template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
        else:
            field.not_supported("template.spec.restartPolicy", policy, ("OnFailure", "Never"))
    elif policy != "Never" and spec.get("podFailurePolicy") is not None:
        why = 'only "Never" is supported when podFailurePolicy is specified'
        field.invalid("template.spec.restartPolicy", policy, why)


job_spec: Final = together(
    at("parallelism", not_negative),
    at("completions", not_negative),
    at("activeDeadlineSeconds", not_negative),
    at("backoffLimit", not_negative),
    at("ttlSecondsAfterFinished", not_negative),
    at("backoffLimitPerIndex", not_negative),
    at("maxFailedIndexes", not_negative),
    _per_index,
    at("managedBy", _managed_by),
    at("completionMode", one_of("NonIndexed", "Indexed")),
    _indexed,
    _not_indexed,
    at("podFailurePolicy", failure_policy),
    success_policy,
    _replacement,
    _template,
)
"""Told from the spec."""


def job_warnings(path: str, spec: Object) -> list[str]:
    """About the spec of a job at `path`."""
    found = []
    many = (spec.get("completions") or 0) > MAX_INDEXED and (spec.get("parallelism") or 0) > _MANY
    if spec.get("completionMode") == "Indexed" and many:
        found.append(f"{path}: {_TOO_MANY_INDEXES}")
    return [*found, *spec_warnings(f"{path}.template", spec.get("template") or {})]
