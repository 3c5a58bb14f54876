"""Events are one thing with two kinds: owners of fields are kept whichever kind they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builtin.inside import Inside, run, server

CORE = "/api/v1/namespaces/default/events"
NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
EVENT: dict[str, Any] = {
    "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "reason": "r",
    "action": "a", "regarding": {"kind": "Pod", "namespace": "default", "name": "p"}, "reportingController": "c",
    "reportingInstance": "i", "eventTime": "2020-01-01T00:00:00.000000Z", "note": "n",
}  # fmt: skip


async def _owned(api: Inside) -> dict[tuple[str, str], set[str]]:
    entries = (await api.get(f"{CORE}/e"))["metadata"]["managedFields"]
    return {(one["manager"], one["apiVersion"]): set(one["fieldsV1"]) for one in entries}


def test_a_write_in_one_group_takes_from_owners_in_the_other_what_it_changes(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            applied = await api.send("PATCH", f"{NEW}/e?fieldManager=new", EVENT, kind=APPLY)
            assert applied.status == 201, applied.body
            patch = {"message": "other", "metadata": {"labels": {"a": "b"}}}
            assert (await api.send("PATCH", f"{CORE}/e?fieldManager=core", patch, kind=MERGE)).status == 200
            members = {f"f:{name}" for name in EVENT if name not in ("apiVersion", "kind", "metadata", "note")}
            assert await _owned(api) == {
                ("new", "events.k8s.io/v1"): members,
                ("core", "v1"): {"f:message", "f:metadata"},
            }

    run(story())
