"""Flags, the environment, defaults, and how bad values are refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pilothouse.app import values
from pilothouse.app.main import main
from pilothouse.app.settings import BadSetting, Settings, flag_name, read_settings


def test_defaults() -> None:
    settings = read_settings([], {})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.storage) == ("127.0.0.1", 6443, "sqlite")
    assert settings.kubeconfig_path == Path(".pilothouse/kubeconfig")
    assert settings.controllers == ("*",)


def test_flags_come_before_the_environment() -> None:
    environment = {
        "PILOTHOUSE_PORT": "1",
        "PILOTHOUSE_REQUEST_TIMEOUT": "1m30s",
        "PILOTHOUSE_ALLOW_PRIVILEGED": "false",
    }
    settings = read_settings(["--port", "2", "--data=/tmp/x"], environment)
    assert settings.port == 2
    assert settings.request_timeout == 90.0
    assert settings.data == Path("/tmp/x")
    assert not settings.allow_privileged


def test_switches_need_no_value() -> None:
    assert read_settings(["--allow-privileged", "--port", "1"], {}).allow_privileged
    assert not read_settings(["--allow-privileged=false"], {}).allow_privileged


def test_settings_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "environment", "text"),
    [
        (["--port", "abc"], {}, "--port: 'abc' is no whole number"),
        (["--port", "70000"], {}, "--port: 70000 is out of range; 0 to 65535 is possible"),
        ([], {"PILOTHOUSE_PORT": "tcp://10.0.0.1:6443"}, "PILOTHOUSE_PORT: 'tcp://10.0.0.1:6443' is no whole number"),
        (["--storage", "etcd"], {}, "--storage: 'etcd' is not supported; choose from: sqlite, memory"),
        (["--request-timeout", "5"], {}, "--request-timeout: '5' is no duration; write a number and a unit"),
        (["--request-timeout", "-5s"], {}, "--request-timeout"),
        (["--service-cluster-ip-range", "10.0.0.0.0"], {}, "--service-cluster-ip-range: '10.0.0.0.0' is no range"),
        (["--service-cluster-ip-range", "10.0.0.0/24,10.1.0.0/24"], {}, "one must be IPv4 and one IPv6"),
        (["--token-auth-file", "/no/such"], {}, "--token-auth-file: there is no file '/no/such'"),
        (["--cors-allowed-origins", "example.com"], {}, "--cors-allowed-origins: 'example.com' matches within longer"),
        (["--cors-allowed-origins", "^([$"], {}, "--cors-allowed-origins: '^([$' is no regular expression"),
        (["--log-level", "loud"], {}, "--log-level: 'loud' is not supported; choose from: debug, info"),
        (["--max-requests-inflight", "-1"], {}, "--max-requests-inflight: -1 is out of range; at least 0"),
        (["--allow-privileged=maybe"], {}, "--allow-privileged: 'maybe' is neither true nor false"),
        (["--enable-anything"], {}, "unrecognized arguments: --enable-anything"),
        (["--por", "1"], {}, "unrecognized arguments: --por"),
        (["hello"], {}, "unrecognized arguments: hello"),
        (["--host", ""], {}, "--host: is empty"),
        (["--tls-cert-file", __file__], {}, "--tls-cert-file and --tls-private-key-file: give both or neither"),
    ],
)
def test_bad_values_are_refused_by_name(arguments: list[str], environment: dict[str, str], text: str) -> None:
    with pytest.raises(BadSetting) as caught:
        read_settings(arguments, environment)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("300ms", 0.3), ("1m30s", 90), ("2h", 7200), ("1.5h", 5400), ("1h1m1s1ms", 3661.001), (".5s", 0.5)],
)
def test_durations(text: str, seconds: float) -> None:
    assert values.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5x", "1m 30s", "1m30", "-1s", "abc"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        values.duration(text)


def test_origins_and_ranges_come_out_parsed() -> None:
    patterns = values.origins(r"^https://good\.example\.com$,//localhost(:|$)")
    assert patterns[1].search("http://localhost:3000")
    assert values.network("10.0.0.7/24, fd00::/108") == "10.0.0.0/24,fd00::/108"


def test_help_names_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_settings(["--help"], {})
    text = capsys.readouterr().out
    for row in dataclasses.fields(Settings):
        assert flag_name(row.name) in text
        assert row.metadata["help"].split()[0] in text
    assert "PILOTHOUSE_LOG_LEVEL" in text


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == main([]) == 0
    assert "pilothouse serve" in capsys.readouterr().out
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("pilothouse 0.")
    assert main(["server"]) == 2
    assert "no command 'server'" in capsys.readouterr().err
    assert main(["serve", "--port", "x"]) == 2
    assert capsys.readouterr().err == "pilothouse serve: --port: 'x' is no whole number\n"
