"""Lists of items of a few forms in any order: those of one form are read together, as a run of them would be."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.machinery.yamlcodec.cuts import LEAST, Items, Read, Span
from pilothouse.machinery.yamlcodec.records import Form, form_of, is_sure, values_of_form

_SAMPLE: Final = 8 << 10  # bytes of a list that tell whether it is worth a look
_OFTEN: Final = 4  # items of one form, on average, in a sample
_MOST_FORMS: Final = 256


class Several:
    """Items of a list, each of which begins in a line of its own."""

    def __init__(self) -> None:
        self._begins = re.compile(rb"\n( *)- ")

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        between, indent = found[0], found[1]
        sample = data[at : at + _SAMPLE].split(between)[1:-1]
        if len(sample) * _OFTEN < LEAST or b":" not in sample[0]:
            return None
        forms = form_of(between.join((b"", *sample, b""))).split(between)[1:-1]
        if len(forms) != len(sample) or not _OFTEN < len(set(forms)) * _OFTEN <= len(forms):
            return None  # those of one form are a run
        last = re.compile(rb"\n(?!%b(?: |- ))" % indent).search(data, at)
        end = len(data) if last is None else last.start()
        values = self._values(data[at:end], between, indent, read)
        if values is None:
            return None, end
        start = data.index(between, at + 1)
        return Span(start, data.rindex(between, start, end), between, b"", Items(values)), end

    def _values(self, text: bytes, between: bytes, indent: bytes, read: Read) -> list[Any] | None:
        """The values of all items but the first and the last."""
        items = text.split(between)[2:-1]
        forms = form_of(text + b"\n").split(between)[2:-1]
        if len(items) != len(forms) or not items:
            return None
        places: dict[bytes, list[int]] = {form: [] for form in forms}
        if len(places) > _MOST_FORMS or not all(map(is_sure, places)):
            return None
        for place, form in enumerate(forms):
            places[form].append(place)
        values: list[Any] = [None] * len(items)
        for form, of_form in places.items():
            slots = (between[1:] + form).split(b"\n")
            lines = (between[1:] + between.join([items[place] for place in of_form])).split(b"\n")
            found = values_of_form(lines[: len(slots)], lines, Form(indent, None, slots), read)
            if found is None:
                return None
            for place, value in zip(of_form, found, strict=True):
                values[place] = value
        return values
