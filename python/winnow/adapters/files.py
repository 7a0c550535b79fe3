"""The files that an agent wants to change, on disk."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from winnow.core.asking.way import FileError
from winnow.core.clarify import prompts
from winnow.core.clarify.prompts import Incomplete, Prompts

OURS = Path(__file__).parents[1] / "prompts" / "clarify"
_LIMIT = 4 << 20  # bytes; a patch of more is nothing to read


def private(path: str, flags: int) -> int:
    """An opener for `open`: a file that it makes can be read by its owner only."""
    return os.open(path, flags, 0o600)


def private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, which their owner only can look into."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def write_new(path: Path, text: str) -> None:
    """Write a file that only its owner can read.

    Raises:
        OSError: it can't be written, or is there already, if only as a link to another one.
    """
    with open(path, "x", opener=private, encoding="utf-8", errors="replace") as file:
        file.write(text)


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

    def write(self, path: str, text: str, before: str | None) -> None:
        """Write a file that is as it was ``before``. See `ports.Files.write`."""
        if self.read(path) != before:
            raise FileError(f"{path} has changed meanwhile.")
        try:
            if before is None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            with Path(path).open(
                "w" if before is not None else "x", encoding="utf-8", newline=""
            ) as file:
                file.write(text.encode(errors="replace").decode())
        except OSError as error:
            raise FileError(f"{path} can't be written: {error.strerror}.") from error

    def remove(self, path: str, before: str) -> None:
        """Delete a file that is as it was ``before``. See `ports.Files.remove`."""
        if self.read(path) != before:
            raise FileError(f"{path} has changed meanwhile.")
        try:
            Path(path).unlink()
        except OSError as error:
            raise FileError(f"{path} can't be deleted: {error.strerror}.") from error


class DiskTemplates:
    """Implements `ports.Templates`."""

    def clarify(self, folder: str) -> Prompts:
        """The user's templates, or ours. See `ports.Templates.clarify`."""
        texts = {name: (OURS / f"{name}.md").read_text(encoding="utf-8") for name in prompts.NAMES}
        if folder and not Path(folder).is_dir():
            raise FileError(f"There is no folder {folder} with templates.")
        for name in prompts.NAMES if folder else ():
            own = DiskFiles().read(str(Path(folder) / f"{name}.md"))
            texts[name] = texts[name] if own is None else own
        try:
            return prompts.prompts(texts)
        except Incomplete as incomplete:
            raise FileError(f"The templates in {folder} can't be used: {incomplete}.") from None
