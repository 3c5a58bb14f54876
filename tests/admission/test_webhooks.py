"""Webhooks that are asked about writes: what they see, what they may change, whom they may stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from admission.far import (
    BASE,
    CONFIG_MAPS,
    MAPS,
    MUTATING,
    VALIDATING,
    Far,
    Object,
    add,
    config_map,
    configure,
    deny,
    far_side,
    patch,
    raw,
)  # fmt: skip
from builtin.inside import Inside, Reply, run, server
from pilothouse.endpoints.scope import Notes
from support.inprocess import asked
from support.measured import Scrape

Story = Callable[[Inside, Far], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Story], None]:
    def played(story: Story) -> None:
        async def main() -> None:
            async with far_side(tmp_path) as far, server(tmp_path) as api:
                await story(api, far)

        run(main())

    return played


async def made(api: Inside, name: str = "a", **more: object) -> Reply:
    return await api.send("POST", MAPS, config_map(name, **more))


def test_a_configuration_is_in_effect_at_once_and_gone_at_once(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["no"] = deny("not today")
        await configure(api, VALIDATING, "v", far.hook("no"))
        refused = await made(api)
        assert (refused.status, refused["message"]) == (
            403, 'admission webhook "no.hooks.example.com" denied the request: not today',
        )  # fmt: skip
        assert (await api.send("DELETE", f"{BASE}/{VALIDATING}/v")).status == 200
        assert (await made(api)).status == 201

    play(story)


def test_the_first_in_order_that_refuses_is_told_and_all_are_asked_at_once(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.held["slow"] = asyncio.Event()
        far.answers |= {"slow": deny("slow"), "quick": deny("quick")}
        await configure(api, VALIDATING, "v", far.hook("slow"), far.hook("quick"))
        writing = asyncio.ensure_future(made(api))
        async with asyncio.timeout(10):
            while len(far.seen) < 2:  # the second one is asked though the first one has not answered
                await asyncio.sleep(0)
        far.held["slow"].set()
        assert (await writing)["message"].endswith("denied the request: slow")

    play(story)


def test_mutating_webhooks_see_what_the_ones_before_made(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["one"] = patch(add("/data", {"x": "1"}))
        await configure(api, MUTATING, "b", far.hook("two"))
        await configure(api, MUTATING, "a", far.hook("one"))
        reply = await made(api)
        assert reply["data"] == {"x": "1"}
        assert [word for word, _ in far.seen] == ["one", "two"]  # by the names of the configurations
        assert far.requests("two")[0]["object"]["data"] == {"x": "1"}
        assert "uid" not in far.requests("one")[0]["object"]["metadata"]
        assert far.requests("one")[0]["object"]["metadata"]["namespace"] == "default"

    play(story)


def test_a_changed_object_is_shown_again_to_who_wants_that(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["late"] = patch(add("/data", {"x": "1"}))
        eager = far.hook("eager", reinvocationPolicy="IfNeeded")
        await configure(api, MUTATING, "m", eager, far.hook("once"), far.hook("late"))
        assert (await made(api)).status == 201
        assert [word for word, _ in far.seen] == ["eager", "once", "late", "eager"]
        await made(api, "b", data={"x": "1"})  # the patch changes nothing now
        assert [word for word, _ in far.seen[4:]] == ["eager", "once", "late"]

    play(story)


def test_big_objects_are_worked_on_aside(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        data = {f"key-{number}": "v" * 40 for number in range(4000)}
        far.answers["one"] = patch(add("/data/more", "1"))
        await configure(api, MUTATING, "m", far.hook("one"))
        await configure(api, VALIDATING, "v", far.hook("see"))
        assert (await made(api, data=data))["data"] == {**data, "more": "1"}
        assert far.requests("see")[0]["object"]["data"] == {**data, "more": "1"}

    play(story)


def test_a_patched_pod_has_its_defaults(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["side"] = patch(add("/spec/containers/-", {"name": "side", "image": "proxy"}))
        rule = {**CONFIG_MAPS, "resources": ["pods"]}
        await configure(api, MUTATING, "m", far.hook("side", rules=[rule]))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
        found = await api.make(
            "/api/v1/namespaces/default/pods", {**pod, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        )
        assert found["spec"]["containers"][1]["imagePullPolicy"] == "Always"
        assert found["spec"]["containers"][1]["terminationMessagePath"] == "/dev/termination-log"

    play(story)


def test_trouble_is_passed_over_only_where_that_is_wanted(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.raw["bad"] = raw(b"", 503)
        await configure(api, VALIDATING, "v", far.hook("bad", failurePolicy="Ignore"))
        assert (await made(api)).status == 201
        await configure(api, VALIDATING, "w", far.hook("bad"))
        refused = await made(api, "b")
        assert refused.status == 500
        assert refused["message"] == (
            'Internal error occurred: failed calling webhook "bad.hooks.example.com": failed to call webhook: '
            "the server is currently unable to handle the request"
        )
        found = await api.send("GET", "/metrics")
        lines = [line for line in str(found.body).splitlines() if line.startswith("apiserver_admission_webhook_")]
        name = 'name="bad.hooks.example.com"'
        assert f'apiserver_admission_webhook_fail_open_count{{{name},type="validating"}} 2' in lines
        assert any("rejection_count" in line and 'error_type="calling_webhook_error"' in line for line in lines)
        assert any("request_total" in line and 'code="503"' in line and 'rejected="false"' in line for line in lines)
        told, host = Scrape(str(found.body)), f"127.0.0.1:{far.port}"
        assert told.value("rest_client_requests_total", code="503", method="POST", host=host) == 3
        assert told.value("rest_client_request_duration_seconds_count", verb="POST", host=host) == 3
        assert told.value("rest_client_request_size_bytes_sum", host=host) > 3 * 100
        assert told.value("rest_client_response_size_bytes_count", host=host) == 3

    play(story)


def test_a_webhook_may_write_the_object_it_is_asked_about(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        await made(api)
        far.held["busy"] = asyncio.Event()
        await configure(api, VALIDATING, "v", far.hook("busy", objectSelector={"matchLabels": {"asks": "yes"}}))
        change = config_map(metadata={"labels": {"asks": "yes"}}, data={"x": "1"})
        writing = asyncio.ensure_future(api.send("PUT", f"{MAPS}/a", change))
        async with asyncio.timeout(10):
            while not far.seen:
                await asyncio.sleep(0)
            kind = "application/merge-patch+json"
            inner = await api.send("PATCH", f"{MAPS}/a", {"data": {"y": "2"}}, kind=kind)
        assert inner.status == 200
        far.held["busy"].set()
        assert (await writing)["data"] == {"x": "1"}
        assert len(far.seen) == 2  # the object had changed meanwhile

    play(story)


def test_a_webhook_has_only_so_much_time(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.held["slow"] = asyncio.Event()
        await configure(api, VALIDATING, "v", far.hook("slow", timeoutSeconds=1))
        refused = await made(api)
        assert refused.status == 500
        assert refused["message"].endswith('/slow?timeout=1s": context deadline exceeded')
        told = Scrape(str((await api.send("GET", "/metrics")).body))
        assert told.value("rest_client_requests_total", code="<error>") == 1

    play(story)


def test_deletes_are_told_with_the_old_object_and_the_options(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        await made(api)
        await configure(api, VALIDATING, "v", far.hook("see"))
        await api.send("DELETE", f"{MAPS}/a?propagationPolicy=Foreground")
        (request,) = far.requests("see")
        assert (request["operation"], request["object"], request["name"]) == ("DELETE", None, "a")
        assert request["oldObject"]["metadata"]["name"] == "a"
        assert request["options"] == {
            "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "propagationPolicy": "Foreground",
        }  # fmt: skip

    play(story)


def test_a_patch_on_a_delete_is_an_error(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        await made(api)
        far.answers["eager"] = patch(add("/data", {}))
        await configure(api, MUTATING, "m", far.hook("eager", failurePolicy="Ignore"))
        refused = await api.send("DELETE", f"{MAPS}/a")
        assert refused.status == 500
        assert "attempted to modify the object, which is not supported for this operation" in refused["message"]

    play(story)


def test_a_namespace_selector_looks_at_the_namespace_that_is_written(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["no"] = deny("closed")
        rule = {**CONFIG_MAPS, "resources": ["namespaces"]}
        await configure(
            api, VALIDATING, "v", far.hook("no", rules=[rule], namespaceSelector={"matchLabels": {"closed": "yes"}})
        )
        body: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "labels": {"closed": "yes"}}}
        assert (await api.send("POST", "/api/v1/namespaces", body)).status == 403
        assert far.requests("no")[0]["namespace"] == "n"
        body["metadata"]["labels"] = {}
        await api.make("/api/v1/namespaces", body)
        assert (await api.send("DELETE", "/api/v1/namespaces/n")).status == 200  # its labels are looked up

    play(story)


def test_scale_and_its_patch(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["more"] = patch({"op": "replace", "path": "/spec/replicas", "value": 7})
        rule = {**CONFIG_MAPS, "apiGroups": ["apps"], "resources": ["deployments/scale"]}
        await configure(api, MUTATING, "m", far.hook("more", rules=[rule]))
        await configure(api, VALIDATING, "v", far.hook("see", rules=[rule]))
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        path = "/apis/apps/v1/namespaces/default/deployments"
        await api.make(path, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec})
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}}
        reply = await api.send("PUT", f"{path}/d/scale", body)
        assert reply["spec"] == {"replicas": 7}
        assert (await api.get(f"{path}/d"))["spec"]["replicas"] == 7
        (request,) = far.requests("see")
        assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
        assert (request["object"]["spec"], request["oldObject"]["spec"]) == ({"replicas": 7}, {"replicas": 1})

    play(story)


def test_an_eviction_is_no_delete(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        pods = "/api/v1/namespaces/default/pods"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
        await api.make(pods, {**pod, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        await configure(
            api, VALIDATING, "v", far.hook("see", rules=[{**CONFIG_MAPS, "resources": ["pods", "pods/eviction"]}])
        )
        await api.make(f"{pods}/p/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
        (request,) = far.requests("see")
        assert (request["operation"], request["kind"]["kind"]) == ("CREATE", "Eviction")

    play(story)


def test_events_are_seen_in_the_group_that_was_asked_for(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        rule = {**CONFIG_MAPS, "apiGroups": ["events.k8s.io"], "resources": ["events"]}
        await configure(
            api, VALIDATING, "v", far.hook("see", rules=[rule]), far.hook("exact", rules=[rule], matchPolicy="Exact")
        )
        where = {"kind": "Pod", "namespace": "default", "name": "p"}
        body = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": where, "message": "m"}
        await api.make("/api/v1/namespaces/default/events", body)
        ((word, request),) = far.seen
        assert word == "see"
        assert request["requestKind"] == {"group": "", "version": "v1", "kind": "Event"}
        assert request["kind"] == {"group": "events.k8s.io", "version": "v1", "kind": "Event"}
        assert request["object"]["apiVersion"] == "events.k8s.io/v1"
        assert (request["object"]["note"], request["object"]["regarding"]["name"]) == ("m", "p")

    play(story)


def test_an_old_webhook_is_asked_in_its_own_version(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["old"] = lambda request: {**patch(add("/data", {"x": "1"}))(request), "patchType": None, "uid": ""}
        await configure(api, MUTATING, "m", far.hook("old", admissionReviewVersions=["v1beta1"]))
        assert (await made(api))["data"] == {"x": "1"}
        assert far.versions == ["admission.k8s.io/v1beta1"]

    play(story)


def test_what_auditors_are_told(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["annotate"] = lambda request: {"auditAnnotations": {"reason": "hooked"}}
        far.answers["patch"] = patch(add("/data", {"a": "b"}))
        far.raw["open"] = raw(b"", 500)
        hooks = [far.hook("annotate"), far.hook("patch"), far.hook("open", failurePolicy="Ignore")]
        await configure(api, MUTATING, "m", *hooks)
        request, notes = asked(f"POST {MAPS}", config_map(), token="admin-token"), Notes()
        request.attach(notes)
        await api.application.handler(request)
        webhook = "webhook.admission.k8s.io/round_0_index"
        told = '{"configuration":"m","webhook":"%s.hooks.example.com",%s}'
        assert notes == {
            "annotate.hooks.example.com/reason": "hooked",
            f"mutation.{webhook}_0": told % ("annotate", '"mutated":false'),
            f"mutation.{webhook}_1": told % ("patch", '"mutated":true'),
            f"mutation.{webhook}_2": told % ("open", '"mutated":false'),
            f"failed-open.mutation.{webhook}_2": "open.hooks.example.com",
            f"patch.{webhook}_1": told
            % ("patch", '"patch":[{"op":"add","path":"/data","value":{"a":"b"}}],"patchType":"JSONPatch"'),
        }

    play(story)


def test_connections_are_kept_and_a_packed_answer_is_unpacked(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.packed = True
        await configure(api, VALIDATING, "v", far.hook("see"))
        for name in ("a", "b", "c"):
            assert (await made(api, name)).status == 201
        assert (len(far.seen), far.connections) == (3, 1)

    play(story)


def test_a_redirect_is_followed_on_the_same_host_only(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.raw["there"] = raw(b"", 307, b"Location: /yes?q=1\r\n")
        far.raw["away"] = raw(b"", 307, b"Location: https://127.0.0.2/yes\r\n")
        await configure(api, VALIDATING, "v", far.hook("there"))
        assert (await made(api)).status == 201
        assert far.targets == ["/there?timeout=10s", "/yes?q=1"]
        await configure(api, VALIDATING, "w", far.hook("away"))
        refused = await made(api, "b")
        assert refused["message"].endswith("redirected to another host: https://127.0.0.2")

    play(story)


def test_conditions_must_all_hold(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        conditions = [
            {"name": "kept", "expression": "object.metadata.name.startsWith('a')"},
            {"name": "right", "expression": "authorizer.requestResource.check('delete').allowed()"},
            {"name": "broken", "expression": "object.data.size() > 0"},
        ]
        await configure(api, VALIDATING, "v", far.hook("see", matchConditions=conditions))
        assert (await made(api, "b")).status == 201  # one that does not hold hides what is wrong with others
        refused = await made(api, "a")
        assert refused.status == 403
        assert refused["message"] == (
            "configmaps \"a\" is forbidden: expression 'object.data.size() > 0' resulted in error: no such key: data"
        )
        assert far.seen == []
        assert (await made(api, "a", data={"x": "1"})).status == 201
        assert len(far.seen) == 1

    play(story)


def test_a_condition_that_runs_for_too_long_is_stopped(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        nested = "[0,1,2,3,4,5,6,7,8,9]"
        expression = "true"
        for name in "abcdefgh":
            expression = f"{nested}.all({name}, {expression})"
        condition = {"name": "long", "expression": expression}
        await configure(api, VALIDATING, "v", far.hook("see", matchConditions=[condition]))
        refused = await made(api)
        assert refused.status == 403
        assert refused["message"].endswith("operation cancelled: actual cost limit exceeded")

    play(story)


def test_configurations_are_not_judged(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        far.answers["no"] = deny("locked")
        every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
        await configure(api, VALIDATING, "v", far.hook("no", rules=[every]))
        assert (await made(api)).status == 403
        assert (await api.send("DELETE", f"{BASE}/{VALIDATING}/v")).status == 200

    play(story)


def test_the_server_starts_whatever_webhooks_say(tmp_path: Path) -> None:
    async def main() -> None:
        async with far_side(tmp_path) as far:
            far.answers["no"] = deny("nothing at all")
            every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
            async with server(tmp_path, storage="sqlite") as api:
                await configure(api, VALIDATING, "v", far.hook("no", rules=[every]))
            async with server(tmp_path, storage="sqlite") as api:  # which waits for its start
                assert (await made(api)).status == 403
                seen = {request["resource"]["resource"] for request in far.requests("no")}
                assert seen == {"configmaps"}

    run(main())


def test_a_webhook_behind_a_service(play: Callable[[Story], None]) -> None:
    async def story(api: Inside, far: Far) -> None:
        where = {"namespace": "default", "name": "hook", "port": far.port, "path": "/no/deep"}
        config = {"service": where, "caBundle": far.bundle}
        await configure(api, VALIDATING, "v", far.hook("no", clientConfig=config))
        assert (await made(api))["message"].endswith('service "hook" not found')
        spec = {"type": "ExternalName", "externalName": "localhost"}
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"}, "spec": spec}
        await api.make("/api/v1/namespaces/default/services", body)
        assert (await made(api)).status == 201  # its certificate is for hook.default.svc
        assert far.targets == ["/no/deep?timeout=10s"]

    play(story)


def test_plug_ins_can_be_switched_off(tmp_path: Path) -> None:
    async def main() -> None:
        off = ("ValidatingAdmissionWebhook",)
        async with far_side(tmp_path) as far, server(tmp_path, disable_admission_plugins=off) as api:
            far.answers["no"] = deny("no")
            await configure(api, VALIDATING, "v", far.hook("no"))
            assert (await made(api)).status == 201

    run(main())
