"""The forms of custom resources: as others, but protobuf is for their metadata only."""

from __future__ import annotations

from pilothouse.endpoints.forms import Forms
from pilothouse.endpoints.negotiation import PROTOBUF, Form, negotiate
from pilothouse.machinery.errors import APIError
from pilothouse.serving.http import Request

_PARTIAL = "PartialObjectMetadata"


class CustomForms(Forms):
    """`binary` is set after the offer of whole objects was made without it."""

    def negotiate(
        self, request: Request, forms: frozenset[str], *, watchable: bool = False, said: tuple[str, ...] = ()
    ) -> Form:
        accept = request.header(b"accept") or ""
        if PROTOBUF in accept and _PARTIAL in accept:
            try:
                form = negotiate(request, offered=self._everywhere, forms=forms)
            except APIError:
                form = None
            if form is not None and (form.media_type != PROTOBUF or form.form.startswith(_PARTIAL)):
                return form
        return super().negotiate(request, forms, watchable=watchable, said=said)
