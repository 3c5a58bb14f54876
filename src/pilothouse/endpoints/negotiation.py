"""Which form an answer takes and which a body has, from Accept, Content-Type, ?pretty and the User-Agent.

The rules are the original's: types in Accept are compared with regard to case, `application/*` is refused, a clause
that asks for a Table or for metadata only needs the group and version of meta.k8s.io.
"""

from __future__ import annotations

from typing import Final, NamedTuple

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


@remembered(512)
def parse_accept(header: str) -> tuple[Clause, ...]:
    """The clauses of an Accept header, best first: `q` decides, then the order. Of very many, the first are read."""
    found: list[tuple[float, int, Clause]] = []
    for index, part in enumerate(header.split(",", _MOST_CLAUSES)[:_MOST_CLAUSES]):
        pieces = part.split(";")
        parameters: dict[str, str] = {}
        quality = 1.0
        for piece in pieces[1:]:
            name, _, value = piece.partition("=")
            name, value = name.strip().lower(), value.strip().strip('"')
            if name == "q":
                try:
                    quality = float(value) or 1.0  # "never" is not understood
                except ValueError:
                    quality = 1.0
            else:
                parameters[name] = value
        found.append((-quality, index, Clause(pieces[0].strip(), parameters)))
    return tuple(clause for _, _, clause in sorted(found, key=lambda entry: entry[:2]))


def negotiate(request: Request, *, offered: tuple[str, ...] = OFFERED, forms: frozenset[str] = frozenset()) -> Form:
    """The form of the answer. `forms`: which of Table, PartialObjectMetadata(List) may be asked for here.

    Raises NotAcceptable.
    """
    header = request.header(b"accept") or ""
    chosen = _choose(header, offered, forms)
    if chosen is None:
        raise refusal(header, offered, forms)
    if chosen.media_type == JSON and _pretty(request, header):
        return chosen._replace(pretty=True)
    return chosen


@remembered(1024)
def _choose(header: str, offered: tuple[str, ...], forms: frozenset[str]) -> Form | None:
    if not header.strip() or header == "*/*":
        return Form(offered[0])
    for clause in parse_accept(header):
        media_type = offered[0] if clause.type == "*/*" else clause.type
        if media_type not in offered:
            continue
        wanted = clause.parameters.get("as", "")
        stream = clause.parameters.get("stream", "")
        if stream and (stream != "watch" or media_type == YAML):  # there is no other stream, and none of YAML
            continue
        version = clause.parameters.get("v", "")
        if not wanted:
            if version or "g" in clause.parameters:
                continue
            return Form(media_type, stream=bool(stream))
        known = clause.parameters.get("g") == "meta.k8s.io" and version in ("v1", "v1beta1")
        if known and wanted in forms and not (wanted == "Table" and media_type not in (JSON, YAML)):
            return Form(media_type, wanted, version, stream=bool(stream))
    return None


def refusal(
    header: str,
    offered: tuple[str, ...],
    forms: frozenset[str],
    shown: str = "",
    streams: tuple[str, ...] = (),
    *,
    routed: bool = True,
    everywhere: tuple[str, ...] = OFFERED,
) -> APIError:
    """406. Asking for metadata of a list, or for the list form of one object, names the Go type `shown`.

    `streams`: what the same route offers for watches. `routed`: the route of a built-in kind, which has other words.
    `everywhere`: what the server offers for most kinds.
    """
    clauses = parse_accept(header)
    if not any(clause.type in offered or clause.type in streams or clause.type == "*/*" for clause in clauses):
        if not routed:
            return not_acceptable(everywhere)
        text = f"406: Not Acceptable\n\nAvailable representations: {', '.join((*offered, *streams))}"
        return APIError(406, "NotAcceptable", text, {})
    for clause in clauses:
        wanted = clause.parameters.get("as", "")
        if (
            wanted in ("PartialObjectMetadata", "PartialObjectMetadataList")
            and forms
            and wanted not in forms
            and clause.type in offered
        ):
            what = "a list" if wanted == "PartialObjectMetadata" else "not a list"
            text = f"you requested {wanted}, but the requested object is {what} ({shown})"
            return APIError(406, "NotAcceptable", text)
    return not_acceptable(offered)


def _pretty(request: Request, header: str) -> bool:
    query = request.query
    if "pretty=" in query:
        value = query.partition("pretty=")[2].partition("&")[0]
        return value in ("1", "true")
    if "pretty=1" in header or "pretty=true" in header:
        return True
    agent = request.header(b"user-agent") or ""
    return agent.startswith(_PRETTY_AGENTS)


def content_type(request: Request, accepted: tuple[str, ...] = OFFERED) -> str:
    """The media type of the body; none means JSON. Raises UnsupportedMediaType."""
    header = request.header(b"content-type")
    if not header:
        return JSON
    media_type = header.partition(";")[0].strip().lower()
    if media_type not in accepted:
        raise unsupported_media_type(accepted)
    return media_type
