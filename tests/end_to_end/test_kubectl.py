"""What people do with kubectl all day, against the real command."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from support.commands import Shell
from support.server import eventually

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  labels:
    set: lamps
data:
  colour: {colour}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: registry.example/web:1.0
"""


def lamp(colour: str, name: str = "lamp") -> str:
    return MAP.format(name=name, colour=colour)


def colour(shell: Shell, name: str = "lamp") -> str:
    return shell.kubectl("get", "cm", name, "-o", "jsonpath={.data.colour}").out


def managers(shell: Shell, what: str) -> list[tuple[str, str]]:
    """Who owns fields, and by which operation."""
    found = json.loads(shell.kubectl("get", what, "-o", "json", "--show-managed-fields").out)
    return sorted((entry["manager"], entry["operation"]) for entry in found["metadata"]["managedFields"])


class Told:
    """What a command that goes on has printed so far, in a file."""

    def __init__(self, shell: Shell, *words: str) -> None:
        self.path = shell.folder / "told"
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=shell.folder, env=shell.environment
            )

    def sees(self, pattern: str) -> None:
        eventually(lambda: re.search(pattern, self.path.read_text(), re.MULTILINE))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


# -- making and looking


def test_created_twice_is_refused(home: Shell) -> None:
    assert home.kubectl("create", "-f", "-", given=lamp("red")).out == "configmap/lamp created\n"
    again = home.kubectl("create", "-f", "-", given=lamp("red"), code=1)
    assert again.err.startswith("Error from server (AlreadyExists): ")
    assert 'configmaps "lamp" already exists' in again.err


def test_what_is_not_there_is_told(home: Shell) -> None:
    assert home.kubectl("get", "cm", "lamp", code=1).err == (
        'Error from server (NotFound): configmaps "lamp" not found\n'
    )
    assert "the server doesn't have a resource type" in home.kubectl("get", "lanterns", code=1).err


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("name", r"deployment\.apps/web\n"),
        (
            "wide",
            r"(?s)NAME +READY .*CONTAINERS +IMAGES +SELECTOR\nweb +0/2 .* web +registry\.example/web:1\.0 +app=web\n",
        ),
        ("yaml", r"(?s)apiVersion: apps/v1\nkind: Deployment\nmetadata:.*  replicas: 2\n.*"),
        ("jsonpath={.spec.replicas},{.metadata.name}", r"2,web"),
        ("custom-columns=WHO:.metadata.name,MANY:.spec.replicas", r"WHO +MANY\nweb +2\n"),
        ("go-template={{.spec.replicas}}", r"2"),
    ],
    ids=["name", "wide", "yaml", "jsonpath", "custom-columns", "go-template"],
)
def test_an_object_in_all_formats(home: Shell, form: str, wanted: str) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    out = home.kubectl("get", "deployment", "web", "-o", form).out
    assert re.fullmatch(wanted, out), out


