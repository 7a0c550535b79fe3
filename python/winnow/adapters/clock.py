"""The time."""

from __future__ import annotations

import time


class WallClock:
    """Implements `ports.Clock` by the system's."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()
