"""How a kept document answers a request: conditions and ranges, as HTTP defines them."""

from __future__ import annotations

import re
from email.utils import formatdate, parsedate_to_datetime
from typing import Final

from pilothouse.serving.http import HeaderList, Request, Response

_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")


def serve(request: Request, data: bytes, modified: float, headers: HeaderList, etag: str = "") -> Response:
    """200 with the data, 304 where the client has it, 206 for one range of it, 416 for one outside.

    `headers` are those of the answer without length, range and dates. `etag` without quotes. `modified` in seconds
    since the epoch.
    """
    if _has_it(request, modified, etag):
        return Response(304, [header for header in headers if header[0] not in (b"Content-Type", b"Content-Encoding")])
    headers = [
        (b"Accept-Ranges", b"bytes"),
        *headers,
        (b"Last-Modified", formatdate(modified, usegmt=True).encode()),
    ]
    found = _RANGE.fullmatch(request.header(b"range") or "")
    if found is None or found.groups() == ("", ""):
        return Response(200, headers, data)
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
        length = min(int(last), size)
        return (size - length, size - 1) if length else None
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    return (start, end) if start <= end else None


def _has_it(request: Request, modified: float, etag: str) -> bool:
    known = request.header(b"if-none-match")
    if known is not None:
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return known.strip() == "*" or (etag != "" and f'"{etag}"' in tags)
    since = request.header(b"if-modified-since")
    if since is None or request.method not in ("GET", "HEAD"):
        return False
    try:
        return int(modified) <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False
