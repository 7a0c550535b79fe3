"""The files that an agent wants to change, on disk."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from winnow.core.asking.way import FileError

_LIMIT = 4 << 20  # bytes; a patch of more is nothing to read


def private(path: str, flags: int) -> int:
    """An opener for `open`: a file that it makes can be read by its owner only."""
    return os.open(path, flags, 0o600)


class DiskFiles:
    """Implements `ports.Files`."""

    def read(self, path: str) -> str | None:
        """A file's text, or None. See `ports.Files.read`."""
        try:
            # Looked at before it is opened, since opening a named pipe waits for its writer.
            kind = Path(path).stat().st_mode
            if not stat.S_ISREG(kind):
                raise FileError(f"{path} is {'a folder' if stat.S_ISDIR(kind) else 'no file'}.")
            with Path(path).open("rb") as file:
                data = file.read(_LIMIT + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{path} can't be read: {error.strerror}.") from error
        except ValueError as error:  # an agent may put anything into a path
            raise FileError(f"{path!r} is no path.") from error
        if len(data) > _LIMIT:
            raise FileError(f"{path} is larger than {_LIMIT >> 20} MB.")
        with suppress(UnicodeDecodeError):
            if "\0" not in (text := data.decode()):
                return text
        raise FileError(f"{path} is not UTF-8 text, so no diff can be shown.")
