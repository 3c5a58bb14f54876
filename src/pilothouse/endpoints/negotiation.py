"""Which form an answer takes and which a body has, from Accept, Content-Type, ?pretty and the User-Agent.

The rules are the original's: types in Accept are compared with regard to case, `application/*` is refused, a clause
that asks for a Table or for metadata only needs the group and version of meta.k8s.io.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pilothouse.endpoints.requestinfo import parse_query
from pilothouse.kit.memo import remembered
from pilothouse.machinery.errors import APIError, not_acceptable, unsupported_media_type
from pilothouse.serving.http import Request

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
CBOR: Final = "application/cbor"
APPLY_YAML: Final = "application/apply-patch+yaml"
APPLY_CBOR: Final = "application/apply-patch+cbor"
CBOR_SEQUENCE: Final = "application/cbor-seq"
OFFERED: Final = (JSON, YAML, PROTOBUF)
WITH_CBOR: Final = (*OFFERED, CBOR)  # where feature CBORServingAndStorage is on
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = re.compile(rf';\s*({_TOKEN})\s*=\s*(?:({_TOKEN})|"((?:[^"\\\r\n]|\\[^\r\n])*)")', re.ASCII)
_PARAMETERS: Final = re.compile(rf"(?:\s*{_PARAMETER.pattern})*(?:\s*;)?\s*", re.ASCII)
_ESCAPED: Final = re.compile(r"\\(.)")
_LONGEST_TYPE: Final = 4096  # characters
_PRETTY_AGENTS: Final = ("curl", "Wget", "Mozilla/5.0")


class Form(NamedTuple):
    """How an answer shall look. `form` is "" for the object itself, else Table, PartialObjectMetadata or its list."""

    media_type: str
    form: str = ""
    form_version: str = ""
    pretty: bool = False
    stream: bool = False


def streams_of(offered: tuple[str, ...]) -> tuple[str, ...]:
    """How watches are offered where objects are offered so: not in YAML, and in CBOR as a sequence."""
    return tuple(CBOR_SEQUENCE if one == CBOR else f"{one};stream=watch" for one in offered if one != YAML)


class Clause(NamedTuple):
    type: str
    parameters: dict[str, str]


_MOST_CLAUSES: Final = 1000
_MOST_PARAMETERS: Final = 100  # of one clause
_SORTED_BY_INSERTION: Final = 12  # clauses; more are rare
# Digits are not given back, else very many with something odd behind them would be tried in all ways.
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?", re.ASCII)


@remembered(512)
def parse_accept(header: str) -> tuple[Clause, ...]:
    """The clauses of an Accept header, best first. Of very many, the first are read.

    The names of parameters have their case, values no quotes, and a quality that is no number counts as 0. What is
    neither a type with a subtype nor `*` is left out.
    """
    found: list[tuple[float, Clause]] = []
    for part in header.split(",", _MOST_CLAUSES)[:_MOST_CLAUSES]:
        whole, *pieces = part.strip(" ").split(";", _MOST_PARAMETERS)[:_MOST_PARAMETERS]
        main, slash, sub = whole.removesuffix("/").partition("/")
        main, sub = main.strip(" "), sub.strip(" ")
        if not slash and main == "*":
            sub = "*"
        elif not slash or "/" in sub:
            continue
        quality, parameters = _parameters(pieces)
        found.append((quality, Clause(f"{main}/{sub}", parameters)))
    return tuple(clause for _, clause in _best_first(found))


def _parameters(pieces: Sequence[str]) -> tuple[float, dict[str, str]]:
    """The quality of a clause, and its other parameters."""
    quality = 1.0
    parameters: dict[str, str] = {}
    for piece in pieces:
        name, _, value = piece.partition("=")
        value = value.removesuffix("=") if value != "=" else value
        if not value or "=" in value:
            continue
        name = name.strip(" ")
        if name == "q":
            quality = float(value) if _NUMBER.fullmatch(value) else 0.0
        else:
            parameters[name] = value.strip(" ")
    return quality, parameters


def _best_first(found: list[tuple[float, Clause]]) -> list[tuple[float, Clause]]:
    """By quality, but a wildcard also moves behind what is no wildcard. That is no order: the steps decide."""
    if len(found) > _SORTED_BY_INSERTION:
        return sorted(found, key=lambda each: -each[0])
    for index in range(1, len(found)):
        at = index
        while at and _is_better(found[at], found[at - 1]):
            found[at - 1], found[at] = found[at], found[at - 1]
            at -= 1
    return found


def _is_better(one: tuple[float, Clause], other: tuple[float, Clause]) -> bool:
    (quality, clause), (other_quality, other_clause) = one, other
    if quality > other_quality:
        return True
    return any(
        mine != "*" and its == "*"
        for mine, its in zip(clause.type.split("/"), other_clause.type.split("/"), strict=True)
    )


def negotiate(
    request: Request,
    *,
    offered: tuple[str, ...] = OFFERED,
    forms: frozenset[str] = frozenset(),
    told: tuple[str, ...] = (),
) -> Form:
    """The form of the answer. `forms`: which of Table, PartialObjectMetadata(List) may be asked for here.

    Raises NotAcceptable, which tells the media types `told`, or those `offered`.
    """
    header = request.header(b"accept") or ""
    chosen = _choose(header, offered, forms)
    if chosen is None:
        raise not_acceptable(told or offered)
    if chosen.media_type != JSON:
        return chosen._replace(pretty=False) if chosen.pretty else chosen
    if not chosen.pretty and _pretty(request):
        return chosen._replace(pretty=True)
    return chosen


@remembered(1024)
def _choose(header: str, offered: tuple[str, ...], forms: frozenset[str]) -> Form | None:
    if not header:
        return Form(offered[0])
    for clause in parse_accept(header):
        for media_type in _matching(clause.type, offered):
            form = _form(media_type, clause.parameters, forms)
            if form is not None:
                return form
    return None


def _matching(wanted: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The media types that are offered and that a type or a wildcard stands for."""
    if wanted == "*/*":
        return offered
    if wanted.endswith("/*"):
        return tuple(one for one in offered if one.startswith(wanted[:-1]))
    return (wanted,) if wanted in offered else ()


