"""How a file is named for the user of a chat."""

from __future__ import annotations

import msgspec


class Folder(msgspec.Struct, frozen=True):
    """Where a chat is: absolute directories, empty where that is not known.

    Attributes:
        cwd: the chat's directory, in which its agent works.
        home: the user's.
    """

    cwd: str = ""
    home: str = ""

    def name(self, path: str) -> str:
        """A file's shortest plain name: from the chat's directory, from ``~``, or as it is.

        ``lua/winnow/chat/tool.lua`` finds the file by it again.
        """
        if (inside := _inside(self.cwd, path)) is not None:
            return f"./{inside}" if inside.startswith("~") else inside
        if (inside := _inside(self.home, path)) is not None:
            return f"~/{inside}"
        return path


UNKNOWN = Folder()


def _inside(folder: str, path: str) -> str | None:
    """The way from a folder down to a path, if there is one."""
    root = folder.rstrip("/") + "/"
    inside = path[len(root) :]
    below = len(root) > 1 and path.startswith(root) and inside
    return inside if below and not {"", ".", ".."} & set(inside.split("/")) else None
