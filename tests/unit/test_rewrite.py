"""What Write and Edit propose, and how they are made to write another text, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.proposal.rewrite import proposed, rewrite

TEXT = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r", "é"]), max_size=30).map("".join)
HEAD = "\n" + "x" * 4096


def edit(old: str, new: str, *, every: bool = False) -> dict[str, Any]:
    return {"file_path": "f", "old_string": old, "new_string": new, "replace_all": every}


@pytest.mark.parametrize(
    ("old", "input", "new"),
    [
        ("one\ntwo\n", edit("two", "2"), "one\n2\n"),
        ("one\ntwo\n", edit("two", "$& \\1"), "one\n$& \\1\n"),
        ("one\r\ntwo\r\n", edit("one\ntwo", "1\n2"), "1\r\n2\r\n"),
        ("one\r\ntwo\r\nx\n", edit("two", "2"), "one\r\n2\r\nx\r\n"),
        ("one\r\ntwo\nx\n", edit("two", "2"), "one\r\n2\nx\n"),
        (HEAD + "\r\n\r\ntwo\n", edit("two", "2"), HEAD + "\r\n\r\n2\n"),
        ("one\ntwo\nthree\n", edit("two", ""), "one\nthree\n"),
        ("one\ntwo", edit("two", ""), "one\n"),
        ("two\ntwo x\ntwo\n", edit("two", "", every=True), "two x\n"),
        ("two\ntwo\n", edit("two", "2", every=True), "2\n2\n"),
        ("two\ntwo\n", edit("two", "2"), None),
        ("“two”\n", edit('"two"', "2"), "2\n"),
        ("“two”\n", edit('"two"', "(\"a\") 'b'"), "(“a”) 'b'\n"),
        ("‘two’\n", edit("'two'", "'tis 'b', don't"), "‘tis ‘b’, don’t\n"),
        ("‘two’\r\n", edit("'two'\n", "'a'\n"), "‘a’\r\n"),
        ("“two”“two”\n", edit('"two"', "2"), None),
        ("\ufefftwo\n", edit("two", "2"), "\ufeff2\n"),
        (None, edit("", "x\r\ny\n"), "x\r\ny\n"),
        ("", edit("", "x"), "x"),
        ("there", edit("", "x"), None),
        (None, edit("a", "b"), None),
        ("a", edit("a", "\ud800b"), "\ufffdb"),
    ],
)
def test_an_edit_proposes(old: str | None, input: dict[str, Any], new: str | None) -> None:
    assert proposed("Edit", input, old) == new


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (None, "a\r\nb", "a\r\nb"),
        ("a\r\n", "b\n", "b\n"),
        ("\ufeffa", "b", "\ufeffb"),
        ("", "\udc00", "\ufffd"),
    ],
)
def test_a_write_proposes(old: str | None, content: str, new: str) -> None:
    assert proposed("Write", {"file_path": "f", "content": content}, old) == new


def test_only_text_is_understood() -> None:
    assert proposed("Write", {"content": 3}, None) is None
    assert proposed("Edit", {"old_string": "a"}, "a") is None
    assert proposed("Bash", {"command": "ls"}, None) is None


@given(TEXT, TEXT, st.data())
def test_what_an_edit_proposes_can_be_written(old: str, new: str, data: st.DataObject) -> None:
    """The whole file is given, so no part of it can have changed meanwhile."""
    seen = old.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(seen)))
    this = seen[start : start + data.draw(st.integers(1, 9))]
    text = proposed("Edit", edit(this, new, every=data.draw(st.booleans())), old)
    # CR CR LF among CRLFs is refused.
    if text is not None and text.replace("\r\n", "\n") != seen and "\r\r" not in text:
        written = rewrite("Edit", edit(this, new), old, text)
        assert written
        assert written["old_string"] == seen
        assert written["file_path"] == "f"
        assert not written["replace_all"]


def test_what_no_input_can_write_is_refused() -> None:
    """Line ends that Edit makes the same, a byte order mark that Write keeps, and no change."""
    assert rewrite("Edit", edit("a", "b"), "a\r\nb\r\n", "b\nb\r\n") is None
    assert rewrite("Edit", edit("a", "b"), "a\n", "a\n") is None
    assert rewrite("Write", {"content": "b"}, "\ufeffa", "b") is None
    assert rewrite("NotebookEdit", {}, "a", "b") is None
    assert rewrite("Write", {"content": "b"}, "a\r\n", "c\r\n") == {"content": "c\r\n"}
