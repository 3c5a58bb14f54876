"""Keys and certificates: made once, kept, and made again when they no longer fit."""

from __future__ import annotations

import base64
import os
import ssl
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from pilothouse.app.material import Material, prepare, server_url
from pilothouse.app.settings import Settings

YEAR = 365 * 86400


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Material]:
    settings = Settings(data=tmp_path_factory.mktemp("home") / "data", host="192.0.2.7")
    return settings, prepare(settings, 6443, time.time())


def contents(settings: Settings) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (settings.data / "pki").iterdir()}


def test_only_the_owner_can_read_keys(first: tuple[Settings, Material]) -> None:
    settings, material = first
    assert stat.S_IMODE(os.stat(settings.data).st_mode) == 0o700
    for path in (*(settings.data / "pki").glob("*.key"), material.kubeconfig):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not list(settings.data.rglob("*.new"))


def test_the_serving_certificate_is_good_for_all_names(first: tuple[Settings, Material]) -> None:
    _, material = first
    certificate = x509.load_pem_x509_certificate(material.serving_certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ]
    addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    assert addresses == ["127.0.0.1", "::1", "192.0.2.7", "10.0.0.1"]
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(material.ca.read_bytes()))


def test_the_kubeconfig_is_complete(first: tuple[Settings, Material]) -> None:
    _, material = first
    config = yaml.safe_load(material.kubeconfig.read_bytes())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    assert cluster["server"] == "https://192.0.2.7:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == material.ca.read_bytes()
    certificate = x509.load_pem_x509_certificate(base64.b64decode(user["client-certificate-data"]))
    assert certificate.subject.rfc4514_string() == "CN=kubernetes-admin,O=system:masters"
    key = load_pem_private_key(base64.b64decode(user["client-key-data"]), None)
    assert key.public_key() == certificate.public_key()


def test_the_signing_key_of_service_accounts_is_rsa(first: tuple[Settings, Material]) -> None:
    _, material = first
    assert load_pem_private_key(material.service_account_key.read_bytes(), None).key_size == 2048  # type: ignore[union-attr]


def test_a_second_start_keeps_everything_and_does_not_import_the_crypto_library(
    first: tuple[Settings, Material],
) -> None:
    settings, _ = first
    before = contents(settings)
    program = (
        "import sys, time; from pathlib import Path\n"
        "from pilothouse.app.material import prepare\n"
        "from pilothouse.app.settings import Settings\n"
        "prepare(Settings(data=Path(sys.argv[1]), host='192.0.2.7'), 6443, time.time())\n"
        "sys.exit('cryptography' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, str(settings.data)], check=True, env=environment)
    assert contents(settings) == before


@pytest.mark.parametrize("change", ["expired", "other host", "other range", "a file is gone"])
def test_leaves_are_made_again_when_they_do_not_fit(change: str, tmp_path: Path) -> None:
    settings, now = Settings(data=tmp_path), time.time()
    prepare(settings, 6443, now)
    before = contents(settings)
    if change == "expired":
        now += YEAR - 10 * 86400
    elif change == "other host":
        settings = replace(settings, host="example.com")
    elif change == "other range":
        settings = replace(settings, service_cluster_ip_range="10.96.0.0/12")
    else:
        (tmp_path / "pki" / "admin.crt").unlink()
    prepare(settings, 6443, now)
    after = contents(settings)
    changed = {name for name in after if before.get(name) != after[name]}
    assert {"serving.crt", "serving.key", "admin.crt", "admin.key"} <= changed
    assert not changed & {"ca.crt", "ca.key", "sa.key"}


def test_an_old_ca_is_replaced(tmp_path: Path) -> None:
    settings, now = Settings(data=tmp_path), time.time()
    prepare(settings, 6443, now)
    before = contents(settings)
    prepare(settings, 6443, now + 10 * YEAR)
    after = contents(settings)
    assert before["ca.crt"] != after["ca.crt"]
    assert before["sa.key"] == after["sa.key"]


def test_the_kubeconfig_follows_the_port(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, kubeconfig=tmp_path / "deep" / "config")
    prepare(settings, 1, time.time())
    prepare(settings, 2, time.time())
    assert "server: https://127.0.0.1:2\n" in (tmp_path / "deep" / "config").read_text()


def test_a_certificate_of_the_user_is_served_and_trusted(first: tuple[Settings, Material], tmp_path: Path) -> None:
    _, other = first
    settings = Settings(
        data=tmp_path,
        tls_cert_file=other.serving_certificate,
        tls_private_key_file=other.serving_key,
        client_ca_file=other.ca,
    )
    material = prepare(settings, 1, time.time())
    assert material.serving_certificate == other.serving_certificate
    assert material.client_cas == (tmp_path / "pki" / "ca.crt", other.ca)
    config = yaml.safe_load(material.kubeconfig.read_bytes())
    trusted = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])
    assert trusted == other.serving_certificate.read_bytes()


def test_urls() -> None:
    assert server_url("0.0.0.0", 1) == server_url("::", 1) == "https://127.0.0.1:1"
    assert server_url("::1", 1) == "https://[::1]:1"
    assert server_url("example.com", 1) == "https://example.com:1"


def test_a_broken_record_is_no_record(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    prepare(settings, 1, time.time())
    (tmp_path / "pki" / "made.json").write_text("{")
    material = prepare(settings, 1, time.time())
    ssl.create_default_context(cafile=str(material.ca))
