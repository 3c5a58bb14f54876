"""kubectl that prefers CBOR: its dynamic client gets, lists and watches in it."""

from __future__ import annotations

from pathlib import Path

from support.commands import Shell
from support.fixtures import StartServer, needs


def test_kubectl_waits_in_cbor(start_server: StartServer, tmp_path: Path) -> None:
    needs("kubectl")
    server = start_server("--feature-gates=CBORServingAndStorage=true")
    shell = Shell(tmp_path / "home", server.kubeconfig, tmp_path / "cache")
    shell.environment |= {"KUBE_FEATURE_ClientsAllowCBOR": "true", "KUBE_FEATURE_ClientsPreferCBOR": "true"}
    shell.kubectl("create", "configmap", "lamp", "--from-literal=a=b")
    wait = shell.begin("kubectl", "wait", "--for=jsonpath={.data.a}=c", "configmap/lamp", "-v=8", "--timeout=30s")
    try:
        assert wait.stdout is not None
        while "application/cbor-seq" not in (line := wait.stdout.readline()):
            assert line, "no watch in CBOR"
        shell.kubectl("patch", "configmap", "lamp", "--type=merge", '-p={"data":{"a":"c"}}')
        said, _ = wait.communicate(timeout=30)
        assert "configmap/lamp condition met" in said
        assert wait.returncode == 0
    finally:
        wait.kill()
        wait.wait()
