"""Which past a chat has."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from contextlib import suppress
from pathlib import Path

from winnow import ports
from winnow.adapters.past import git_past
from winnow.adapters.past.copies import CopiedPast

_KEPT = 30 * 24 * 3600  # seconds for which what nobody looks at is kept


class Pasts:
    """Implements `ports.MakePast`.

    Args:
        folder: where states are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cleared = False

    async def __call__(self, cwd: str, chat: str) -> ports.Past:
        """See `ports.MakePast`."""
        name = hashlib.blake2b(chat.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        if not self._cleared:
            self._cleared = True
            await asyncio.to_thread(self._clear, name)
        folder = Path(cwd)
        return await git_past.find(folder, self._folder / name) or CopiedPast(folder)

    def _clear(self, but: str) -> None:
        """Forget chats of long ago."""
        with suppress(OSError):
            for place in self._folder.iterdir():
                if place.name != but and time.time() - place.stat().st_mtime > _KEPT:
                    shutil.rmtree(place, ignore_errors=True)
