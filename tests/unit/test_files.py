"""Files as they are on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from winnow.adapters.files import DiskFiles
from winnow.core.asking.way import FileError


@pytest.mark.parametrize(
    "text", ["", "a\n", "no end", "a\r\nb\rc\n", "\ufeffmark\n", "ü😀\u2028\n"]
)
def test_text_is_read_as_it_is(tmp_path: Path, text: str) -> None:
    """Line ends and the byte order mark stay."""
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert DiskFiles().read(str(path)) == text


def test_what_does_not_exist_is_none(tmp_path: Path) -> None:
    """Also in a folder that does not, and behind a link."""
    (tmp_path / "link").symlink_to("gone")
    for name in ("gone", "gone/too", "link"):
        assert DiskFiles().read(str(tmp_path / name)) is None


@pytest.mark.parametrize("data", [b"a\xffb", b"a\0b", "ü".encode("latin-1"), b"\xed\xa0\x80"])
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    """Rather than shown with replacements, which would be written back."""
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError) as failure:
        DiskFiles().read(str(path))
    assert failure.value.sentence == f"{path} is not UTF-8 text, so no diff can be shown."


def test_four_megabytes_are_the_limit(tmp_path: Path) -> None:
    """One byte more is refused."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * (4 << 20))
    assert len(DiskFiles().read(str(path)) or "") == 4 << 20
    path.write_bytes(b"x" * ((4 << 20) + 1))
    with pytest.raises(FileError, match=r"is larger than 4 MB\.$"):
        DiskFiles().read(str(path))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a named pipe, which must not be waited for, a path through a file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    for name, sentence in (
        (".", "is a folder."),
        ("pipe", "is no file."),
        ("file/below", "can't be read: Not a directory."),
        ("x" * 300, "can't be read: File name too long."),
        ("nul\0", "is no path."),
        ("half\ud800", "is no path."),
    ):
        with pytest.raises(FileError) as failure:
            DiskFiles().read(f"{tmp_path}/{name}")
        assert failure.value.sentence.endswith(sentence)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_refused(tmp_path: Path) -> None:
    """With the system's reason."""
    path = tmp_path / "file"
    path.touch(mode=0)
    with pytest.raises(FileError, match="can't be read: Permission denied"):
        DiskFiles().read(str(path))
