"""Every setting of the server, once: its name, its type, its default, how it is read and what `--help` says of it.

A new flag is one more field of `Settings`. Each may also be given in the environment: `--log-level` is
PILOTHOUSE_LOG_LEVEL. A flag that is not here is refused by name.
"""

# ruff: noqa: RUF009 (flag() gives a dataclass field)

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from pilothouse.app import values

PREFIX = "PILOTHOUSE_"
_GROUPS = ("Serving", "Data", "Identity", "Requests", "Behaviour", "Log")


class BadSetting(Exception):
    """A setting that cannot be used; the text names it and says what to do."""


def flag(default: Any, group: str, parse: Callable[[str], Any], help: str, shown: str | None = None) -> Any:
    """A field of Settings. `shown`: the default as help shows it, where that is not the value."""
    return field(default=default, metadata={"group": group, "parse": parse, "help": help, "shown": shown})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the server is told when it starts. Durations are in seconds, sizes in bytes."""

    host: str = flag("127.0.0.1", "Serving", values.text, "address to listen on; 0.0.0.0 or :: for every interface")
    port: int = flag(6443, "Serving", values.integer(0, 65535), "port to listen on; 0 takes any free one")
    tls_cert_file: Path | None = flag(
        None, "Serving", values.existing_file, "PEM certificate chain to serve with", "one is made"
    )
    tls_private_key_file: Path | None = flag(
        None, "Serving", values.existing_file, "PEM key of --tls-cert-file", "one is made"
    )
    cors_allowed_origins: tuple[re.Pattern[str], ...] = flag(
        (),
        "Serving",
        values.origins,
        "regular expressions of origins that browsers may come from, comma separated",
        "none",
    )
    shutdown_delay_duration: float = flag(
        0.0, "Serving", values.duration, "how long to go on serving, not ready, after the signal to stop", "0s"
    )
    livez_grace_period: float = flag(
        0.0, "Serving", values.duration, "how long after the start /livez forgives unfinished registration", "0s"
    )
    requestheader_client_ca_file: Path | None = flag(
        None, "Identity", values.existing_file, "PEM of the CA whose clients may name callers by headers", "none"
    )
    requestheader_allowed_names: tuple[str, ...] = flag(
        (), "Identity", values.words, "common names of such clients, comma separated", "any"
    )
    requestheader_username_headers: tuple[str, ...] = flag(
        ("X-Remote-User",), "Identity", values.words, "headers that hold the user", "X-Remote-User"
    )
    requestheader_uid_headers: tuple[str, ...] = flag(
        (), "Identity", values.words, "headers that hold the user's uid", "none"
    )
    requestheader_group_headers: tuple[str, ...] = flag(
        ("X-Remote-Group",), "Identity", values.words, "headers that hold a group each", "X-Remote-Group"
    )
    requestheader_extra_headers_prefix: tuple[str, ...] = flag(
        ("X-Remote-Extra-",), "Identity", values.words, "how headers of further facts begin", "X-Remote-Extra-"
    )
    proxy_client_cert_file: Path | None = flag(
        None, "Serving", values.existing_file, "PEM certificate chain shown to extension API servers", "none"
    )
    proxy_client_key_file: Path | None = flag(
        None, "Serving", values.existing_file, "PEM key of --proxy-client-cert-file", "none"
    )
    enable_aggregator_routing: bool = flag(
        False, "Serving", values.boolean, "reach extension API servers by their endpoints, not by cluster IP", "false"
    )
    data: Path = flag(Path(".pilothouse"), "Data", values.path, "folder for keys, kubeconfig and objects")
    storage: str = flag(
        "sqlite", "Data", values.choice("sqlite", "memory"), "where objects live: sqlite, or memory (gone at the end)"
    )
    kubeconfig: Path | None = flag(
        None, "Data", values.path, "where to write the kubeconfig of the administrator", "DATA/kubeconfig"
    )
    token_auth_file: Path | None = flag(
        None, "Identity", values.existing_file, 'CSV of static tokens: token,user,uid,"group1,group2"', "none"
    )
    client_ca_file: Path | None = flag(
        None,
        "Identity",
        values.existing_file,
        "PEM of CAs whose client certificates are believed, beside our own",
        "none",
    )
    service_account_issuer: tuple[str, ...] = flag(
        ("https://kubernetes.default.svc",),
        "Identity",
        values.issuers,
        "issuers of service account tokens that are believed; the first one signs",
        "https://kubernetes.default.svc",
    )
    service_account_signing_key_file: Path | None = flag(
        None, "Identity", values.existing_file, "PEM key that signs service account tokens", "one is made"
    )
    service_account_key_file: tuple[Path, ...] = flag(
        (), "Identity", values.existing_files, "more PEM keys whose service account tokens are believed", "none"
    )
    service_account_max_token_expiration: int = flag(
        0, "Identity", values.token_life, "longest life of a token, from one hour on; 0 for no limit", "0s"
    )
    service_account_extend_token_expiration: bool = flag(
        True, "Identity", values.boolean, "let tokens of pods live for a year, and warn of those used too long", "true"
    )
    service_account_jwks_uri: str = flag(
        "", "Identity", values.text, "where the keys of service account tokens are found", "/openid/v1/jwks here"
    )
    api_audiences: tuple[str, ...] = flag(
        (), "Identity", values.words, "audiences of tokens for this server", "the issuers"
    )
    authorization_mode: tuple[str, ...] = flag(
        ("AlwaysAllow",),
        "Identity",
        values.modes,
        "what decides what a user may do: AlwaysAllow, AlwaysDeny, Node, RBAC, asked in this order",
        "AlwaysAllow",
    )
    kubelet_certificate_authority: Path | None = flag(
        None, "Identity", values.existing_file, "PEM of who signed the certificates of kubelets", "any is believed"
    )
    kubelet_client_certificate: Path | None = flag(
        None, "Identity", values.existing_file, "PEM certificate chain that kubelets are shown", "none"
    )
    kubelet_client_key: Path | None = flag(
        None, "Identity", values.existing_file, "PEM key of --kubelet-client-certificate", "none"
    )
    kubelet_preferred_address_types: tuple[str, ...] = flag(
        ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"),
        "Behaviour",
        values.words,
        "types of addresses of nodes to reach their kubelets at, the best first",
        "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
    )
    request_timeout: float = flag(60.0, "Requests", values.duration, "time for a request that is not a watch", "1m0s")
    max_request_bytes: int = flag(3145728, "Requests", values.integer(1), "largest body of a request")
    max_requests_inflight: int = flag(
        400, "Requests", values.integer(0), "reading requests served at a time; 0 for no limit"
    )
    max_mutating_requests_inflight: int = flag(
        200, "Requests", values.integer(0), "writing requests served at a time; 0 for no limit"
    )
    service_cluster_ip_range: str = flag(
        "10.0.0.0/24", "Behaviour", values.network, "addresses of Services; a second family after a comma"
    )
    controllers: tuple[str, ...] = flag(
        ("*",), "Behaviour", values.words, "controllers to run: * for all, none, or names with commas between", "*"
    )
    enable_admission_plugins: tuple[str, ...] = flag(
        (), "Behaviour", values.plugins, "admission plug-ins to switch on beside the usual ones", "none"
    )
    disable_admission_plugins: tuple[str, ...] = flag(
        (), "Behaviour", values.plugins, "admission plug-ins to switch off", "none"
    )
    allow_privileged: bool = flag(True, "Behaviour", values.boolean, "let Pods ask for privileged containers", "true")
    runtime_config: tuple[tuple[str, str | None], ...] = flag(
        (), "Behaviour", values.pairs, "versions to serve or not, as in api/beta=true,apps/v1=false", "the stable ones"
    )
    feature_gates: tuple[tuple[str, str | None], ...] = flag(
        (), "Behaviour", values.pairs, "features to switch on or off, as in GenericWorkload=true", "as in Kubernetes"
    )
    tracing_config_file: Path | None = flag(
        None,
        "Log",
        values.existing_file,
        "TracingConfiguration: where spans of requests are sent, and how many",
        "none",
    )
    profiling: bool = flag(True, "Log", values.boolean, "serve profiles below /debug/pprof", "true")
    log_level: str = flag(
        "info", "Log", values.choice("debug", "info", "warning", "error"), "debug, info, warning or error"
    )

    @property
    def kubeconfig_path(self) -> Path:
        return self.kubeconfig or self.data / "kubeconfig"


def flag_name(name: str) -> str:
    return "--" + name.replace("_", "-")


def variable_name(name: str) -> str:
    return PREFIX + name.upper()


def read_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings from flags, then the environment, then defaults. Raises BadSetting; exits on --help."""
    given = vars(_parser().parse_args(list(arguments)))
    chosen: dict[str, Any] = {}
    for row in fields(Settings):
        source, raw = flag_name(row.name), given[row.name]
        if raw is None:
            source, raw = variable_name(row.name), environment.get(variable_name(row.name))
        if raw is None:
            continue
        try:
            chosen[row.name] = row.metadata["parse"](raw)
        except ValueError as error:
            raise BadSetting(f"{source}: {error}") from None
    settings = Settings(**chosen)
    if (settings.tls_cert_file is None) != (settings.tls_private_key_file is None):
        raise BadSetting("--tls-cert-file and --tls-private-key-file: give both or neither")
    if (settings.kubelet_client_certificate is None) != (settings.kubelet_client_key is None):
        raise BadSetting("--kubelet-client-certificate and --kubelet-client-key: give both or neither")
    _check_enablement(settings)
    _check_tracing(settings)
    return settings


