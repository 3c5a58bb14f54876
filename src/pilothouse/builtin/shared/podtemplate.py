"""Templates of pods, as the workloads have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pilothouse.builtin.shared.podannotations import armor_agrees, pod_annotations, seccomp_agrees
from pilothouse.builtin.shared.podspec import pod_spec
from pilothouse.builtin.shared.selectors import is_empty, is_valid, labels, matches
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, Rule, sorted_map

MISMATCH: Final = "`selector` does not match template `labels`"
BAD_SELECTOR: Final = "invalid label selector"
_NO_EPHEMERAL: Final = "ephemeral containers not allowed in pod template"

Object = Mapping[str, Any]


def annotation_keys(value: Object, field: Field) -> None:
    """Keys of annotations and their size, told at the map."""
    for key in field.names(value, words.are_qualified_names):
        field.all_invalid("", key, words.qualified_name(key.lower()))
    if sum(map(len, value)) + sum(map(len, value.values())) > 256 * 1024:
        field.too_long("", 256 * 1024)


def pod_template(value: Object, field: Field) -> None:
    """A template by itself, told from it."""
    metadata = value.get("metadata") or {}
    annotations, spec = metadata.get("annotations"), value.get("spec") or {}
    if metadata.get("labels"):  # told without `metadata`, as in the original
        field.within("labels", labels, metadata["labels"])
    if annotations:
        field.within("annotations", annotation_keys, annotations)
        before = len(field.found)
        pod_annotations(annotations, spec, field)
        field.prefix(before, "annotations")
    field.within("spec", pod_spec, spec)
    before = len(field.found)
    seccomp_agrees(annotations, spec, field)
    armor_agrees(annotations, spec, field)
    field.prefix(before, "spec")
    if spec.get("ephemeralContainers"):
        field.forbidden("spec.ephemeralContainers", _NO_EPHEMERAL)


def check_labels(template: Object, selector: Object | None, field: Field) -> None:
    """A workload's selector must select its own template; told from the template. No selector selects nothing."""
    own = (template.get("metadata") or {}).get("labels")
    if own is None and field.updating and template.get("spec", {}).get("containers"):
        own = {}  # the last label was taken away
    if selector is None or (not is_empty(selector) and not matches(selector, own)):
        field.invalid("metadata.labels", sorted_map(own), MISMATCH)


def only_restarting(template: Object, field: Field, kind: str) -> None:
    """Pods of such workloads are always restarted and have no deadline; told from the template."""
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        field.not_supported("spec.restartPolicy", policy, ("Always",))
    if spec.get("activeDeadlineSeconds") is not None:
        field.forbidden("spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {kind} is not Supported")


def selected_template(kind: str, judged: Callable[[Object, Object], Object] | None = None) -> Rule:
    """For the spec of a workload: a valid selector that matches the template, and a template that restarts its pods.

    An invalid selector hides what is wrong with the template. `judged` makes the template that is looked at out of the
    spec and the template.
    """

    def run(spec: Object, field: Field) -> None:
        selector = spec.get("selector")
        if selector is not None and not is_valid(selector):
            field.invalid("selector", selector, BAD_SELECTOR)
            return
        template = spec.get("template") or {}
        if judged is not None:
            template = judged(spec, template)
        before = len(field.found)
        check_labels(template, selector, field)
        outer, field.old = field.old, None
        pod_template(template, field)
        field.old = outer
        only_restarting(template, field, kind)
        if len(field.found) > before:
            field.prefix(before, "template")

    return run
