"""What files held before, with a real git: what is shown, what is put back, what stays."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from winnow import ports
from winnow.adapters.past.pasts import Pasts
from winnow.core.proposal.merge import FileChange
from winnow.core.review.history import Pair, Yours

T = TypeVar("T")
LINES = "".join(f"{number}\n" for number in range(30))


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class Folder:
    """A folder that an agent works in, and the user too."""

    def __init__(self, folder: Path, *, git: bool = True) -> None:
        self.top = folder / "shop"
        self.top.mkdir()
        if git:
            self.git("init", "--quiet", "--initial-branch=main")
            self.git("config", "user.email", "u@example.com")
            self.git("config", "user.name", "u")
        self.past = run(Pasts(folder / "past")(str(self.top), "chat"))

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.top, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, **files: str | bytes | None) -> None:
        for name, text in files.items():
            path = self.top / name
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self, name: str) -> str | None:
        path = self.top / name
        return path.read_bytes().decode() if path.exists() else None

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "x")

    def now(self) -> str:
        return run(self.past.now())

    def changes(self, old: str, *yours: Yours) -> dict[str, FileChange]:
        found = run(self.past.changes(old, self.now(), yours))
        self.shown = found.name
        return {os.path.relpath(one.path, self.top): one for one in found.files}

    def put_back(self, files: Mapping[str, FileChange], **wanted: str | None) -> list[str]:
        chosen = [files[name] for name in wanted]
        texts = {str(self.top / name): text for name, text in wanted.items()}
        return run(self.past.put_back(self.shown, chosen, texts))

    def state(self) -> list[str]:
        """What nobody but the user may change."""
        asked = [("ls-files", "--stage"), ("for-each-ref",), ("count-objects",), ("status", "-s")]
        index = self.top / ".git" / "index"
        held = index.read_bytes().hex() if index.exists() else ""
        return [held, *(self.git(*one) for one in asked[1:3])]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write(a=LINES, b="b\n")
    made.commit()
    return made


def test_nothing_of_the_users_repository_is_touched(folder: Folder) -> None:
    """No index, no ref, no object, not even where much is staged and changed."""
    folder.write(staged="s\n")
    folder.git("add", "staged")
    folder.write(new="n\n", a="a\n")
    before = folder.state()
    start = folder.now()
    folder.write(new="other\n", b=None)
    found = folder.changes(start)
    assert {name: (one.old, one.new) for name, one in found.items()} == {
        "new": ("n\n", "other\n"),
        "b": ("b\n", None),
    }
    assert folder.state() == before
    folder.git("gc", "--quiet", "--prune=now")  # as somebody may, at any time
    assert set(folder.changes(start)) == {"new", "b"}


def test_what_is_put_back_is_exact(folder: Folder) -> None:
    """Lines, deleted and new files, what is no text, a link, what can be executed, CRLF."""
    folder.write(crlf="1\r\n2\r\n", none="no newline", moved="moved\n", tool="#!\n", pic=b"\0old")
    (folder.top / "link").symlink_to("a")
    start = folder.now()
    folder.write(a=LINES.replace("3\n", "x\n", 1), b=None, crlf="1\r\nx\r\n", none="changed")
    folder.write(pic=b"\0new", made="m\n")
    folder.write(tool="#!\nmore\n")
    (folder.top / "tool").chmod(0o755)
    (folder.top / "moved").rename(folder.top / "place")
    (folder.top / "link").unlink()
    (folder.top / "link").symlink_to("b")
    found = folder.changes(start)
    assert sorted(found) == ["a", "b", "crlf", "link", "made", "none", "pic", "place", "tool"]
    assert found["place"].what == "renamed, was moved"
    assert (found["tool"].new, found["tool"].beside) == ("#!\nmore\n", "now executable")
    assert folder.put_back(found, **dict.fromkeys(found)) == []
    assert folder.changes(start) == {}
    texts = [folder.read(name) for name in ("a", "b", "crlf", "none", "made")]
    assert texts == [LINES, "b\n", "1\r\n2\r\n", "no newline", None]
    assert (folder.top / "pic").read_bytes() == b"\0old"
    assert not os.access(folder.top / "tool", os.X_OK)
    assert (folder.read("moved"), folder.read("place")) == ("moved\n", None)


def test_the_users_own_edits_are_neither_shown_nor_taken_back(folder: Folder) -> None:
    start = folder.now()
    folder.write(a=LINES.replace("3\n", "agents\n", 1), made="one\ntwo\nthree\n", pic=b"\0agents")
    over = folder.now()
    folder.write(a=LINES.replace("3\n", "agents\n", 1) + "mine\n", own="mine\n", pic=b"\0mine")
    folder.write(made="one\nmine\nthree\n")
    found = folder.changes(start, Pair(over, folder.now()))
    assert sorted(found) == ["a", "made"]
    assert folder.put_back(found, a=None, made=None) == []
    assert folder.read("a") == LINES + "mine\n"
    assert folder.read("made") == "mine\n"
    assert folder.read("own") == "mine\n"


def test_a_change_that_is_accepted_is_the_users(folder: Folder) -> None:
    """One of two in a file; a new file; and a deleted one."""
    start = folder.now()
    first = LINES.replace("3\n", "x\n", 1)
    both = first.replace("20\n", "y\n")
    folder.write(a=both, made="m\n", b=None)
    texts = {"a": (LINES.replace("20\n", "y\n"), both), "made": (None, "m\n"), "b": ("b\n", None)}
    steps = [run(folder.past.made(str(folder.top / name), *it)) for name, it in texts.items()]
    found = folder.changes(start, *(step for step in steps if step))
    assert list(found) == ["a"]
    assert (found["a"].old, found["a"].new) == (first, both)


def test_what_changed_since_it_was_shown_stays(folder: Folder) -> None:
    start = folder.now()
    folder.write(a=LINES.replace("3\n", "x\n", 1).replace("20\n", "y\n"), made="m\n", pic=b"\0")
    found = folder.changes(start)
    folder.write(a=(folder.read("a") or "").replace("x\n", "x2\n"), made="m2\n", pic=b"\0\0")
    left = folder.put_back(found, a=None, made=None, pic=None)
    assert left == [
        "made is new, and has changed since the review showed it: it stays.",
        "a:4 no longer reads as the review shows it.",
        "pic has changed since the review showed it.",
    ]
    assert folder.read("a") == LINES.replace("3\n", "x2\n", 1)
    assert folder.read("made") == "m2\n"
    start = folder.now()
    folder.write(a=None)
    found = folder.changes(start)
    folder.write(a="anew\n")
    assert folder.put_back(found, a=None) == ["a has changed since the review showed it."]
    assert folder.read("a") == "anew\n"


def test_any_repository_will_do(tmp_path: Path) -> None:
    """Without commits, with repositories inside, unreadable and huge files, what is ignored."""
    folder = Folder(tmp_path)
    folder.git("init", "--quiet", "inside")
    (folder.top / "inside" / "x").write_text("x\n")
    folder.write(**{".gitignore": "ignored\n", "ignored": "i\n", "huge": "h" * (17 << 20)})
    start = folder.now()
    folder.write(a="a\n", ignored="other\n", huge="less\n")
    (folder.top / "inside" / "x").write_text("y\n")
    assert list(folder.changes(start)) == ["a"]
    with pytest.raises(ports.PastError, match="Git knows no main"):
        run(folder.past.named("main"))


def test_a_merge_under_way_stays_so(folder: Folder) -> None:
    folder.git("checkout", "--quiet", "-b", "other")
    folder.write(b="theirs\n")
    folder.commit()
    folder.git("checkout", "--quiet", "main")
    folder.write(b="ours\n")
    folder.commit()
    with pytest.raises(subprocess.CalledProcessError):
        folder.git("merge", "other")
    before, start = folder.state(), folder.now()
    folder.write(b="merged\n")
    assert (folder.changes(start)["b"].old or "").startswith("<<<<<<<")
    assert folder.state() == before
    assert folder.git("ls-files", "--unmerged")


def test_a_line_end_that_git_makes_itself(folder: Folder) -> None:
    folder.write(**{".gitattributes": "*.bat eol=crlf\n", "x.bat": "1\r\n2\r\n"})
    folder.commit()
    start = folder.now()
    folder.write(**{"x.bat": "1\r\nx\r\n"})
    found = folder.changes(start)
    assert (found["x.bat"].old, found["x.bat"].new) == ("1\r\n2\r\n", "1\r\nx\r\n")
    assert folder.put_back(found, **{"x.bat": None}) == []
    assert folder.read("x.bat") == "1\r\n2\r\n"


def test_a_folder_that_is_gone_is_said(folder: Folder) -> None:
    folder.now()
    folder.top.rename(folder.top.with_name("elsewhere"))
    with pytest.raises(ports.PastError, match="folder of this chat is gone"):
        folder.now()


def test_outside_git_it_is_what_tools_wrote(tmp_path: Path) -> None:
    folder = Folder(tmp_path, git=False)
    folder.write(a=LINES, b="b\n")
    start = folder.now()
    folder.write(a=LINES.replace("3\n", "x\n", 1), made="m\n", b="by a command\n")
    run(folder.past.wrote(str(folder.top / "a"), LINES))
    run(folder.past.wrote(str(folder.top / "made"), None))
    over = folder.now()
    folder.write(a=LINES.replace("3\n", "x\n", 1) + "mine\n")
    found = folder.changes(start, Pair(over, folder.now()))
    assert sorted(found) == ["a", "made"]
    assert folder.put_back(found, a=None, made=None) == []
    assert (folder.read("a"), folder.read("made")) == (LINES + "mine\n", None)
    assert folder.top.exists()
    with pytest.raises(ports.PastError, match="in no git repository"):
        run(folder.past.named("HEAD"))
