"""Admission policies: rules in CEL that writes must keep, and what changes them. What the recorded conversations leave
open.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from admission.far import BASE, CONFIG_MAPS, MAPS, add, config_map, configure, far_side, patch
from builtin.inside import Inside, Object, Reply, run, server
from extensions.crds import GROUP, define, definition, obj, path, spec_schema, version

POLICIES, BINDINGS = f"{BASE}/validatingadmissionpolicies", f"{BASE}/validatingadmissionpolicybindings"
API = "admissionregistration.k8s.io/v1"


async def policy(api: Inside, name: str, *expressions: str, rule: Object = CONFIG_MAPS, **spec: Any) -> None:
    validations = [{"expression": text} for text in expressions]
    body = {"matchConstraints": {"resourceRules": [rule]}, "validations": validations, **spec}
    await api.make(
        POLICIES,
        {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": body},
    )


async def bind(api: Inside, name: str, to: str, *actions: str, **spec: Any) -> None:
    body = {"policyName": to, "validationActions": list(actions or ("Deny",)), **spec}
    kind = "ValidatingAdmissionPolicyBinding"
    await api.make(BINDINGS, {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": body})


async def made(api: Inside, name: str = "a", **more: Any) -> Reply:
    return await api.send("POST", MAPS, config_map(name, **more))


def test_a_policy_counts_once_it_is_bound_and_no_longer_when_that_is_gone(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await policy(api, "p", "object.metadata.name != 'a'")
            assert (await made(api, "a")).status == 201
            await api.send("DELETE", f"{MAPS}/a")
            await bind(api, "b", "p")
            assert (await made(api, "a")).status == 422
            await api.send("DELETE", f"{BINDINGS}/b")
            assert (await made(api, "a")).status == 201

    run(story())


def test_variables_are_computed_when_they_are_looked_at(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            variables = [
                {"name": "number", "expression": "int(object.data.number)"},
                {"name": "twice", "expression": "variables.number * 2"},
            ]
            await policy(api, "p", "object.metadata.name == 'free' || variables.twice < 10", variables=variables)
            await bind(api, "b", "p")
            assert (await made(api, "free")).status == 201
            assert (await made(api, "few", data={"number": "4"})).status == 201
            assert (await made(api, "many", data={"number": "5"})).status == 422
            broken = await made(api, "broken", data={"number": "x"})
            assert 'composited variable "number" fails to evaluate: ' in broken["message"]

    run(story())


def test_a_namespace_and_a_custom_kind_as_parameters(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            kind = {"apiVersion": "v1", "kind": "Namespace"}
            await policy(api, "p", "params.metadata.name != 'default'", paramKind=kind)
            reference = {"selector": {}, "parameterNotFoundAction": "Deny"}
            await bind(api, "b", "p", paramRef={**reference, "namespace": "x"})
            refused = await made(api)
            assert refused["message"].endswith(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
            await api.send("DELETE", f"{BINDINGS}/b")
            await bind(api, "c", "p", paramRef=reference)
            assert (await made(api))["message"].endswith("failed expression: params.metadata.name != 'default'")
            await policy(api, "q", "true", paramKind={"apiVersion": "none.example.com/v1", "kind": "None"})
            await api.send("DELETE", f"{BINDINGS}/c")
            await bind(api, "d", "q", paramRef=reference)
            assert (await made(api))["message"].endswith(
                "failed to configure binding: paramKind kind `none.example.com/v1, Kind=None` not known"
            )

    run(story())


def test_custom_objects_as_parameters(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await define(api, definition("limits", "Limit", version("v1", spec_schema(longest={"type": "integer"}))))
            await api.make(path("limits"), obj("Limit", "l", {"longest": 2}))
            kind = {"apiVersion": f"{GROUP}/v1", "kind": "Limit"}
            await policy(api, "p", "object.metadata.name.size() <= params.spec.longest", paramKind=kind)
            await bind(api, "b", "p", paramRef={"name": "l", "namespace": "default", "parameterNotFoundAction": "Deny"})
            assert [(await made(api, name)).status for name in ("ab", "abc")] == [201, 422]

    run(story())


def test_failures_are_counted(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await policy(api, "p", "object.metadata.name != 'a'", "object.data.x == 'y'")
            await bind(api, "b", "p", "Warn", "Audit")
            assert (await made(api)).status == 201
            found = await api.send("GET", "/metrics")
            name = "apiserver_validating_admission_policy_check_total"
            lines = [line for line in str(found.body).splitlines() if line.startswith(name)]
            labels = [line[line.index("{") : line.index("}")] for line in lines]
            assert sorted('error_type="invalid_error"' in one for one in labels) == [False, False, True, True]

    run(story())


def test_names_in_rules_are_looked_at_for_each_write(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await policy(api, "p", "false", rule={**CONFIG_MAPS, "resourceNames": ["a"]})
            await bind(api, "b", "p")
            assert [(await made(api, name)).status for name in ("b", "a", "c", "a")] == [201, 422, 201, 422]

    run(story())


def test_what_is_long_is_done_beside_the_loop(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            numbers = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
            await policy(
                api, "p", f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, {numbers}.all(d, a + b + c + d < 37))))"
            )
            await bind(api, "b", "p")
            assert (await made(api)).status == 201

    run(story())


def test_policies_are_not_judged_by_policies(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
            await policy(api, "p", "false", rule=every)
            await bind(api, "b", "p")
            assert (await made(api)).status == 422
            assert (await api.send("DELETE", f"{BINDINGS}/b")).status == 200
            assert (await made(api)).status == 201

    run(story())


MUTATING, MUTATING_BINDINGS = f"{BASE}/mutatingadmissionpolicies", f"{BASE}/mutatingadmissionpolicybindings"


async def changes(api: Inside, name: str, *mutations: tuple[str, str], rule: Object = CONFIG_MAPS, **spec: Any) -> None:
    """A mutating policy and its binding. `mutations`: kind and expression."""
    members = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
    body = {
        "matchConstraints": {"resourceRules": [{**rule, "operations": ["CREATE", "UPDATE"]}]},
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": kind, members[kind]: {"expression": text}} for kind, text in mutations],
        **spec,
    }
    kind = "MutatingAdmissionPolicy"
    await api.make(MUTATING, {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": body})
    binding = {"apiVersion": API, "kind": f"{kind}Binding", "metadata": {"name": name}, "spec": {"policyName": name}}
    await api.make(MUTATING_BINDINGS, binding)


def test_mutations_follow_each_other(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            await changes(
                api,
                "m",
                ("ApplyConfiguration", "Object{data: Object.data{x: '1'}}"),
                ("JSONPatch", "[JSONPatch{op: 'add', path: '/data/y', value: object.data.x + '2'}]"),
            )
            assert (await made(api))["data"] == {"x": "1", "y": "12"}

    run(story())


def test_a_policy_that_fails_refuses_or_is_passed_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            broken = ("JSONPatch", "[JSONPatch{op: 'replace', path: '/data/x/y', value: 'z'}]")
            await changes(api, "m", broken, failurePolicy="Ignore")
            assert (await made(api)).status == 201
            await changes(api, "n", broken)
            refused = await made(api, "b")
            assert (refused.status, refused["reason"], refused["message"]) == (
                403,
                "Invalid",
                "policy 'n' with binding 'n' denied request: JSON Patch: "
                "replace operation does not apply: doc is missing path: /data/x/y: missing value",
            )

    run(story())


def test_what_is_only_set_as_a_whole_is_not_merged(tmp_path: Path) -> None:
    async def story() -> None:
        async with server(tmp_path) as api:
            rule = {**CONFIG_MAPS, "resources": ["pods"]}
            text = "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', command: ['x']}]}}"
            await changes(api, "m", ("ApplyConfiguration", text), rule=rule)
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
            pod["spec"] = {"containers": [{"name": "c", "image": "i"}]}  # type: ignore[assignment]
            refused = await api.send("POST", "/api/v1/namespaces/default/pods", pod)
            assert refused["message"].endswith(
                "may not mutate atomic arrays, maps or structs: .spec.containers[0].command"
            )

    run(story())


def test_a_webhook_that_changes_the_object_has_policies_evaluated_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with far_side(tmp_path) as far, server(tmp_path) as api:
            far.answers["late"] = patch(add("/data", {"late": "yes"}))
            text = "Object{metadata: Object.metadata{labels: Object.metadata.labels{late: string(has(object.data))}}}"
            await changes(api, "m", ("ApplyConfiguration", text), reinvocationPolicy="IfNeeded")
            await configure(api, "mutatingwebhookconfigurations", "w", far.hook("late"))
            found = await made(api)
            assert (found["data"], found["metadata"]["labels"]) == ({"late": "yes"}, {"late": "true"})

    run(story())
