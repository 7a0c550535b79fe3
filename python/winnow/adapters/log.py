"""The log: what happened and where, never what was said in a chat."""

from __future__ import annotations

import copy
import logging
import logging.handlers
import sqlite3
import traceback
from pathlib import Path
from typing import Any

from winnow.adapters.files import private
from winnow.adapters.secrets import hidden

# Errors whose words are about the machine. Those of any other may quote what they failed at.
_TELLING = (OSError, ImportError, sqlite3.Error)


def start(path: Path) -> None:
    """Write what is logged to this file, which only its owner can read.

    Raises:
        OSError: it can't be written.
    """
    logging.raiseExceptions = False  # a full disk costs the log, nothing else
    handler = _File(path, maxBytes=1 << 20, backupCount=1)
    handler.setFormatter(_Formatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("winnow").setLevel(logging.INFO)


class _File(logging.handlers.RotatingFileHandler):
    def _open(self) -> Any:
        return open(self.baseFilename, "a", encoding="utf-8", opener=private)


class _Formatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record = copy.copy(record)
        record.exc_text = None  # as another handler has put it
        return hidden(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        if record.name.partition(".")[0] != "winnow":  # a library may quote what it works on
            record.message = f"{record.levelname} in {record.funcName}, line {record.lineno}"
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return told(ei[1])


def told(error: BaseException | None) -> str:
    """Where an error and its causes were raised, and what they are."""
    parts: list[str] = []
    while error is not None:
        words = f": {error}" if isinstance(error, _TELLING) else ""
        stack = "".join(traceback.format_tb(error.__traceback__))
        parts.insert(0, f"{stack}{type(error).__name__}{words}")
        error = error.__cause__ or error.__context__
    return "\n".join(parts)
