"""The folders and files that agents work on."""

from __future__ import annotations

from typing import Protocol

from winnow.core.clarify.prompts import Prompts
from winnow.core.project import Project


class Projects(Protocol):
    """The folders in which agents work."""

    async def read(self, cwd: str) -> Project:
        """The project of this folder, with all that Claude Code would read there."""


class Files(Protocol):
    """The files that an agent wants to change."""

    def read(self, path: str) -> str | None:
        """A file's text, its byte order mark and line ends as they are; None: there is none.

        Raises:
            FileError: it is no text, too large, or can't be read.
        """

    def write(self, path: str, text: str, before: str | None) -> None:
        """Write a file that holds what it held ``before``; None: there is none.

        Raises:
            FileError: it holds something else by now, or can't be written.
        """

    def remove(self, path: str, before: str) -> None:
        """Delete a file that holds what it held ``before``.

        Raises:
            FileError: it holds something else by now, or can't be deleted.
        """


class Templates(Protocol):
    """What models are told, as the user has it."""

    def clarify(self, folder: str) -> Prompts:
        """What a folder has of them, and ours for the rest; empty: all of ours.

        Raises:
            FileError: one can't be read, or leaves out what must be said.
        """