def test_json_says_what_yaml_says(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    found = json.loads(home.kubectl("get", "deploy", "-o", "json").out)
    assert (found["kind"], found["apiVersion"]) == ("List", "v1")
    (web,) = found["items"]
    assert web["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    }
    assert "managedFields" not in web["metadata"]


def test_describe_tells_the_story_of_an_object(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    out = home.kubectl("describe", "deployment", "web").out
    assert re.search(r"^Name: +web$", out, re.MULTILINE)
    assert re.search(r"^Replicas: +2 desired \| 0 updated", out, re.MULTILINE)
    assert re.search(r"^    Image: +registry\.example/web:1\.0$", out, re.MULTILINE)
    assert re.search(r"^Events: +<none>$", out, re.MULTILINE)


def test_raw_paths(home: Shell) -> None:
    assert home.kubectl("get", "--raw", "/livez").out == "ok"
    namespace = json.loads(home.kubectl("get", "--raw", f"/api/v1/namespaces/{home.namespace}").out)
    assert namespace["status"]["phase"] == "Active"


def test_what_is_served_is_told(home: Shell) -> None:
    names = home.kubectl("api-resources", "--namespaced=true", "--verbs=list,watch", "-o", "name").out.split()
    assert {"pods", "configmaps", "deployments.apps", "jobs.batch", "leases.coordination.k8s.io"} <= set(names)
    assert "nodes" not in names
    assert {"v1", "apps/v1", "rbac.authorization.k8s.io/v1"} <= set(home.kubectl("api-versions").out.split())
    told = home.kubectl("explain", "pod.spec.containers.image").out
    assert re.search(r"^KIND: +Pod$", told, re.MULTILINE)
    assert re.search(r"^FIELD: image <string>$", told, re.MULTILINE)
    assert "template\t<PodTemplateSpec>" in home.kubectl("explain", "deployment.spec", "--recursive").out


# -- changing


def test_labels_and_annotations(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=lamp("red"))
    assert home.kubectl("label", "cm/lamp", "floor=2").out == "configmap/lamp labeled\n"
    assert "--overwrite is false" in home.kubectl("label", "cm/lamp", "floor=3", code=1).err
    home.kubectl("label", "--overwrite", "cm/lamp", "floor=3")
    assert home.kubectl("get", "cm", "-l", "floor in (2,3),set", "-o", "name").out == "configmap/lamp\n"
    home.kubectl("label", "cm/lamp", "floor-")
    assert home.kubectl("get", "cm", "-l", "floor", "-o", "name").out == ""
    assert home.kubectl("annotate", "cm/lamp", "note=a b").out == "configmap/lamp annotated\n"
    assert home.kubectl("get", "cm/lamp", "-o", "jsonpath={.metadata.annotations.note}").out == "a b"


def test_scale_keeps_its_precondition(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    assert home.kubectl("scale", "deploy/web", "--replicas=5").out == "deployment.apps/web scaled\n"
    refused = home.kubectl("scale", "deploy/web", "--current-replicas=2", "--replicas=1", code=1)
    assert "Expected replicas to be 2, was 5" in refused.err
    assert home.kubectl("get", "deploy/web", "-o", "jsonpath={.spec.replicas}").out == "5"


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (
            "strategic",
            '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example/web:2"}]}}}}',
        ),
        ("merge", '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example/web:2"}]}}}}'),
        ("json", '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example/web:2"}]'),
    ],
)
def test_patches(home: Shell, kind: str, patch: str) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    assert home.kubectl("patch", "deploy/web", f"--type={kind}", "-p", patch).out == "deployment.apps/web patched\n"
    found = home.kubectl("get", "deploy/web", "-o", "jsonpath={..image} {.metadata.generation}").out
    assert found == "registry.example/web:2 2"


def test_a_rollout_as_far_as_it_goes_without_its_controller(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=DEPLOYMENT)
    home.kubectl("set", "image", "deploy/web", "web=registry.example/web:2")
    assert "No rollout history found." in home.kubectl("rollout", "history", "deploy/web").out
    waiting = home.kubectl("rollout", "status", "deploy/web", "--watch=false")
    assert waiting.out == "Waiting for deployment spec update to be observed...\n"
    status = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    home.kubectl("patch", "deploy/web", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    assert home.kubectl("rollout", "status", "deploy/web").out == 'deployment "web" successfully rolled out\n'
    assert home.kubectl("rollout", "restart", "deploy/web").out == "deployment.apps/web restarted\n"
    assert home.kubectl("rollout", "pause", "deploy/web").out == "deployment.apps/web paused\n"


# -- waiting and watching


def test_wait_for_a_condition_and_for_the_end(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=lamp("red"))
    late = home.kubectl("wait", "cm/lamp", "--for=jsonpath={.data.colour}=blue", "--timeout=100ms", code=1)
    assert "timed out waiting for the condition" in late.err
    waiting = Told(home, "kubectl", "-n", home.namespace, "wait", "cm/lamp", "--for=delete", "--timeout=20s")
    try:
        home.kubectl("patch", "cm/lamp", "-p", '{"data":{"colour":"blue"}}')
        home.kubectl("wait", "cm/lamp", "--for=jsonpath={.data.colour}=blue", "--timeout=20s")
        assert home.kubectl("delete", "cm/lamp").out.startswith('configmap "lamp" deleted')
        assert waiting.process.wait(20) == 0
    finally:
        waiting.end()


def test_get_watch_tells_changes_as_they_come(home: Shell) -> None:
    words = ("kubectl", "-n", home.namespace, "get", "cm", "-l", "set=lamps", "-w", "--output-watch-events")
    watch = Told(home, *words)
    try:
        home.kubectl("create", "-f", "-", given=lamp("red"))
        watch.sees(r"^ADDED +lamp +1 ")
        home.kubectl("patch", "cm/lamp", "-p", '{"data":{"size":"small"}}')
        watch.sees(r"^MODIFIED +lamp +2 ")
        home.kubectl("delete", "cm/lamp")
        watch.sees(r"^DELETED +lamp +2 ")
    finally:
        watch.end()


# -- applying


def test_apply_makes_changes_and_leaves_be(home: Shell) -> None:
    assert home.kubectl("apply", "-f", "-", given=lamp("red")).out == "configmap/lamp created\n"
    assert home.kubectl("apply", "-f", "-", given=lamp("red")).out == "configmap/lamp unchanged\n"
    home.kubectl("patch", "cm/lamp", "-p", '{"data":{"size":"small"}}')
    assert home.kubectl("apply", "-f", "-", given=lamp("blue")).out == "configmap/lamp configured\n"
    assert home.kubectl("get", "cm/lamp", "-o", "jsonpath={.data.colour} {.data.size}").out == "blue small"


@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_diff_shows_what_apply_would_do(home: Shell, flags: tuple[str, ...]) -> None:
    home.kubectl("apply", *flags, "-f", "-", given=lamp("red"))
    same = home.kubectl("diff", *flags, "-f", "-", given=lamp("red"))
    assert same.out == ""
    differ = home.kubectl("diff", *flags, "-f", "-", given=lamp("blue"), code=1)
    assert re.search(r"^-  colour: red$", differ.out, re.MULTILINE)
    assert re.search(r"^\+  colour: blue$", differ.out, re.MULTILINE)
    assert colour(home) == "red"


def test_owners_who_disagree_are_told_so(home: Shell) -> None:
    home.kubectl("apply", "--server-side", "--field-manager=mason", "-f", "-", given=lamp("red"))
    painter = ("apply", "--server-side", "--field-manager=painter", "-f", "-")
    refused = home.kubectl(*painter, given=lamp("blue"), code=1)
    assert 'Apply failed with 1 conflict: conflict with "mason": .data.colour' in refused.err
    assert colour(home) == "red"
    assert home.kubectl(*painter, "--force-conflicts", given=lamp("blue")).out == "configmap/lamp serverside-applied\n"
    assert colour(home) == "blue"
    assert managers(home, "cm/lamp") == [("mason", "Apply"), ("painter", "Apply")]


def test_what_an_owner_no_longer_applies_goes(home: Shell) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    home.kubectl(*apply, given=lamp("red") + "  size: small\n")
    home.kubectl(*apply, given=lamp("red"))
    assert home.kubectl("get", "cm/lamp", "-o", "jsonpath={.data}").out == '{"colour":"red"}'


def test_objects_of_client_side_apply_move_to_server_side(home: Shell) -> None:
    home.kubectl("apply", "-f", "-", given=lamp("red") + "  size: small\n")
    assert managers(home, "cm/lamp") == [("kubectl-client-side-apply", "Update")]
    home.kubectl("apply", "--server-side", "-f", "-", given=lamp("blue"))
    # The second one keeps the annotation, for people who go on with client-side apply.
    assert managers(home, "cm/lamp") == [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")]
    # kubectl took over what it had applied before, so what is left out now goes.
    assert home.kubectl("get", "cm/lamp", "-o", "jsonpath={.data}").out == '{"colour":"blue"}'


def test_an_edit_against_an_old_version_is_refused(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=lamp("red"))
    old = home.kubectl("get", "cm/lamp", "-o", "yaml").out
    home.kubectl("patch", "cm/lamp", "-p", '{"data":{"colour":"blue"}}')
    refused = home.kubectl("replace", "-f", "-", given=old, code=1)
    assert "Error from server (Conflict)" in refused.err
    assert "the object has been modified; please apply your changes to the latest version and try again" in refused.err
    assert colour(home) == "blue"


def test_an_applyset_prunes_what_is_no_longer_in_it(home: Shell) -> None:
    home.environment["KUBECTL_APPLYSET"] = "true"
    apply = ("apply", "--server-side", "--prune", "--applyset=lamps", "-f", "-")
    home.kubectl(*apply, given=lamp("red", "one") + "---\n" + lamp("red", "two"))
    home.kubectl("create", "-f", "-", given=lamp("red", "mine"))
    pruned = home.kubectl(*apply, given=lamp("red", "two"))
    assert "configmap/one pruned" in pruned.out
    names = home.kubectl("get", "cm", "-l", "set=lamps", "-o", "name").out.split()
    assert names == ["configmap/mine", "configmap/two"]


def test_a_dry_run_of_the_server_keeps_nothing(home: Shell) -> None:
    said = home.kubectl("create", "--dry-run=server", "-f", "-", given=DEPLOYMENT).out
    assert said == "deployment.apps/web created (server dry run)\n"
    assert home.kubectl("get", "deploy", "-o", "name").out == ""


def test_unknown_fields_are_refused(home: Shell) -> None:
    refused = home.kubectl("apply", "-f", "-", given=lamp("red") + "dataa: {}\n", code=1)
    assert 'strict decoding error: unknown field "dataa"' in refused.err
    loose = home.kubectl("apply", "--validate=warn", "-f", "-", given=lamp("red") + "dataa: {}\n")
    assert 'Warning: unknown field "dataa"' in loose.err


# -- deleting


def test_delete_by_selector_and_all(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=lamp("red", "one") + "---\n" + lamp("red", "two"))
    home.kubectl("create", "configmap", "mine")
    out = home.kubectl("delete", "cm", "-l", "set=lamps").out
    assert [line.split()[1] for line in out.splitlines()] == ['"one"', '"two"']
    home.kubectl("get", "cm", "mine")
    assert home.kubectl("delete", "cm", "lamp", "--ignore-not-found").out == ""


def test_a_namespace_goes_with_all_that_is_in_it(home: Shell) -> None:
    home.kubectl("create", "-f", "-", given=lamp("red"))
    home.kubectl("delete", "namespace", home.namespace, "--timeout=30s")
    assert "NotFound" in home.kubectl("get", "namespace", home.namespace, code=1).err
    assert home.kubectl("get", "cm", "-o", "name").out == ""
