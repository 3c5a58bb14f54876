"""How a kept document answers a request: conditions and ranges, as HTTP defines them."""

from __future__ import annotations

import re
from email.utils import formatdate, parsedate_to_datetime
from typing import Final

from pilothouse.machinery.digits import whole
from pilothouse.serving.http import HeaderList, Request, Response

_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")


def serve(request: Request, data: bytes, modified: float, headers: HeaderList, etag: str = "") -> Response:
    """200 with the data, 304 where the client has it, 412 where that is not what it asks for, 206 for one range of it,
    416 for one outside.

    `headers` are those of the answer without length, range and dates. `etag` without quotes. `modified` in seconds
    since the epoch.
    """
    if _is_other(request, modified, etag):
        return Response(412, headers)
    if _has_it(request, modified, etag):
        if request.method not in ("GET", "HEAD"):
            return Response(412, headers)
        return Response(304, [header for header in headers if header[0] not in (b"Content-Type", b"Content-Encoding")])
    headers = [
        (b"Accept-Ranges", b"bytes"),
        *headers,
        (b"Last-Modified", formatdate(modified, usegmt=True).encode()),
    ]
    asked = request.header(b"range") or ""
    if not asked or "," in asked or not _may_be_part(request, modified, etag):
        return Response(200, headers, data)
    found = _RANGE.fullmatch(asked)
    if found is None or found.groups() == ("", "") or (found[2] and whole(found[1]) > whole(found[2])):
        return Response(416, [(b"Content-Type", b"text/plain; charset=utf-8")], b"invalid range\n")
    part = _part(found[1], found[2], len(data))
    if part is None:
        headers = [(b"Content-Range", f"bytes */{len(data)}".encode()), (b"Content-Type", b"text/plain; charset=utf-8")]
        return Response(416, headers, b"invalid range: failed to overlap\n")
    first, last = part
    headers.append((b"Content-Range", f"bytes {first}-{last}/{len(data)}".encode()))
    return Response(206, headers, data[first : last + 1])


def _part(first: str, last: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a range, None if nothing of it is there."""
    if not first:
        length = min(whole(last), size)
        return (size - length, size - 1) if length else None
    start, end = whole(first), min(whole(last), size - 1) if last else size - 1
    return (start, end) if start <= end else None


def _is_other(request: Request, modified: float, etag: str) -> bool:
    """Whether the client asks for another state of the document than there is."""
    wanted = request.header(b"if-match")
    if wanted is not None:
        return wanted.strip() != "*" and (not etag or f'"{etag}"' not in {tag.strip() for tag in wanted.split(",")})
    since = _seconds(request.header(b"if-unmodified-since"))
    return since is not None and int(modified) > since


def _may_be_part(request: Request, modified: float, etag: str) -> bool:
    """Whether a range will do: the client has the rest of this very state."""
    wanted = request.header(b"if-range")
    if not wanted:
        return True
    return wanted == f'"{etag}"' if wanted.startswith(('"', "W/")) else _seconds(wanted) == int(modified)


def _seconds(date: str | None) -> float | None:
    """A date of HTTP in seconds since the epoch; None for what is none."""
    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except ValueError:
        return None


def _has_it(request: Request, modified: float, etag: str) -> bool:
    known = request.header(b"if-none-match")
    if known is not None:
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return known.strip() == "*" or (etag != "" and f'"{etag}"' in tags)
    since = _seconds(request.header(b"if-modified-since"))
    return since is not None and request.method in ("GET", "HEAD") and int(modified) <= since
