"""What is told of who comes, who may, and who acts as whom."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from clocks import Clock

from pilothouse.auth.authenticators import ClientCertificates, Credentials, Refused
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.credentialmetrics import CredentialMetrics
from pilothouse.auth.serviceaccounts import Grant, ServiceAccountTokens, claims
from pilothouse.auth.tokens import Signer, new_key
from pilothouse.kit.metrics import Counter, Histogram, Registry
from serving.support import make_pki
from support.inprocess import body_of
from support.measured import USERS, Measured, measured

DECISIONS = "apiserver_authorization_decisions_total"
ATTEMPTS = "authorization_attempts_total"
FILTERS = "apiserver_request_filter_duration_seconds_count"
ACTING = "apiserver_impersonation_attempts_total"
ASKED = "apiserver_impersonation_authorization_attempts_total"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    users = USERS + 'node,system:node:n1,3,system:nodes\nhelper,helper,4,"helpers"\n'
    with measured(tmp_path_factory.mktemp("auth"), users, authorization_mode=("Node", "RBAC")) as server:
        reads = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
        server.make(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "reads"}, "rules": [reads]}
        )
        for user, role in (("alice", "reads"), ("helper", "cluster-admin")):
            subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
            reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
            server.make(BINDINGS, {"metadata": {"name": user}, "roleRef": reference, "subjects": [subject]})
        server.run(until_allowed(server))
        yield server


async def until_allowed(server: Measured) -> None:
    async with asyncio.timeout(10.0):
        while (await server.answer(f"GET {PODS}", token="alice")).status != 200:
            await asyncio.sleep(0.005)


def test_the_authorizer_that_decided_is_told(server: Measured) -> None:
    with (
        server.grows(DECISIONS, type="RBAC", name="rbac", decision="allowed"),
        server.grows(DECISIONS, 0, type="Node"),
        server.grows(ATTEMPTS, result="allowed"),
    ):
        assert server.ask(f"GET {PODS}", token="alice").status == 200
    with server.grows(DECISIONS, type="Node", name="node", decision="allowed"):
        assert server.ask("GET /api/v1/services", token="node").status == 200


def test_nobody_s_word_is_no_decision(server: Measured) -> None:
    with server.grows(DECISIONS, 0), server.grows(ATTEMPTS, result="no-opinion"):
        assert server.ask("GET /api/v1/nodes/x", token="node").status == 403


def test_administrators_are_counted_and_nobody_decides(server: Measured) -> None:
    with server.grows(DECISIONS, 0), server.grows(ATTEMPTS, result="allowed"):
        assert server.ask(f"GET {PODS}").status == 200


def test_filters_count_each_request(server: Measured) -> None:
    with (
        server.grows(FILTERS, 1, filter="authentication"),
        server.grows(FILTERS, 1, filter="authorization"),
        server.grows(FILTERS, 0, filter="impersonation"),
    ):
        server.ask(f"GET {PODS}", token="alice")
    scrape = server.scrape()
    bounds = {"0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "5", "10", "15", "30", "+Inf"}
    assert scrape.labels("apiserver_request_filter_duration_seconds_bucket", "le") == bounds
    bounds = {"0.001", "0.002", "0.004", "0.008", "0.016", "0.032", "0.064", "0.128", "0.256", "0.512"}
    bounds |= {"1.024", "2.048", "4.096", "8.192", "16.384", "+Inf"}
    assert scrape.labels("authentication_duration_seconds_bucket", "le") == bounds
    assert scrape.labels("authorization_duration_seconds_bucket", "le") == bounds


def test_acting_as_another_is_told_by_its_mode(server: Measured) -> None:
    as_jane = {"Impersonate-User": "jane"}
    with (
        server.grows(ACTING, mode="user-info", decision="allowed"),
        server.grows("apiserver_impersonation_attempts_duration_seconds_count", mode="user-info", decision="allowed"),
        server.grows(ASKED, 2, mode="user-info", decision="allowed"),
        server.grows(FILTERS, filter="impersonation"),
    ):
        server.ask(f"GET {PODS}", token="helper", headers=as_jane)
    with (
        server.grows(ACTING, mode="", decision="denied"),
        server.grows(ASKED, mode="legacy", decision="denied"),
    ):
        assert server.ask(f"GET {PODS}", token="alice", headers=as_jane).status == 403


def test_the_graph_of_nodes_tells_how_long_it_takes(server: Measured) -> None:
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "n1"}
    server.make(PODS, {"metadata": {"name": "a"}, "spec": spec})
    server.ask(f"GET {PODS}/a", token="node")
    name = "node_authorizer_graph_actions_duration_seconds_count"

    server.reaches(name, 1, operation="AddPod")
    server.ask(f"DELETE {PODS}/a?gracePeriodSeconds=0")
    server.reaches(name, 1, operation="DeletePod")
    assert server.scrape().labels(name, "operation") == {"AddPod", "DeletePod"}


def counts(registry: Registry) -> dict[str, float]:
    return {
        family.name: number
        for family in registry.families()
        if isinstance(family, Counter)
        for _, number in family.samples()
    }


def test_tokens_that_should_have_been_replaced_are_told_apart() -> None:
    key = new_key()
    registry, clock, signer = Registry(), Clock(), Signer(lambda: (key,))

    async def lookup(resource: str, namespace: str, name: str) -> dict[str, object] | None:
        return {"metadata": {"uid": "u1"}}

    tokens = ServiceAccountTokens(signer, ("me",), lookup, clock, CredentialMetrics(registry))

    def ask(warn_after: int) -> None:
        token = signer.sign(claims(Grant("ns", "robot", "u1", ["me"], 3600, {}, warn_after), "me", "j", clock()))
        clock.forward(120.0)
        assert asyncio.run(tokens.authenticate(token, ("me",))) is not None

    def told() -> tuple[float, float]:
        found = counts(registry)
        return found["serviceaccount_valid_tokens_total"], found["serviceaccount_stale_tokens_total"]

    ask(0)
    assert told() == (0, 0)
    ask(600)
    assert told() == (1, 0)
    ask(60)
    assert told() == (1, 1)


def test_tokens_that_are_remembered_are_told_apart(server: Measured) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    server.make(accounts, {"metadata": {"name": "robot"}})
    made = server.ask(f"POST {accounts}/robot/token", {"spec": {}})
    token = str(json.loads(body_of(made))["status"]["token"])
    requests, fetches = "authentication_token_cache_request_total", "authentication_token_cache_fetch_total"
    with server.grows(requests, status="miss"), server.grows(fetches, status="ok"):
        assert server.ask("GET /version", token=token).status == 200
    with server.grows(requests, status="hit"), server.grows(fetches, 0):
        assert server.ask("GET /version", token=token).status == 200
    with server.grows(requests, status="miss"), server.grows(fetches, status="error"):
        assert server.ask("GET /version", token=token[:-8] + "AAAAAAAA").status == 401
    with server.grows(requests, 0):
        server.ask("GET /version", token="alice")
    assert server.scrape().value("authentication_token_cache_active_fetch_count", status="in_flight") == 0


def test_how_long_certificates_of_clients_are_good_for(tmp_path: Path) -> None:
    pki = make_pki(tmp_path / "pki")
    der = ssl.PEM_cert_to_DER_cert((pki / "admin.crt").read_text())
    registry, now = Registry(), [datetime.now(UTC)]
    authority = ClientAuthority((pki / "ca.crt").read_bytes())
    clients = ClientCertificates(authority, lambda: now[0], CredentialMetrics(registry))
    for _ in range(2):  # remembered or not
        assert clients.authenticate(Credentials(None, der)) is not None
    now[0] += timedelta(days=10_000)
    with pytest.raises(Refused):
        clients.authenticate(Credentials(None, der))
    name = "apiserver_client_certificate_expiration_seconds"
    (family,) = (one for one in registry.families() if one.name == name)
    assert isinstance(family, Histogram)
    ((_, found, _),) = family.samples()
    assert (found[0], sum(found)) == (1, 3)
