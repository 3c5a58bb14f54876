"""Without any flags extension servers can tell that it is we who call."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from pilothouse.app.material import prepare, with_own_front_proxy
from pilothouse.app.settings import Settings
from pilothouse.auth.certificates import ClientAuthority
from pilothouse.auth.requestheader import FrontProxy, HeaderNames

from .test_front_proxy import HEADERS, der, utc_now


def test_our_own_certificate_is_the_one_that_we_tell_others_to_trust(tmp_path: Path) -> None:
    settings = replace(Settings(), data=tmp_path)
    material = prepare(settings, 6443, time.time())
    found = with_own_front_proxy(settings, material)
    assert found.requestheader_client_ca_file is not None
    authority = ClientAuthority(found.requestheader_client_ca_file.read_bytes())
    trusted = FrontProxy(authority, found.requestheader_allowed_names, HeaderNames(), utc_now)
    caller = trusted.authenticate(der(tmp_path / "pki", "front-proxy-client"), HEADERS)
    assert caller is not None and caller.name == "carol"
    assert trusted.authenticate(der(tmp_path / "pki", "admin"), HEADERS) is None


def test_given_certificates_are_left_as_they_are(tmp_path: Path) -> None:
    settings = replace(Settings(), data=tmp_path, requestheader_client_ca_file=tmp_path / "other.crt")
    material = prepare(settings, 6443, time.time())
    assert with_own_front_proxy(settings, material) is settings
