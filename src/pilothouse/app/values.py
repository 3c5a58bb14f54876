"""Values of flags, from text. Each function raises ValueError with what is wrong and what to write instead."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from pilothouse.admission.defaults import Choice

AUTHORIZATION_MODES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC")
_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}


def text(value: str) -> str:
    """Any text but the empty one."""
    if not value:
        raise ValueError("is empty")
    return value


def boolean(value: str) -> bool:
    """`true` or `false`."""
    if value not in _BOOLEANS:
        raise ValueError(f"{value!r} is neither true nor false")
    return _BOOLEANS[value]


def duration(value: str) -> float:
    """Seconds, from Go's form: `300ms`, `1m30s`, `2h`. Not negative."""
    if value == "0":
        return 0.0
    position, seconds = 0, 0.0
    while position < len(value):
        part = _DURATION_PART.match(value, position)
        if part is None:
            break
        seconds += float(part[1]) * _SECONDS[part[2]]
        position = part.end()
    if not value or position < len(value):
        raise ValueError(f"{value!r} is no duration; write a number and a unit (ms, s, m, h), as in 90s or 1m30s")
    return seconds


def integer(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers of that range."""

    def parse(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(f"{value!r} is no whole number") from None
        if number < lowest or (highest is not None and number > highest):
            span = f"at least {lowest}" if highest is None else f"{lowest} to {highest}"
            raise ValueError(f"{number} is out of range; {span} is possible")
        return number

    return parse


def choice(*words: str) -> Callable[[str], str]:
    """A parser that knows these words only."""

    def parse(value: str) -> str:
        if value not in words:
            raise ValueError(f"{value!r} is not supported; choose from: {', '.join(words)}")
        return value

    return parse


def path(value: str) -> Path:
    """A path, which need not exist."""
    return Path(text(value)).expanduser()


def existing_file(value: str) -> Path:
    """A file that can be read."""
    found = path(value)
    if not found.is_file():
        raise ValueError(f"there is no file {value!r}")
    return found


def network(value: str) -> str:
    """Service IP ranges: one CIDR, or two of different families with a comma between."""
    networks = []
    for one in value.split(","):
        try:
            networks.append(ipaddress.ip_network(one.strip(), strict=False))
        except ValueError:
            raise ValueError(f"{one!r} is no range of addresses; write it as in 10.0.0.0/24") from None
    if len(networks) > 2:
        raise ValueError("more than two ranges were given")
    if len(networks) == 2 and networks[0].version == networks[1].version:
        raise ValueError("of two ranges one must be IPv4 and one IPv6")
    return ",".join(map(str, networks))


def words(value: str) -> tuple[str, ...]:
    """Words with commas between."""
    return tuple(word.strip() for word in value.split(",") if word.strip())


def plugins(value: str) -> tuple[str, ...]:
    """Admission plug-ins, comma separated."""
    found = words(value)
    Choice.of(found)
    return found


def modes(value: str) -> tuple[str, ...]:
    """Modes of authorization, comma separated."""
    found = words(value) or ("AlwaysAllow",)
    for one in found:
        if one not in AUTHORIZATION_MODES:
            raise ValueError(f'"{one}" is not a valid mode; there are {", ".join(AUTHORIZATION_MODES)}')
    if len(set(found)) < len(found):
        raise ValueError("a mode is named more than once")
    return found


def existing_files(value: str) -> tuple[Path, ...]:
    """Files that can be read, with commas between."""
    return tuple(existing_file(word) for word in words(value))


def token_life(value: str) -> int:
    """Seconds, 0 for no limit, else one hour to 2^32 seconds."""
    seconds = int(duration(value))
    if seconds and not 3600 <= seconds <= 1 << 32:
        raise ValueError("must be between 1 hour and 2^32 seconds")
    return seconds


def issuers(value: str) -> tuple[str, ...]:
    """Issuers of tokens: URLs, or words without a colon."""
    found = words(value)
    for one in found:
        if ":" in one and (not urlsplit(one).netloc or " " in one):
            raise ValueError(f"\"{one}\" contained a ':' but was not a valid URL")
    if not found:
        raise ValueError("is empty")
    return found


def pairs(value: str) -> tuple[tuple[str, str | None], ...]:
    """`name=value` with commas between; None where there is no "="."""
    found: list[tuple[str, str | None]] = []
    for word in words(value):
        name, equals, rest = word.partition("=")
        found.append((name.strip(), rest.strip() if equals else None))
    return tuple(found)


def origins(value: str) -> tuple[re.Pattern[str], ...]:
    """Regular expressions of CORS origins, each bound at both ends of the host."""
    expressions = words(value)
    for expression in expressions:
        if not (("^" in expression or "//" in expression) and ("$" in expression or expression.endswith(":"))):
            raise ValueError(
                f"{expression!r} matches within longer host names too; begin it with ^ or //, end it with $ or (:|$)"
            )
    try:
        return tuple(re.compile(expression) for expression in expressions)
    except re.error as error:
        raise ValueError(f"{error.pattern!r} is no regular expression: {error}") from None
