"""Where a coroutine waits, in words for a log: the functions that it is in, one for each room of the code.

Nothing is noted while it runs; it is looked at from outside, when it has been waiting for long.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

_PACKAGE: Final = "/pilothouse/"
_UNTOLD: Final = frozenset({"filters", "kit"})  # every request is in them
_DEEPEST: Final = 200
_CARRIED: Final = "work"  # what serving/eager.py calls the coroutine that it carries on by hand


def whereabouts(waiting: Any) -> str:
    """Of a coroutine (or what else can be awaited) that is not running: "room/file.py function > ...", outermost first.

    "" where it is in no function of this package.
    """
    found: list[tuple[str, str]] = []  # room, place
    for _ in range(_DEEPEST):
        frame: FrameType | None = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        if frame is None:
            break
        code = frame.f_code
        _, _, path = code.co_filename.rpartition(_PACKAGE)
        room = path.partition("/")[0]
        carried = frame.f_locals.get(_CARRIED) if code.co_name == "go_on" else None
        if path != code.co_filename and room not in _UNTOLD and carried is None:
            if found and found[-1][0] == room:
                found.pop()
            found.append((room, f"{path} {code.co_name}"))
        waiting = carried or getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    return " > ".join(place for _, place in found)
