"""What the server needs on disk before it can serve: CA, serving certificate, the administrator's certificate and
kubeconfig, the key that signs ServiceAccount tokens.

All of it is kept between runs, in `pki/` of the data folder. `pki/made.json` says for which names and until when the
certificates hold, so that a start with good files neither parses certificates nor imports the slow crypto library.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from pilothouse.app.keyfiles import FRONT_PROXY, write_file
from pilothouse.app.settings import Settings
from pilothouse.kit.record import record

RENEW_SECONDS = 30 * 86400.0  # certificates with less time left than this are made anew at start
_FORMAT = 2  # of made.json
_NAMES = (
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_EVERY_INTERFACE = ("", "0.0.0.0", "::")


@record
class Material:
    """Where everything is. `ca` is our own; `client_cas` are all whose client certificates are believed.

    `front_*`: what extension servers are shown, and the CA by which they know it.
    """

    ca: Path
    serving_certificate: Path
    serving_key: Path
    client_cas: tuple[Path, ...]
    service_account_key: Path
    kubeconfig: Path
    front_ca: Path
    front_certificate: Path
    front_key: Path


def prepare(settings: Settings, port: int, now: float) -> Material:
    """Make what is missing, has expired or does not fit any more. `now`: seconds since 1970. Raises OSError."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    pki = settings.data / "pki"
    pki.mkdir(mode=0o700, exist_ok=True)
    names = serving_names(settings)
    made = _read_record(pki)
    if not _still_good(pki, made, names, now):
        from pilothouse.app import certificates  # slow to import, and seldom needed

        ends = certificates.make(pki, names, now)
        write_file(pki / "made.json", json.dumps({"format": _FORMAT, "names": names, "ends": ends}).encode())
    own = settings.tls_cert_file is None or settings.tls_private_key_file is None
    material = Material(
        ca=pki / "ca.crt",
        serving_certificate=settings.tls_cert_file if not own and settings.tls_cert_file else pki / "serving.crt",
        serving_key=settings.tls_private_key_file if not own and settings.tls_private_key_file else pki / "serving.key",
        client_cas=(pki / "ca.crt", *((settings.client_ca_file,) if settings.client_ca_file else ())),
        service_account_key=pki / "sa.key",
        kubeconfig=settings.kubeconfig_path,
        front_ca=pki / "front-proxy-ca.crt",
        front_certificate=pki / "front-proxy-client.crt",
        front_key=pki / "front-proxy-client.key",
    )
    trusted = material.ca if own else material.serving_certificate
    _write_kubeconfig(material.kubeconfig, server_url(settings.host, port), trusted, pki)
    return material


def serving_names(settings: Settings) -> list[str]:
    """The names and addresses that the serving certificate is good for."""
    names = list(_NAMES)
    if settings.host not in _EVERY_INTERFACE:
        names.append(settings.host)
    names.extend(str(ip_network(one)[1]) for one in settings.service_cluster_ip_range.split(","))
    return list(dict.fromkeys(names))


def server_url(host: str, port: int) -> str:
    """What a client on this machine writes to reach the server."""
    if host in _EVERY_INTERFACE:
        host = "127.0.0.1"
    try:
        is_v6 = ip_address(host).version == 6
    except ValueError:
        is_v6 = False
    return f"https://[{host}]:{port}" if is_v6 else f"https://{host}:{port}"


def _read_record(pki: Path) -> dict[str, Any]:
    try:
        record = json.loads((pki / "made.json").read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _still_good(pki: Path, made: dict[str, Any], names: Sequence[str], now: float) -> bool:
    if made.get("format") != _FORMAT or not set(names) <= set(made.get("names", ())):
        return False
    if float(made.get("ends", 0)) - now < RENEW_SECONDS:
        return False
    pairs = ("ca", "front-proxy-ca", "front-proxy-client", "serving", "admin")
    files = ("sa.key", *(f"{name}.{end}" for name in pairs for end in ("crt", "key")))
    return all((pki / name).is_file() for name in files)


def with_own_front_proxy(settings: Settings, material: Material) -> Settings:
    """Settings in which extension servers are shown our own certificate, where no other was given."""
    if settings.proxy_client_cert_file is not None or settings.requestheader_client_ca_file is not None:
        return settings
    return replace(
        settings,
        proxy_client_cert_file=material.front_certificate,
        proxy_client_key_file=material.front_key,
        requestheader_client_ca_file=material.front_ca,
        requestheader_allowed_names=(FRONT_PROXY,),
    )


def _write_kubeconfig(path: Path, url: str, trusted: Path, pki: Path) -> None:
    def embedded(file: Path) -> str:
        return base64.b64encode(file.read_bytes()).decode()

    content = f"""\
apiVersion: v1
kind: Config
current-context: pilothouse
clusters:
- name: pilothouse
  cluster:
    server: {url}
    certificate-authority-data: {embedded(trusted)}
contexts:
- name: pilothouse
  context:
    cluster: pilothouse
    user: kubernetes-admin
users:
- name: kubernetes-admin
  user:
    client-certificate-data: {embedded(pki / "admin.crt")}
    client-key-data: {embedded(pki / "admin.key")}
""".encode()
    if not path.is_file() or path.read_bytes() != content:
        write_file(path, content)
