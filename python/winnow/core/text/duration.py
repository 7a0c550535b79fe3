"""How long something took, in words; as in `lua/winnow/chat/duration.lua`."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """The same everywhere: ``42 s``, ``1 min 5 s``, ``2 h 3 min``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if whole <= 60:
        return f"{whole} s"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
