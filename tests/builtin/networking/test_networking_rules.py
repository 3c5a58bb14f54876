"""What is refused in ingresses and their classes, beyond the recorded conversations."""

from __future__ import annotations

from writes import Kind

INGRESSES = Kind("networking.k8s.io", "ingresses")
CLASSES = Kind("networking.k8s.io", "ingressclasses")


def test_hosts_of_certificates_are_told_by_their_place() -> None:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    tls = [{"hosts": ["good.example", "Bad"]}]
    [(path, message)] = INGRESSES.causes({"spec": {"defaultBackend": backend, "tls": tls}})
    assert path == "spec.tls[0].hosts[1]"
    assert message.startswith('Invalid value: "Bad": a lowercase RFC 1123 subdomain must')


def test_paths_of_controllers() -> None:
    [(path, message)] = CLASSES.causes({"spec": {"controller": "example.com/a b"}})
    assert path == "spec.controller"
    assert message.startswith('Invalid value: "a b": Invalid path (regex used for validation is')


def test_an_empty_namespace_is_a_bad_one() -> None:
    parameters = {"kind": "k", "name": "n", "scope": "Namespace", "namespace": ""}
    [(path, message)] = CLASSES.causes({"spec": {"controller": "example.com/a", "parameters": parameters}})
    assert path == "spec.parameters.namespace"
    assert message.startswith('Invalid value: "": a lowercase RFC 1123 label must')
