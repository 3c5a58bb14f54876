"""The forms that are not text, as the endpoints need them; made by whoever has the codec's tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pilothouse.endpoints.negotiation import Form
from pilothouse.registry.reader import ListPage
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Answer
from pilothouse.storage.api import StoredObject


class BinaryForms(Protocol):
    """One resource in protobuf."""

    def object(self, stored: StoredObject, version: str) -> bytes: ...

    def virtual(self, obj: Object) -> bytes: ...

    def partial(self, obj: Object, version: str) -> bytes: ...

    async def list_answer(
        self, page: ListPage, version: str, form: Form, metadata: Callable[[StoredObject], bytes]
    ) -> Answer: ...

    def event(self, kind: str, stored: StoredObject, version: str) -> bytes:
        """One frame of a watch."""
        ...

    def bookmark(self, obj: Object, version: str, form: Form) -> bytes: ...

    def error_event(self, status: dict[str, Any]) -> bytes: ...
