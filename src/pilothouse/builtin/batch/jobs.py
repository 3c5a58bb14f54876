"""Jobs: what is filled in (selector and labels too), what is refused, what may change, and their status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.batch.jobchange import job_update
from pilothouse.builtin.batch.jobspec import job_spec, job_spec_defaults, job_warnings
from pilothouse.builtin.batch.jobstatus import job_status
from pilothouse.builtin.shared.podgates import drop_closed
from pilothouse.builtin.shared.podtemplate import MISMATCH
from pilothouse.builtin.shared.podwarnings import name_warning
from pilothouse.builtin.shared.selectors import is_empty, is_valid, label_selector, matches
from pilothouse.builtin.shared.templates import another_spec, respecified
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, at, computed, defaults, on_update, rules, sees_absent, sorted_map
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

UID: Final = "batch.kubernetes.io/controller-uid"
NAME: Final = "batch.kubernetes.io/job-name"
OLD_UID: Final = "controller-uid"
OLD_NAME: Final = "job-name"


def _template_labels(whole: Mapping[str, Any]) -> Object | None:
    template = (whole.get("spec") or {}).get("template") or {}
    found: Object | None = (template.get("metadata") or {}).get("labels")
    return found


def _labels(_: Object, whole: Object) -> Object | None:
    """The template's own labels, not a copy: as in the original, what `_prepare` adds to the one is in the other."""
    return _template_labels(whole) or None


_fill: Final = defaults({"metadata.labels": computed(_labels), "spec": job_spec_defaults})


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """A new job without a selector of its own selects by its uid, and its pods bear its name."""
    template = (new.get("spec") or {}).get("template") or {}
    drop_closed(template, ((old or {}).get("spec") or {}).get("template"))
    if old is not None:
        return
    new["status"] = {}
    spec = new.get("spec") or {}
    if spec.get("manualSelector"):
        return
    uid = new["metadata"].get("uid", "")
    name = new["metadata"].get("name", "")
    metadata = template.setdefault("metadata", {})
    own = {OLD_NAME: name, OLD_UID: uid, NAME: name, UID: uid}
    before = metadata.get("labels")
    metadata["labels"] = {**own, **(before or {})}  # what was sent stays, and is refused where it differs
    if not new["metadata"].get("labels") or new["metadata"]["labels"] is before:
        new["metadata"]["labels"] = dict(metadata["labels"])
    selector = spec.get("selector") or {}
    spec["selector"] = {**selector, "matchLabels": {UID: uid, **(selector.get("matchLabels") or {})}}


def _generated(job: Mapping[str, Any], field: Field) -> None:
    """A selector that was not asked for must be ours, and so must be the labels of the pods."""
    spec = job.get("spec") or {}
    if field.updating or spec.get("manualSelector"):
        return
    uid, name = job["metadata"].get("uid", ""), job["metadata"].get("name", "")
    expected = {OLD_UID: uid, OLD_NAME: name, UID: uid, NAME: name}
    labels = _template_labels(job) or {}
    for key, value in expected.items():
        path, why = f"spec.template.metadata.labels[{key}]", f"must be '{value}'"
        if key not in labels:
            field.required(path, why)
        elif labels[key] != value:
            field.invalid(path, sorted_map(labels), why)
    selector = spec.get("selector") or {}
    if is_valid(selector) and not matches(selector, expected):
        shown = {**selector, "matchLabels": sorted_map(selector.get("matchLabels"))}
        field.invalid("spec.selector", shown, "`selector` not auto-generated")


def _host_names(job: Mapping[str, Any], field: Field) -> None:
    """Pods of an indexed job are called after the job and their index."""
    spec = job.get("spec") or {}
    completions = spec.get("completions") or 0
    if field.updating or spec.get("completionMode") != "Indexed" or completions <= 0:
        return
    name = job["metadata"].get("name", "")
    longest = f"{name}-{completions - 1}"
    if words.label(longest):
        field.invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {longest}")


@sees_absent
def _selector(value: Mapping[str, Any] | None, field: Field) -> None:
    if value is None:
        field.required()
    else:
        label_selector(value, field)


def _matching(spec: Mapping[str, Any], field: Field) -> None:
    selector, own = spec.get("selector"), _template_labels({"spec": spec})
    if selector is None or (not is_empty(selector) and not matches(selector, own)):
        field.invalid("template.metadata.labels", sorted_map(own), MISMATCH)


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    found = list(name_warning(new, of_pods=True)) if old is None else []
    return [*found, *job_warnings("spec", new.get("spec") or {})] if respecified(new, old) else found


def _prepare_status(new: Object, old: Object | None, context: Context) -> None:
    if old is not None:
        new["spec"] = old.get("spec", {})


_validate: Final = rules(
    _generated,
    at("spec", job_spec, at("selector", _selector), _matching, on_update(job_update)),
    _host_names,
)

behaviour = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(_prepare_status, rules(at("status", job_status)))},
)