def _form(media_type: str, parameters: Mapping[str, str], forms: frozenset[str]) -> Form | None:
    """What the parameters of a clause ask for; None for what there is not."""
    stream = parameters.get("stream", "")
    if stream and (stream != "watch" or media_type == YAML):  # there is no other stream, and none of YAML
        return None
    if parameters.get("sv", "") not in ("", "v1" if forms else ""):
        return None
    pretty = parameters.get("pretty") == "1"
    if parameters.keys().isdisjoint(("as", "g", "v")):
        return Form(media_type, pretty=pretty, stream=bool(stream))
    wanted, version = parameters.get("as", ""), parameters.get("v", "")
    known = parameters.get("g") == "meta.k8s.io" and version in ("v1", "v1beta1")
    if known and wanted in forms and not (wanted == "Table" and media_type not in (JSON, YAML)):
        return Form(media_type, wanted, version, pretty=pretty, stream=bool(stream))
    return None


@remembered(1024)
def routable(header: str, offered: tuple[str, ...]) -> bool:
    """Whether the routes of built-in kinds let an Accept header pass: it must name a type, wildcards of types are
    unknown to them.
    """
    return not header or any(
        each.partition(";")[0].strip(" ") in ("*/*", *offered) for each in header.split(",", _MOST_CLAUSES)
    )


def unroutable(request: Request, offered: Sequence[str]) -> APIError:
    """406 of a route. Where a body is missing that could be, it complains about that."""
    told = f"\n\nAvailable representations: {', '.join(offered)}"
    if request.method in ("POST", "PUT", "PATCH") and request.header(b"content-length") in (None, "", "0"):
        return APIError(415, "UnsupportedMediaType", f"415: Unsupported Media Type{told}", {})
    return APIError(406, "NotAcceptable", f"406: Not Acceptable{told}", {})


def _pretty(request: Request) -> bool:
    """What the query says of it; where that is silent, what sort of client asks."""
    query = request.query
    if "pretty" in query:
        value = parse_query(query).get("pretty")
        if value:
            return value in ("1", "t", "T", "TRUE", "true", "True")
    agent = request.header(b"user-agent") or ""
    return agent.startswith(_PRETTY_AGENTS)


def content_type(request: Request, accepted: tuple[str, ...] = OFFERED) -> str:
    """The media type of the body; none means JSON. Raises UnsupportedMediaType."""
    header = request.header(b"content-type")
    if not header:
        return JSON
    media_type = _media_type(header)
    if media_type not in accepted:
        raise unsupported_media_type(accepted)
    return media_type


@remembered(256)
def _media_type(header: str) -> str:
    """The type in a Content-Type, "" where it is too long, its parameters cannot be read, or one has two values."""
    if len(header) > _LONGEST_TYPE:
        return ""
    base, mark, rest = header.partition(";")
    rest = mark + rest
    if rest and not _PARAMETERS.fullmatch(rest):
        return ""
    given: dict[str, str] = {}
    for name, text, quoted in _PARAMETER.findall(rest):
        value = text or _ESCAPED.sub(r"\1", quoted)
        if given.setdefault(name.lower(), value) != value:
            return ""
    return base.strip().lower()
