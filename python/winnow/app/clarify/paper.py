"""The file of the specification: written while it is as we left it, proposed once it is not."""

from __future__ import annotations

from datetime import datetime

import msgspec

from winnow import ports
from winnow.core.asking.way import FileError
from winnow.core.clarify import spec as specs
from winnow.core.clarify.clarification import Clarification

MOST = 100  # of one name


class Paper:
    """Where specifications are written.

    Args:
        files: the files.
        clock: tells the date.
        folder: a new one goes there.
    """

    def __init__(self, files: ports.Files, clock: ports.Clock, folder: str) -> None:
        self._files = files
        self._clock = clock
        self._folder = folder.rstrip("/")

    def now(self) -> str:
        """The time with its zone, from the system."""
        return f"{self._time():%Y-%m-%d %H:%M %Z}"

    def read(self, known: Clarification) -> str | None:
        """The file as it is; None: there is none.

        Raises:
            FileError: it can't be read.
        """
        return self._files.read(known.path) if known.path else None

    def draft(self, known: Clarification) -> Clarification:
        """Write what is known so far, unless the user has changed what was written.

        Raises:
            FileError: it can't be written.
        """
        there = self.read(known)
        if there is not None and there != known.written:
            return known
        return self.write(known, self.text(known, specs.draft(known)), there)

    def text(self, known: Clarification, spec: specs.Spec) -> str:
        """What the file is to hold."""
        return specs.markdown(spec, known, f"{self._time():%Y-%m-%d}")

    def write(self, known: Clarification, text: str, before: str | None) -> Clarification:
        """Write it where it holds what it held before.

        Raises:
            FileError: it does not, or can't be written.
        """
        path = known.path or self._place(known.request)
        self._files.write(path, text, before)
        return msgspec.structs.replace(known, path=path, written=text)

    def _place(self, request: str) -> str:
        """A path that nothing has.

        Raises:
            FileError: the folder can't be looked into.
        """
        name = specs.file_name(request, f"{self._time():%Y%m%d}").removesuffix(".md")
        problem = FileError(f"{self._folder} is full of such specifications.")
        for number in range(1, MOST):
            path = f"{self._folder}/{name}{f'-{number}' if number > 1 else ''}.md"
            try:
                if self._files.read(path) is None:
                    return path
            except FileError as error:  # something is there
                problem = error
        raise problem

    def _time(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now()).astimezone()
