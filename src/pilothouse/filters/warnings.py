"""Collects what handlers want to warn of and sends it as Warning headers (RFC 7234, 5.5;
Kubernetes documentation, "Warnings").
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from pilothouse.endpoints.scope import Warnings
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.warned import EACH, TOTAL
from pilothouse.serving.http import Answer, Filter, Handler, HeaderList, Request


def warning_headers(texts: Iterable[str]) -> HeaderList:
    """Each text once; all are cut only when together they are long, and what then is still too much is left out."""
    shown = list(dict.fromkeys(texts))
    if sum(map(len, shown)) > TOTAL:
        sizes = accumulate(min(len(text), EACH) for text in shown)
        shown = [text[:EACH] for text, size in zip(shown, sizes, strict=True) if size <= TOTAL]
    return [(b"Warning", b'299 - "%b"' % _quoted(text).encode()) for text in shown if text]


def _quoted(text: str) -> str:
    clean = "".join(char if char.isprintable() or char == " " else " " for char in text)
    return clean.replace("\\", "\\\\").replace('"', '\\"')


def warnings() -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            texts = Warnings()
            request.attach(texts)
            try:
                answer = await inner(request)
            except APIError as error:
                error.headers = warning_headers(texts)
                raise
            if texts:
                answer.headers += warning_headers(texts)
            return answer

        return handle

    return build
