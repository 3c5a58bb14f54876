"""The three Pod Security Standards."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.admission.podsecurity.pod import pod_of
from pilothouse.admission.podsecurity.policy import LATEST, Standard
from pilothouse.admission.podsecurity.standards import violations

from .world import NAMESPACE, World, play, pod, refusal

GOOD = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


async def label(world: World, **labels: str) -> None:
    chosen = {f"pod-security.kubernetes.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    await world.update("namespaces", NAMESPACE, lambda obj: obj["metadata"].setdefault("labels", {}).update(chosen))


def with_security(name: str = "a", **context: Any) -> dict[str, Any]:
    return pod(name, containers=[{"name": "c", "image": "i", "securityContext": context}])


def found(
    level: str, spec: dict[str, Any], minor: int = LATEST, annotations: dict[str, str] | None = None
) -> list[str]:
    made = pod_of({"annotations": annotations or {}}, spec)
    return [str(one) for one in violations(Standard(level, minor), made)]


def spec_of(context: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", "securityContext": context or {}}], **spec}


def test_a_violation_is_refused_with_every_reason() -> None:
    async def story(world: World) -> None:
        await label(world, enforce="restricted", enforce_version="v1.30")
        refused = await refusal(world.create("pods", with_security(privileged=True)))
        assert refused.code == 403
        assert refused.message == (
            'pods "a" is forbidden: violates PodSecurity "restricted:v1.30": privileged (container "c" must not set '
            'securityContext.privileged=true), allowPrivilegeEscalation != false (container "c" must set '
            'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set '
            'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set '
            'securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set '
            'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
        )
        await world.create("pods", with_security(**GOOD))

    play(story)


def test_warnings_are_for_pods_and_templates() -> None:
    async def story(world: World) -> None:
        await label(world, warn="baseline")
        await world.create("pods", with_security(privileged=True))
        text = 'container "c" must not set securityContext.privileged=true'
        assert world.warnings == [f'would violate PodSecurity "baseline:latest": privileged ({text})']
        world.warnings.clear()
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {**with_security()["spec"], "hostPID": True}}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        await world.create("deployments", {"metadata": {"name": "d"}, "spec": spec})
        job = {"template": {"spec": {**template["spec"], "restartPolicy": "Never"}}}
        cron = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
        await world.create("cronjobs", {"metadata": {"name": "c"}, "spec": cron})
        assert world.warnings == [
            'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
        ] * 2  # fmt: skip

    play(story)


def test_debugging_containers_are_looked_at() -> None:
    async def story(world: World) -> None:
        await label(world, enforce="baseline")
        await world.create("pods", pod())

        def debug(obj: dict[str, Any]) -> None:
            one = {"name": "dbg", "image": "b", "securityContext": {"privileged": True}}
            obj["spec"]["ephemeralContainers"] = [
                {**one, "imagePullPolicy": "Always", "terminationMessagePolicy": "File", "terminationMessagePath": "/x"}
            ]

        refused = await refusal(world.update("pods", "a", debug, subresource="ephemeralcontainers"))
        assert 'container "dbg" must not set securityContext.privileged=true' in refused.message
        await world.update("pods", "a", lambda obj: obj["metadata"].update(labels={"a": "b"}))

    play(story)


def test_who_makes_a_namespace_stricter_hears_of_its_pods() -> None:
    async def story(world: World) -> None:
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
        for name in ("x", "y"):
            owned = with_security(name, privileged=True)
            owned["metadata"]["ownerReferences"] = [owner]
            await world.create("pods", owned)
        await world.create("pods", with_security("b", privileged=True))
        await label(world, enforce="baseline")
        assert world.warnings == [
            f'existing pods in namespace "{NAMESPACE}" violate the new PodSecurity enforce level "baseline:latest"',
            "b (and 1 other pod): privileged",
        ]
        world.warnings.clear()
        await label(world, warn="baseline")
        assert not world.warnings

    play(story)


def test_labels_that_cannot_be_read_are_refused() -> None:
    async def story(world: World) -> None:
        refused = await refusal(label(world, enforce="strict", audit_version="1.30"))
        assert refused.code == 422
        head = "metadata.labels[pod-security.kubernetes.io/"
        assert refused.message == (
            f'Namespace "{NAMESPACE}" is invalid: [{head}enforce]: Invalid value: "strict": must be one of privileged, '
            f'baseline, restricted, {head}audit-version]: Invalid value: "1.30": must be "latest" or "v1.x"]'
        )

    play(story)


BASELINE = [
    (spec_of({"capabilities": {"add": ["NET_RAW", "CHOWN"]}}), "non-default capabilities", "NET_RAW"),
    (spec_of(hostNetwork=True, hostIPC=True), "host namespaces", "hostNetwork=true, hostIPC=true"),
    (spec_of(volumes=[{"name": "h", "hostPath": {}}, {"name": "e", "emptyDir": {}}]), "hostPath volumes", 'volume "h"'),
    (spec_of({"procMount": "Unmasked"}), "procMount", '"Unmasked"'),
    (
        spec_of({"seLinuxOptions": {"type": "spc_t", "user": "u"}}),
        "seLinuxOptions",
        'type "spc_t"; user may not be set',
    ),
    (spec_of({"seccompProfile": {"type": "Unconfined"}}), "seccompProfile", '"Unconfined"'),
    (spec_of({"appArmorProfile": {"type": "Unconfined"}}), "forbidden AppArmor profile", '"Unconfined"'),
    (spec_of(securityContext={"sysctls": [{"name": "vm.x"}]}), "forbidden sysctls", "vm.x"),
    (spec_of({"windowsOptions": {"hostProcess": True}}), "hostProcess", "hostProcess=true"),
    ({"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}, "hostPort", "uses hostPort 80"),
    ({"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "h"}}}]}, "probe or lifecycle host", '"h"'),
]


@pytest.mark.parametrize(("spec", "reason", "detail"), BASELINE, ids=[reason for _, reason, _ in BASELINE])
def test_baseline_closes_the_known_ways_out(spec: dict[str, Any], reason: str, detail: str) -> None:
    (text,) = found("baseline", spec)
    assert text.startswith(f"{reason} (")
    assert detail in text
    assert not found("privileged", spec)


RESTRICTED = [
    ({"runAsUser": 0}, "runAsUser=0"),
    ({"runAsNonRoot": False}, 'container "c" must not set securityContext.runAsNonRoot=false'),
    ({"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}}, 'must not include "CHOWN"'),
    ({"seccompProfile": {"type": "Unconfined"}}, 'must not set securityContext.seccompProfile.type to "Unconfined"'),
]


@pytest.mark.parametrize(("context", "detail"), RESTRICTED)
def test_restricted_demands_a_hardened_pod(context: dict[str, Any], detail: str) -> None:
    assert not found("restricted", spec_of(GOOD))
    (text,) = found("restricted", spec_of({**GOOD, **context}))
    assert detail in text


def test_restricted_volumes_are_told_by_their_types() -> None:
    volumes = [{"name": "n", "nfs": {}}, {"name": "h", "hostPath": {}}, {"name": "c", "configMap": {}}]
    assert found("restricted", spec_of(GOOD, volumes=volumes)) == [
        'restricted volume types (volumes "n", "h" use restricted volume types "hostPath", "nfs")'
    ]


def test_root_inside_users_of_its_own_is_nobody_outside() -> None:
    root = {**GOOD, "runAsNonRoot": False, "runAsUser": 0}
    assert len(found("restricted", spec_of(root))) == 2
    assert len(found("restricted", spec_of(root, hostUsers=True))) == 2
    assert not found("restricted", spec_of(root, hostUsers=False))


def test_an_unmasked_proc_needs_users_of_its_own() -> None:
    unmasked = {**GOOD, "procMount": "Unmasked"}
    told = 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'
    assert found("baseline", spec_of(unmasked)) == [told]
    assert not found("baseline", spec_of(unmasked, hostUsers=False))
    assert found("baseline", spec_of(unmasked, hostUsers=False), minor=34) == [told]
    assert found("restricted", spec_of(unmasked, hostUsers=False)) == [told]
    assert found("restricted", spec_of(unmasked)) == [told, told]  # by both levels
    assert found("restricted", spec_of(unmasked), minor=34) == [told]


def test_checks_hold_from_their_version_on() -> None:
    host = {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "h"}}}]}
    assert not found("baseline", host, minor=33)
    assert found("baseline", host, minor=34)
    windows = spec_of({"runAsNonRoot": True}, os={"name": "windows"})
    assert len(found("restricted", windows, minor=24)) == 3
    assert not found("restricted", windows, minor=25)
    sysctls = spec_of(securityContext={"sysctls": [{"name": "net.ipv4.tcp_slow_start_after_idle", "value": "0"}]})
    assert found("baseline", sysctls, minor=36) == ["forbidden sysctls (net.ipv4.tcp_slow_start_after_idle)"]
    assert not found("baseline", sysctls, minor=37)
    old = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    assert found("baseline", spec_of(), minor=18, annotations=old)
    assert not found("baseline", spec_of(), minor=19, annotations=old)
