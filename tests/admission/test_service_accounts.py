"""Pods run as an account of their namespace and carry its token."""

from __future__ import annotations

import asyncio
from typing import Any

from pilothouse.storage.engines.memory import MemoryEngine

from .world import World, play, pod, refusal

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def account(name: str = "default", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def test_the_default_account_and_its_token_are_added() -> None:
    async def story(world: World) -> None:
        await world.create("serviceaccounts", account())
        made = await world.create("pods", pod(initContainers=[{"name": "i", "image": "x"}]))
        spec = made["spec"]
        assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
        (volume,) = spec["volumes"]
        assert volume["name"].startswith("kube-api-access-")
        assert [next(iter(one)) for one in volume["projected"]["sources"]] == [
            "serviceAccountToken",
            "configMap",
            "downwardAPI",
        ]
        mount = {"name": volume["name"], "readOnly": True, "mountPath": PATH}
        assert spec["containers"][0]["volumeMounts"] == [mount]
        assert spec["initContainers"][0]["volumeMounts"] == [mount]

    play(story, accounts=True)


def test_mounting_can_be_switched_off_and_left_to_the_pod() -> None:
    async def story(world: World) -> None:
        quiet = account("quiet", automountServiceAccountToken=False, imagePullSecrets=[{"name": "pull"}])
        await world.create("serviceaccounts", quiet)
        made = await world.create("pods", pod(serviceAccountName="quiet"))
        assert "volumes" not in made["spec"]
        assert made["spec"]["imagePullSecrets"] == [{"name": "pull"}]
        wanted = pod("b", serviceAccountName="quiet", automountServiceAccountToken=True)
        assert (await world.create("pods", wanted))["spec"]["volumes"]
        taken = [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": PATH}]}]
        mine = pod("d", containers=taken, volumes=[{"name": "v", "emptyDir": {}}])
        mine["spec"] |= {"serviceAccountName": "quiet", "automountServiceAccountToken": True}
        assert len((await world.create("pods", mine))["spec"]["volumes"]) == 1

    play(story, accounts=True)


def test_an_account_must_be_there() -> None:
    async def story(world: World) -> None:
        found = await refusal(world.create("pods", pod(serviceAccountName="nobody")))
        assert found.code == 403
        why = 'error looking up service account p/nobody: serviceaccount "nobody" not found'
        assert found.message == f'pods "a" is forbidden: {why}'
        found = await refusal(world.create("pods", pod()))
        assert "service account p/default" in found.message

    play(story, accounts=True)


def test_the_default_account_of_a_new_namespace_is_waited_for() -> None:
    class Patient(World):
        async def pause(self) -> None:
            if not self.waited:
                await self.create("serviceaccounts", account())
            self.waited += 1

        waited = 0

    async def main() -> None:
        engine = MemoryEngine()
        engine.start()
        world = Patient(engine, accounts=True)
        await world.bootstrap()
        await world.create("pods", pod())
        assert world.waited == 1
        await engine.close()

    asyncio.run(main())


def test_a_strict_account_gives_only_the_secrets_it_names() -> None:
    async def story(world: World) -> None:
        strict = account("strict", secrets=[{"name": "own"}], automountServiceAccountToken=False)
        strict["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": "true"}
        await world.create("serviceaccounts", strict)

        def using(secret: str) -> dict[str, Any]:
            volume = {"name": "v", "secret": {"secretName": secret}}
            return pod(serviceAccountName="strict", volumes=[volume])

        found = await refusal(world.create("pods", using("other")))
        assert found.message.endswith(
            'volume with secret.secretName="other" is not allowed because service account strict does not reference '
            "that secret"
        )
        variable = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}
        by_name = pod(serviceAccountName="strict", containers=[{"name": "c", "image": "i", "env": [variable]}])
        found = await refusal(world.create("pods", by_name))
        assert 'container c with envVar A referencing secret.secretName="other"' in found.message
        await world.create("pods", using("own"))

    play(story, accounts=True)


def test_a_mirror_pod_has_no_account_and_no_secrets() -> None:
    async def story(world: World) -> None:
        mirror = pod(nodeName="n")
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        assert "volumes" not in (await world.create("pods", mirror))["spec"]
        mirror["metadata"]["name"] = "b"
        mirror["spec"]["volumes"] = [{"name": "v", "secret": {"secretName": "s"}}]
        assert (await refusal(world.create("pods", mirror))).message.endswith("a mirror pod may not reference secrets")
        mirror["spec"] |= {"volumes": [], "serviceAccountName": "default"}
        found = await refusal(world.create("pods", mirror))
        assert found.message.endswith("a mirror pod may not reference service accounts")

    play(story, accounts=True)
