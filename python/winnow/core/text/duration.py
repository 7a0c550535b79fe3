"""How long something took, or is ago, in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """As in `lua/winnow/chat/duration.lua`: ``42 s``, ``1 min 5 s``, ``2 h 3 min``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if whole <= 60:
        return f"{whole} s"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def age(seconds: float) -> str:
    """How long ago, in short."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now" if seconds < 10 else f"{int(seconds)} s"
