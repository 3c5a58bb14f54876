"""pilothouse behind another front: whom it believes, and what it tells extension servers of its own trust."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from pilothouse.app.wiring import utc_now
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.requestheader import FrontProxy, HeaderNames
from pilothouse.builtin.presence.authinfo import authentication_info, combined
from pilothouse.serving.client import Destination
from pilothouse.serving.dialing import client_tls
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.tls import CertificateFiles, server_context

from .support import front, make_pki, run

INFO = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def der(pki: Path, name: str) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes()).public_bytes(Encoding.DER)


def proxy(pki: Path, *allowed: str, names: HeaderNames | None = None) -> FrontProxy:
    return FrontProxy(ClientAuthority((pki / "ca.crt").read_bytes()), allowed, names or HeaderNames(), utc_now)


HEADERS = (
    (b"x-remote-user", b"carol"),
    (b"x-remote-user", b"second"),
    (b"x-remote-uid", b"u-1"),
    (b"x-remote-group", b"green"),
    (b"x-remote-group", b"blue"),
    (b"x-remote-extra-dept%2fsub", b"one"),
    (b"x-remote-extra-dept%2Fsub", b"two"),
    (b"x-remote-extra-", b"no key"),
    (b"x-other", b"1"),
)


def test_a_trusted_front_names_the_caller(pki: Path) -> None:
    caller = proxy(pki, "kubernetes-admin").authenticate(der(pki, "admin"), HEADERS)
    assert caller is not None
    assert (caller.name, caller.uid, caller.groups) == ("carol", "", ("green", "blue", "system:authenticated"))
    assert caller.extra == (("dept/sub", ("one", "two")),)
    with_uid = proxy(pki, names=HeaderNames(uid=("X-Remote-Uid",))).authenticate(der(pki, "admin"), HEADERS)
    assert with_uid is not None and with_uid.uid == "u-1"


@pytest.mark.parametrize("case", ["no certificate", "other name", "other authority", "no user", "serving certificate"])
def test_nobody_else_does(pki: Path, tmp_path: Path, case: str) -> None:
    trusted = proxy(pki, "somebody-else" if case == "other name" else "kubernetes-admin")
    certificate: bytes | None = der(pki, "admin")
    headers = HEADERS
    if case == "no certificate":
        certificate = None
    elif case == "other authority":
        certificate = der(make_pki(tmp_path), "admin")
    elif case == "no user":
        headers = HEADERS[2:]
    elif case == "serving certificate":
        certificate = der(pki, "serving")
    assert trusted.authenticate(certificate, headers) is None


def test_headers_count_only_from_the_front(tmp_path: Path, pki: Path) -> None:
    fronts = make_pki(tmp_path / "fronts")
    settings = {"requestheader_client_ca_file": fronts / "ca.crt", "requestheader_allowed_names": ("kubernetes-admin",)}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    async def who(here: Any, at: Destination, **headers: str) -> dict[str, Any]:
        here.at = at
        status, _, answer = await here.call("POST", REVIEWS, body, **headers)
        assert status == 201, answer
        found: dict[str, Any] = json.loads(answer)["status"]["userInfo"]
        return found

    async def scenario() -> None:
        async with front(tmp_path, **settings) as here:
            files = CertificateFiles(pki / "serving.crt", pki / "serving.key", (pki / "ca.crt", fronts / "ca.crt"))
            context = server_context(files)
            edge = Edge(here.application.handler, bind("127.0.0.1", 0), context=lambda: context)
            await edge.start()
            shown = client_tls("", careless=True, certificate=(fronts / "admin.crt", fronts / "admin.key"))
            trusted = Destination("127.0.0.1", edge.port, shown)
            anybody = Destination("127.0.0.1", edge.port, client_tls("", careless=True))
            claims = {"X_Remote_User": "carol", "X_Remote_Group": "green"}
            assert (await who(here, anybody, **claims))["username"] == "admin"
            found = await who(here, trusted, **claims)
            assert (found["username"], found["groups"]) == ("carol", ["green", "system:authenticated"])
            here.client.close()
            await edge.drain(0.0)

    run(scenario)


def test_extension_servers_learn_whom_we_trust(tmp_path: Path, pki: Path) -> None:
    ca = (pki / "ca.crt").read_text()

    async def scenario() -> None:
        async with front(tmp_path) as here:
            assert (await here.get(INFO)).get("data", {}) == {}
        settings = {"requestheader_client_ca_file": pki / "ca.crt", "requestheader_allowed_names": ("front-proxy",)}
        async with front(tmp_path, **settings) as here:
            assert (await here.get(INFO))["data"] == {
                "requestheader-allowed-names": '["front-proxy"]',
                "requestheader-client-ca-file": ca,
                "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
                "requestheader-group-headers": '["X-Remote-Group"]',
                "requestheader-username-headers": '["X-Remote-User"]',
            }

    run(scenario)


def test_what_other_servers_say_stays(pki: Path, tmp_path: Path) -> None:
    ours, theirs = (pki / "ca.crt").read_bytes(), (make_pki(tmp_path) / "ca.crt").read_bytes()
    before = authentication_info(theirs, theirs, {"requestheader-allowed-names": ["a", "b"]})
    after = combined(authentication_info(ours, ours, {"requestheader-allowed-names": ["b", "c"]}), before)
    assert after["client-ca-file"].count("BEGIN CERTIFICATE") == 2
    assert json.loads(after["requestheader-allowed-names"]) == ["a", "b", "c"]
    assert combined(authentication_info(ours, ours, {"requestheader-allowed-names": ["c"]}), after) == after
    assert combined(authentication_info(ours), {"client-ca-file": "rubbish", "x": "y"})["x"] == "y"


def test_a_certificate_is_judged_anew_when_its_time_is_over(tmp_path: Path) -> None:
    pki = make_pki(tmp_path)
    now = [utc_now()]
    trusted = FrontProxy(ClientAuthority((pki / "ca.crt").read_bytes()), (), HeaderNames(), lambda: now[0])
    certificate = der(pki, "admin")
    assert trusted.authenticate(certificate, HEADERS) is not None
    now[0] = type(now[0]).fromtimestamp(time.time() + 20 * 365 * 86400, now[0].tzinfo)
    assert trusted.authenticate(certificate, HEADERS) is None
