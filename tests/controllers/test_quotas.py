"""Quotas: their status says what is used, whatever comes and goes, and admission can rely on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.controllers import names
from pilothouse.controllers.client import Refusal

from .servers import Object, run, server

DEFAULT = "/api/v1/namespaces/default"
QUOTAS = f"{DEFAULT}/resourcequotas"


def pod_spec(cpu: str) -> Object:
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}


def uses(**used: str) -> Callable[[Object], bool]:
    wanted = {name.replace("__", "/").replace("_", "."): amount for name, amount in used.items()}
    return lambda found: found.get("status", {}).get("used") == wanted


def test_a_new_quota_counts_what_is_there_and_what_goes_is_given_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await admin.there(f"{DEFAULT}/serviceaccounts/default")
            await admin.there(f"{DEFAULT}/configmaps/kube-root-ca.crt")
            for number in range(3):
                await admin.make(f"{DEFAULT}/configmaps", f"m-{number}")
                await admin.make(f"{DEFAULT}/pods", f"p-{number}", spec=pod_spec("250m"))
            hard = {"pods": "4", "requests.cpu": "1", "count/configmaps": "10"}
            await admin.make(QUOTAS, "all", spec={"hard": hard})
            counted = await admin.there(
                f"{QUOTAS}/all",
                uses(pods="3", requests_cpu="750m", count__configmaps="4"),
            )
            assert counted["status"]["hard"] == hard
            await admin.remove(f"{DEFAULT}/pods/p-0")
            await admin.remove(f"{DEFAULT}/configmaps/m-0")
            await admin.there(
                f"{QUOTAS}/all",
                uses(pods="2", requests_cpu="500m", count__configmaps="3"),
            )

    run(story())


def test_admission_and_the_controller_agree(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await admin.make(QUOTAS, "two", spec={"hard": {"count/secrets": "2"}})
            await admin.there(f"{QUOTAS}/two", uses(count__secrets="0"))
            for number in range(2):
                await admin.make(f"{DEFAULT}/secrets", f"s-{number}")
            with pytest.raises(Refusal, match="exceeded quota: two, requested: count/secrets=1, used: "):
                await admin.make(f"{DEFAULT}/secrets", "s-2")
            await admin.remove(f"{DEFAULT}/secrets/s-0")
            await admin.there(f"{QUOTAS}/two", uses(count__secrets="1"))
            await admin.make(f"{DEFAULT}/secrets", "s-2")
            await admin.there(f"{QUOTAS}/two", uses(count__secrets="2"))

    run(story())


def test_scopes_choose_what_is_counted(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as admin:
            await admin.there(f"{DEFAULT}/serviceaccounts/default")
            await admin.make(f"{DEFAULT}/pods", "long", spec=pod_spec("1"))
            await admin.make(f"{DEFAULT}/pods", "short", spec={**pod_spec("1"), "activeDeadlineSeconds": 60})
            hard = {"pods": "5"}
            for name, scope in (("ends", "Terminating"), ("stays", "NotTerminating"), ("free", "BestEffort")):
                await admin.make(QUOTAS, name, spec={"hard": hard, "scopes": [scope]})
            for name, count in (("ends", "1"), ("stays", "1"), ("free", "0")):
                await admin.there(f"{QUOTAS}/{name}", uses(pods=count))

    run(story())


def test_other_limits_are_counted_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path, names.QUOTA) as admin:
            await admin.make(QUOTAS, "q", spec={"hard": {"count/secrets": "2"}})
            await admin.there(f"{QUOTAS}/q", uses(count__secrets="0"))
            await admin.patch(f"{QUOTAS}/q", {"spec": {"hard": {"count/secrets": None, "configmaps": "5"}}})
            changed = await admin.there(f"{QUOTAS}/q", uses(configmaps="0"))
            assert changed["status"]["hard"] == {"configmaps": "5"}

    run(story())
