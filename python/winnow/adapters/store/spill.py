"""What could not be written before the host had to end: beside the database, until the next host.

Neovim waits two seconds for its children and then kills them; a lock may last longer.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

from winnow.adapters.files import private
from winnow.core.ledger.ledger import Decision
from winnow.core.never import assert_never
from winnow.core.run.events import Event, RunEvent
from winnow.core.run.transcript import RunTurn
from winnow.core.text.encoding import from_json, to_json
from winnow.ports import Kept, Message, StoredSection

log = logging.getLogger(__name__)


class _Spilt(msgspec.Struct):
    """All that was to be kept, in order."""

    sections: list[StoredSection] = []
    decisions: list[Decision] = []
    messages: list[Message] = []
    events: list[Event] = []
    turns: list[RunTurn] = []

    def add(self, kept: Kept) -> None:
        match kept:
            case StoredSection():
                self.sections.append(kept)
            case Decision():
                self.decisions.append(kept)
            case Message():
                self.messages.append(kept)
            case RunEvent():
                self.events.append(cast(Event, kept))
            case RunTurn():
                self.turns.append(kept)
            case _:
                assert_never(kept)


class Spill:
    """The files of this kind beside a database.

    Args:
        database: its path.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._own: Path | None = None

    def write(self, kept: list[Kept]) -> None:
        """Keep these in a file, which only its owner can read."""
        spilt = _Spilt()
        for one in kept:
            spilt.add(one)
        path = self._database.with_name(f"{self._database.name}.unsaved-{secrets.token_hex(4)}")
        with suppress(OSError):
            with open(path, "w", encoding="utf-8", opener=private) as file:
                file.write(to_json(spilt))
            self._own = path

    def clear(self) -> None:
        """The database has it, after all."""
        if self._own is not None:
            self._own.unlink(missing_ok=True)

    def take(self) -> list[tuple[Path, list[Kept]]]:
        """What earlier hosts have left, by file. One that can't be read stays where it is."""
        found: list[tuple[Path, list[Kept]]] = []
        for path in sorted(self._database.parent.glob(f"{self._database.name}.unsaved-*")):
            try:
                spilt = from_json(path.read_text(encoding="utf-8"), _Spilt)
            except (OSError, ValueError) as error:
                log.warning("%s can't be read: %s", path.name, type(error).__name__)
                continue
            found.append(
                (
                    path,
                    [
                        *spilt.sections,
                        *spilt.decisions,
                        *spilt.messages,
                        *spilt.events,
                        *spilt.turns,
                    ],
                )
            )
        return found
