"""/version: which Kubernetes this server speaks, and what it is made of."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Final

from pilothouse.kit.record import record

KUBERNETES: Final = ("1", "37", "2")
OLDEST_COMPATIBLE: Final = "36"


@record
class VersionInfo:
    """The members of /version in the original's order and spelling.

    Clients decide by major, minor and gitVersion, which are those of the API that is served. The rest tells of this
    build.
    """

    major: str
    minor: str
    emulationMajor: str
    emulationMinor: str
    minCompatibilityMajor: str
    minCompatibilityMinor: str
    gitVersion: str
    gitCommit: str
    gitTreeState: str
    buildDate: str
    goVersion: str
    compiler: str
    platform: str

    def render(self) -> bytes:
        """The document, always indented, as the original has it."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False).encode()


def version_info(*, release: str, compiler: str, platform: str, built: str = "1970-01-01T00:00:00Z") -> VersionInfo:
    """What this build says of itself.

    `release` ("pilothouse-0.1.0"), `compiler` ("cpython-3.11.9"), `platform` ("linux/amd64"), `built` (RFC 3339).
    """
    major, minor, patch = KUBERNETES
    return VersionInfo(
        major=major,
        minor=minor,
        emulationMajor=major,
        emulationMinor=minor,
        minCompatibilityMajor=major,
        minCompatibilityMinor=OLDEST_COMPATIBLE,
        gitVersion=f"v{major}.{minor}.{patch}",
        gitCommit=release,
        gitTreeState="",
        buildDate=built,
        goVersion="",
        compiler=compiler,
        platform=platform,
    )
