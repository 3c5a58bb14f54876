"""What is refused in jobs and cron jobs, beyond the recorded conversations."""

from __future__ import annotations

from typing import Any

import pytest
from writes import Kind

JOBS = Kind("batch", "jobs")
CRON = Kind("batch", "cronjobs")
CONTAINERS = [{"name": "c", "image": "i"}]


def job(template: Any = None, *, name: str = "a", **spec: Any) -> dict[str, Any]:
    pods = {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}, **(template or {})}
    return {"metadata": {"name": name}, "spec": {**spec, "template": pods}}


def cron(template: Any = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {**job()["spec"], **(template or {})}}, **spec}}


def test_labels_that_the_server_gives_are_not_ones_own() -> None:
    sent = job({"metadata": {"labels": {"job-name": "other"}}})
    [(path, message)] = JOBS.causes(sent)
    assert path == "spec.template.metadata.labels[job-name]"
    assert message.endswith(": must be 'a'")
    key = "batch.kubernetes.io/controller-uid"
    causes = JOBS.causes(job(selector={"matchLabels": {key: "x"}}))
    assert [path for path, _ in causes] == ["spec.selector", "spec.template.metadata.labels"]
    assert causes[0][1].endswith(": `selector` not auto-generated")


def test_names_of_indexed_jobs_leave_room_for_the_index() -> None:
    name = "a" * 61
    JOBS.create(job(name=name, completionMode="Indexed", completions=10))
    assert JOBS.causes(job(name=name, completionMode="Indexed", completions=11)) == [
        ("metadata.name", f'Invalid value: "{name}": will not able to create pod with invalid DNS label: {name}-10')
    ]


def test_limits_of_very_many_indexes() -> None:
    sent = job(completionMode="Indexed", completions=100_001, backoffLimitPerIndex=1, parallelism=10_001)
    why = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
    assert JOBS.causes(sent) == [
        ("spec.maxFailedIndexes", "Required value: must be specified when completions is above 100000"),
        ("spec.parallelism", f"Invalid value: 10001: {why}"),
    ]
    sent = job(completionMode="Indexed", completions=100_001, backoffLimitPerIndex=1, maxFailedIndexes=10_001)
    assert JOBS.causes(sent) == [("spec.maxFailedIndexes", f"Invalid value: 10001: {why}")]


@pytest.mark.parametrize(
    ("manager", "causes"),
    [
        ("", ["Required value"]),
        ("Acme/x", ["a lowercase RFC 1123 subdomain must"]),
        ("acme.io/a b", ["Invalid path (regex used for validation is"]),
        ("acme.io/" + "a" * 56, ["Too long: may not be more than 63 bytes"]),
    ],
)
def test_who_manages_a_job(manager: str, causes: list[str]) -> None:
    found = JOBS.causes(job(managedBy=manager))
    assert [path for path, _ in found] == ["spec.managedBy"] * len(causes)
    assert all(part in message for part, (_, message) in zip(causes, found, strict=True))


def test_words_of_failure_policies_are_required() -> None:
    rules = [{"onExitCodes": {"values": [1]}}]
    assert JOBS.causes(job(podFailurePolicy={"rules": rules})) == [
        (
            "spec.podFailurePolicy.rules[0].action",
            'Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
        ),
        ("spec.podFailurePolicy.rules[0].onExitCodes.operator", 'Required value: valid values: ["In" "NotIn"]'),
    ]


def test_a_suspended_job_may_not_move_to_other_pods() -> None:
    old, _ = JOBS.create(job(suspend=True))
    nodes = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": []}]}}
    JOBS.change(old, {"spec": {"template": {"spec": {"affinity": {"nodeAffinity": nodes}}}}})
    term = {"topologyKey": "z", "labelSelector": {}}
    pods = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    with pytest.raises(Exception, match="field is immutable"):
        JOBS.change(old, {"spec": {"template": {"spec": {"affinity": pods}}}})


def conditions(*kinds: str) -> list[dict[str, Any]]:
    return [{"type": kind, "status": "True"} for kind in kinds]


TIMES = {"startTime": "2026-01-01T00:00:10Z", "completionTime": "2026-01-01T00:00:05Z"}


@pytest.mark.parametrize(
    ("spec", "before", "after", "expected"),
    [
        (
            {},
            {},
            {"conditions": conditions("Complete", "SuccessCriteriaMet"), **TIMES},
            [
                (
                    "status.completionTime",
                    'Invalid value: "2026-01-01T00:00:05Z": completionTime cannot be set before startTime',
                )
            ],
        ),
        (
            {},
            {},
            {"conditions": conditions("SuccessCriteriaMet", "FailureTarget")},
            [
                (
                    "status.conditions",
                    "Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
                )
            ],
        ),
        (
            {"completionMode": "Indexed", "completions": 5, "backoffLimitPerIndex": 1},
            {},
            {"completedIndexes": "0-2", "failedIndexes": "1,4"},
            [
                (
                    "status.failedIndexes",
                    'Invalid value: "1,4": failedIndexes and completedIndexes overlap at index: 1',
                )
            ],
        ),
        (
            {},
            {"conditions": conditions("FailureTarget")},
            {},
            [("status.conditions", "Invalid value: cannot disable the terminal FailureTarget=True condition")],
        ),
        ({}, {"startTime": "2026-01-01T00:00:10Z"}, {"startTime": "2026-01-01T00:00:10Z", "ready": 1}, [
            ("status.ready", "Invalid value: 1: cannot set more ready pods than active")
        ]),
    ],
)  # fmt: skip
def test_what_a_status_may_say(spec: Any, before: Any, after: Any, expected: Any) -> None:
    old, _ = JOBS.create(job(**spec))
    old["status"] = before
    assert JOBS.causes({**old, "status": after}, old, "status") == expected


@pytest.mark.parametrize(("after", "shown"), [(None, "null"), ("2026-01-02T00:00:00Z", '"2026-01-02T00:00:00Z"')])
def test_a_job_that_runs_has_started_once(after: str | None, shown: str) -> None:
    old, _ = JOBS.create(job())
    old["status"] = {"startTime": "2026-01-01T00:00:00Z"}
    told = f"Invalid value: {shown}: field is immutable for unsuspended job once set"
    status = {"startTime": after} if after else {}
    assert JOBS.causes({**old, "status": status}, old, "status") == [("status.startTime", told)]


def test_templates_of_cron_jobs_have_no_selector() -> None:
    [(path, message)] = CRON.causes(cron({"selector": {"matchLabels": {"a": "b"}}}))
    assert path == "spec.jobTemplate.spec.selector"
    assert message == 'Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated'


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        ({"timeZone": "-x"}, ['Invalid value: "-x": unknown time zone -x']),
        (
            {"schedule": "TZ=No * * * * *"},
            [
                'Invalid value: "TZ=No * * * * *": provided bad location No: unknown time zone No',
                'Invalid value: "TZ=No * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
            ],
        ),
    ],
)
def test_zones_of_schedules(spec: Any, messages: list[str]) -> None:
    assert [message for _, message in CRON.causes(cron(**spec))] == messages
