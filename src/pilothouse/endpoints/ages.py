"""Ages as kubectl shows them."""

from __future__ import annotations

_MINUTE = 60
_HOUR = 60 * _MINUTE


def human_duration(seconds: float) -> str:
    """`8s`, `3m12s`, `47m`, `5h3m`, `30h`, `5d4h`, `90d`, `3y12d`, `9y`; `<invalid>` for what lies more than a second ahead."""
    whole = int(seconds)
    if whole < 120:
        return "<invalid>" if whole < -1 else f"{whole}s" if seconds >= 0 else "0s"
    minutes, second = divmod(whole, 60)
    if minutes < 10:
        return f"{minutes}m{second}s" if second else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours, minute = divmod(minutes, 60)
    if hours < 8:
        return f"{hours}h{minute}m" if minute else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days, hour = divmod(hours, 24)
    if days < 8:
        return f"{days}d{hour}h" if hour else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, day = divmod(days, 365)
    return f"{years}y{day}d" if years < 8 and day else f"{years}y"