def _check_enablement(settings: Settings) -> None:
    """Whether the named versions and features are there; the tables are only read when some were named."""
    if not settings.runtime_config and not settings.feature_gates:
        return
    from pilothouse.builtin import enablement

    try:
        enablement.served(settings.runtime_config, settings.feature_gates)
    except ValueError as error:
        raise BadSetting(str(error)) from None


def _check_tracing(settings: Settings) -> None:
    """Whether spans can be sent; nothing is read or imported where nobody wants them."""
    if settings.tracing_config_file is None:
        return
    from pilothouse.app.tracing import check_tracing

    try:
        check_tracing(settings.tracing_config_file)
    except ValueError as error:
        raise BadSetting(f"--tracing-config-file: {error}") from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise BadSetting(f"{message}\nSee `{self.prog} --help` for the flags there are.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pilothouse serve",
        usage="pilothouse serve [flags]",
        description="Run the Kubernetes API server. Without flags it keeps everything in ./.pilothouse and listens on "
        "127.0.0.1:6443.",
        epilog="Every flag may also be set in the environment: --log-level is PILOTHOUSE_LOG_LEVEL.",
        allow_abbrev=False,
        add_help=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=40, width=110),
    )
    groups = {name: parser.add_argument_group(name) for name in _GROUPS}
    for row in fields(Settings):
        groups[row.metadata["group"]].add_argument(flag_name(row.name), dest=row.name, **_options(row))
    parser.add_argument_group("Help").add_argument("-h", "--help", action="help", help="show this and stop")
    return parser


def _options(row: Field[Any]) -> dict[str, Any]:
    shown = row.metadata["shown"]
    text = f"{row.metadata['help']} (default: {row.default if shown is None else shown})".replace("%", "%%")
    options: dict[str, Any] = {"help": text, "metavar": _metavar(row), "default": None}
    if row.metadata["parse"] is values.boolean:
        options |= {"nargs": "?", "const": "true"}
    return options


def _metavar(row: Field[Any]) -> str:
    parse = row.metadata["parse"]
    names = {
        values.boolean: "BOOL",
        values.duration: "TIME",
        values.existing_file: "FILE",
        values.existing_files: "LIST",
        values.issuers: "LIST",
        values.token_life: "TIME",
        values.path: "PATH",
        values.network: "CIDR",
        values.origins: "LIST",
        values.words: "LIST",
        values.plugins: "LIST",
        values.modes: "LIST",
        values.pairs: "LIST",
    }
    return names.get(parse, "N" if isinstance(row.default, int) else "TEXT")
