"""Patch sections: what stands there is what is written, byte for byte, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api import Gate, Message, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import pending, start, subagents, wait_idle, wait_section, waits
from tests.soaking import first

pytestmark = pytest.mark.fresh("nothing")
ALLOW = "gg/^Allow once<CR><CR><CR>"


def allow_unseen(claude: Editor) -> None:
    """Allow what does not fit on the screen, without having read it."""
    claude.keys(":g/^Always\\|until this\\|^Deny/d<CR>G?^Allow once<CR><CR>")
    claude.wait_screen("<CR> again allows it unseen")
    claude.keys("<CR>")


DELETE_SECOND_HUNK = "gg/^@@ -17<CR>d/^@@<CR>"
OLD = "".join(f"line {number}\n" for number in range(1, 61))
NEW = OLD.replace("line 20\n", "line twenty\n")
THREE = (
    OLD.replace("line 3\n", "line three\n")
    .replace("line 20\n", "line twenty\n")
    .replace("line 50\n", "line fifty\n")
)
WITHOUT_SECOND = THREE.replace("line twenty\n", "line 20\n")


@pytest.fixture
def file(claude: Editor) -> Path:
    """A file of the project, which is not there yet."""
    return claude.sandbox.project / "f.txt"


def read(path: Path, id: str = "r") -> ToolUse:
    return ToolUse("Read", {"file_path": str(path)}, id)


def write(path: Path, content: str, id: str = "t1") -> ToolUse:
    return ToolUse("Write", {"file_path": str(path), "content": content}, id)


def edit(path: Path, old: str, new: str, id: str = "t1", **more: object) -> ToolUse:
    input = {"file_path": str(path), "old_string": old, "new_string": new, **more}
    return ToolUse("Edit", input, id)


def calls(tool: str, path: Path, new: str) -> list[Message]:
    """A turn that makes this of a file, which is read before if it is there."""
    if not path.exists():
        return [say("Now.", write(path, new)), say("So be it.")]
    old = path.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
    call = write(path, new)
    if tool == "Edit":
        call = edit(path, old, new.removeprefix("\ufeff").replace("\r\n", "\n"))
    return [say(read(path)), say("Now.", call), say("So be it.")]


def propose(claude: Editor, api: ScriptedAPI, *turn: Message, name: str = "f.txt") -> None:
    """Wait until the patch of this turn is there."""
    api.add(*turn)
    start(claude)
    wait_section(claude, f"Patch: {name}")


def lines(claude: Editor) -> list[str]:
    """The chat, with the names of files as from the project."""
    return claude.text().replace(f"{claude.sandbox.project}/", "").split("\n")


def records(claude: Editor) -> list[str]:
    return [line for line in lines(claude) if line[:1] in ("✓", "✗")]


def after_record(claude: Editor) -> str:
    """The line below the last record."""
    found = [line for line in lines(claude) if line]
    return found[max(at for at, line in enumerate(found) if line[:1] in ("✓", "✗")) + 1]


def told(api: ScriptedAPI) -> str:
    """All that the model read, as one text in which newlines are newlines."""
    return "\n".join(_texts(api.requests[-1]["messages"]))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in _texts(item)]


# --- what is shown is what is written -----------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "old", "new"),
    first(
        6,
        [
            ("Edit", OLD, THREE),
            ("Edit", "a\nb", "a\nc"),
            ("Write", "a\nb\n", "a\nb\nc"),
            ("Write", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\nd\r\n"),
            ("Edit", "a\r\nb", "a\r\nc"),
            ("Edit", "\ta\n\t\tb  \n", "\ta\n\t\t c\n"),
            ("Write", "\ufeffa\nb\n", "\ufeffa\nc\n"),
            ("Edit", "\ufeffa\r\nb\r\n", "\ufeffc\r\nb\r\n"),
            ("Write", "ü 🎉\n", "日本語\n\u00a0x\n"),
        ],
    ),
    ids=lambda text: ascii(text)[:24],
)
def test_what_is_shown_is_written(
    claude: Editor, api: ScriptedAPI, file: Path, tool: str, old: str, new: str
) -> None:
    file.write_bytes(old.encode())
    propose(claude, api, *calls(tool, file, new))
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes() == new.encode()
    assert records(claude) == [f"✓ Allow once: {tool} f.txt"]
    assert after_record(claude).startswith(f"▸ {tool} f.txt ✓")
    assert "has been updated successfully" in api.tool_result("t1")
    assert "The user changed" not in told(api)


def test_typographic_quotes_are_shown_and_written(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    """Claude Code takes them for those that the model can type."""
    file.write_text("say “hi”, it’s late\n")
    change = edit(file, 'say "hi", it\'s', 'say ("ho"), isn\'t it')
    propose(claude, api, say(read(file)), say(change), say("So be it."))
    assert "+say (“ho”), isn’t it late" in claude.lines()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "say (“ho”), isn’t it late\n"
    assert "The user changed" not in told(api)


def test_half_a_character_is_shown_as_it_is_written(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    propose(claude, api, *calls("Write", file, "a \ud83d b\n"))
    assert "+a \ufffd b" in claude.lines()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "a \ufffd b\n"


@pytest.mark.parametrize("content", ["a\nb", "a\r\nb\r\n", "\ufeff\ta\n"])
def test_a_new_file_is_all_additions(
    claude: Editor, api: ScriptedAPI, file: Path, content: str
) -> None:
    propose(claude, api, *calls("Write", file, content))
    assert f"Claude wants to create {file.name}" in claude.text()
    assert "--- /dev/null" in claude.lines()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes() == content.encode()
    assert records(claude) == ["✓ Allow once: Write f.txt"]
    assert "created successfully" in api.tool_result("t1")


def test_names_line_numbers_and_colours(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, NEW))
    text = claude.lines()
    at = text.index(f"--- {file}")
    assert text[at + 1 : at + 4] == [f"+++ {file}", "@@ -17,7 +17,7 @@", " line 17"]
    styles = [claude.style(text) for text in ("+line twenty", "-line 20", "@@ -17", " line 18")]
    assert len({style.get("foreground") for style in styles}) == 4


EDITS = {
    "one hunk of three": (DELETE_SECOND_HUNK, WITHOUT_SECOND, "2 of 3 hunks"),
    "a hunk by its @@ line": ("gg/^@@ -17<CR>dd", WITHOUT_SECOND, "2 of 3 hunks"),
    "the first hunk": (
        "gg/^@@<CR>d/^@@<CR>",
        THREE.replace("line three\n", "line 3\n"),
        "2 of 3 hunks",
    ),
    "the last hunk": (
        "gg/^@@ -47<CR>d/^```<CR>",
        THREE.replace("line fifty\n", "line 50\n"),
        "2 of 3 hunks",
    ),
    "two hunks by a count": (
        "gg/^@@<CR>d2/^@@<CR>",
        OLD.replace("line 50\n", "line fifty\n"),
        "1 of 3 hunks",
    ),
    "an added line": (
        "gg/^+line twenty<CR>A and more<Esc>",
        THREE.replace("twenty", "twenty and more"),
        "edited",
    ),
    "one more added line": (
        "gg/^+line twenty<CR>o+inserted<Esc>",
        THREE.replace("twenty\n", "twenty\ninserted\n"),
        "edited",
    ),
    "a line below one that stays": (
        "gg/^ line 21<CR>o+inserted<CR>+  twice<Esc>",
        THREE.replace("line 21\n", "line 21\ninserted\n  twice\n"),
        "edited",
    ),
    "a tab in an added line": (
        ":set expandtab<CR>gg/^+line twenty<CR>A\t<C-v>\tx<Esc>:s/ \\+\t/\t/<CR>",
        THREE.replace("twenty\n", "twenty\tx\n"),
        "edited",
    ),
    "an added line less": (
        "gg/^+line twenty<CR>dd",
        OLD.replace("line 3\n", "line three\n")
        .replace("line 20\n", "")
        .replace("line 50\n", "line fifty\n"),
        "edited",
    ),
    "a removed line less": (
        "gg/^-line 20<CR>dd",
        THREE.replace("line twenty\n", "line 20\nline twenty\n"),
        "edited",
    ),
    "a removed line kept": (
        "gg/^-line 20<CR>r<Space>",
        THREE.replace("line twenty\n", "line 20\nline twenty\n"),
        "edited",
    ),
    "a substitution": (
        ":%s/^+line /+LINE /<CR>",
        THREE.replace("line three", "LINE three")
        .replace("line twenty", "LINE twenty")
        .replace("line fifty", "LINE fifty"),
        "edited",
    ),
    "a hunk less and a line": (
        DELETE_SECOND_HUNK + "gg/^+line fifty<CR>A!<Esc>",
        WITHOUT_SECOND.replace("fifty", "fifty!"),
        "2 of 3 hunks, edited",
    ),
    "the same line elsewhere": (
        "gg/^-line 20<CR>jddkP",
        THREE.replace("line twenty\n", "line twenty\n"),
        "",
    ),
}


@pytest.mark.parametrize("name", first(9, EDITS))
def test_what_the_user_leaves_is_written(
    claude: Editor, api: ScriptedAPI, file: Path, name: str
) -> None:
    """And the model is told what of its edit became another one."""
    keys, new, words = EDITS[name]
    tool = ["Write", "Edit"][list(EDITS).index(name) % 2]
    file.write_text(OLD)
    propose(claude, api, *calls(tool, file, THREE))
    claude.keys(keys + "gg/^Allow once<CR>")
    claude.wait_screen(f"{words} · keep one of" if words else "━━ keep one of")
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert file.read_bytes() == new.encode()
    assert records(claude) == [f"✓ Allow once{', ' * bool(words)}{words}: {tool} f.txt"]
    assert after_record(claude).startswith(f"▸ {tool} f.txt ✓")
    assert "has been updated successfully" in api.tool_result("t1")
    assert (f"The user changed this edit before allowing it ({words})" in told(api)) == bool(words)


def test_claude_is_told_the_difference(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    claude.keys(DELETE_SECOND_HUNK + "gg/^+line fifty<CR>A!<Esc>" + ALLOW)
    claude.wait_line("So be it.")
    assert "-line twenty\n+line 20\n" in told(api)
    assert "-line fifty\n+line fifty!\n" in told(api)


SHAPES = {
    "a newline at the end": ("a\nb\n", "a\nc", "gg/^\\\\ No<CR>dd", "a\nc\n"),
    "CRLF in a new line": ("a\r\nb\r\n", "a\r\nB\r\n", "gg/^+B<CR>o+c<Esc>", "a\r\nB\r\nc\r\n"),
    "BOM and an edit below": ("\ufeffa\nb\n", "\ufeffa\nc\n", "gg/^+c<CR>A!<Esc>", "\ufeffa\nc!\n"),
    "BOM in an edited line": ("\ufeffa\n", "\ufeffb\n", "gg/^+.*b<CR>A!<Esc>", "\ufeffb!\n"),
    "no newline, edited": ("a\nb", "a\nc", "gg/^+c<CR>A!<Esc>", "a\nc!"),
    "tabs": ("\ta\n", "\tb\n", "gg/^+\tb<CR>A!<Esc>", "\tb!\n"),
    "blanks of one's own": ("a\nb\n", "a\nc\n", "gg/^+c<CR>A  <Esc>", "a\nc  \n"),
}


@pytest.mark.parametrize("name", first(4, SHAPES))
def test_edits_keep_how_a_file_is_written(
    claude: Editor, api: ScriptedAPI, file: Path, name: str
) -> None:
    old, new, keys, left = SHAPES[name]
    tool = ["Write", "Edit"][list(SHAPES).index(name) % 2]
    file.write_bytes(old.encode())
    propose(claude, api, *calls(tool, file, new))
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes() == left.encode()


@pytest.mark.parametrize("keys", ["", "gg/^+c<CR>A!<Esc>", ":%s/\\s\\+$//<CR>gg/^+c<CR>A!<Esc>"])
def test_blanks_at_the_ends_of_other_lines_stay(
    claude: Editor, api: ScriptedAPI, file: Path, keys: str
) -> None:
    """Also where the user's editor strips them. (Those of a call Claude Code strips by itself.)"""
    file.write_text("a \t\n" * 9 + "b\n")
    propose(claude, api, say(read(file)), say(edit(file, "b\n", "c\n")), say("So be it."))
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "a \t\n" * 9 + ("c!\n" if keys else "c\n")


@pytest.mark.parametrize(
    "keys",
    [
        "gg/^@@<CR>d/^```<CR>",
        "gg/^```diff<CR>d/^Allow<CR>",
        "gg/^-line 20<CR>2dd",
    ],
)
def test_all_hunks_gone_means_deny(claude: Editor, api: ScriptedAPI, file: Path, keys: str) -> None:
    """Wherever the cursor is, and the model is told why."""
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, NEW))
    claude.keys(keys + "G")
    claude.wait_screen("Deny (")
    claude.keys("gg/^━━ Patch<CR><CR>")
    claude.wait_line("So be it.")
    assert file.read_text() == OLD
    result = api.tool_result("t1")
    assert "The user denied this use of Edit: " in result
    assert "all hunks are gone" in result or "no change is left" in result
    assert records(claude)[0].startswith("✗ Denied, ")
    assert after_record(claude) == "▸ Edit f.txt ✗"


def test_undo_brings_hunks_back(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    claude.keys("gg/^@@<CR>d/^@@<CR>d/^@@<CR>uugg/^Allow once<CR>")
    claude.wait_screen("━━ keep one of")
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert file.read_text() == THREE
    assert records(claude) == ["✓ Allow once: Edit f.txt"]


@pytest.mark.parametrize(
    ("find", "keys"),
    first(
        4,
        [
            ("^ line 19", "A changed<Esc>"),
            ("^ line 19", "dd"),
            ("^ line 19", "yyp"),
            ("^+line twenty", "x"),
            ("^@@", "wx"),
            ("^+++", "A x<Esc>"),
            ("^+line twenty", "ono sign<Esc>"),
        ],
    ),
)
def test_a_broken_line_is_refused_by_name(
    claude: Editor, api: ScriptedAPI, file: Path, find: str, keys: str
) -> None:
    """And `u` repairs it."""
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, NEW + "more\n"))
    claude.keys(f"gg/{find}<CR>{keys}gg/^Allow once<CR><CR>")
    claude.wait(lambda: "line " in claude.messages().rpartition("\n")[2], "a line by its number")
    assert claude.messages().rpartition("\n")[2].startswith("line ")
    assert file.read_text() == OLD
    claude.keys("u" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == NEW + "more\n"


def test_replace_all(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    """Each place is a hunk of its own."""
    file.write_text(OLD)
    call = edit(file, "line 2", "row 2", replace_all=True)
    propose(claude, api, say(read(file)), say(call), say("So be it."))
    every = OLD.replace("line 2", "row 2")
    assert sum(line.startswith("+row 2") for line in claude.lines()) == every.count("row 2")
    claude.keys("gg/^@@<CR>d/^@@<CR>" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == every.replace("row 2\n", "line 2\n", 1)
    assert records(claude) == ["✓ Allow once, 1 of 2 hunks: Edit f.txt"]


BLOCKS = ("int a;\nfoo(x);\n" + "\n" * 6 + "}\n") * 3
FUNCTIONS = (
    """\
def load(path):
    log(path)
    with open(path) as file:
        data = json.load(file)
    check(data)
    return data


"""
    * 2
)
ALIKE = {
    "two of three blocks gone": (
        BLOCKS,
        "foo",
        "bar",
        "gg/^@@<CR>d/^@@<CR>/^@@<CR>d/^```<CR>",
        BLOCKS.replace("foo", "bar", 2).replace("bar", "foo", 1),
    ),
    "two @@ lines gone": (
        BLOCKS,
        "foo",
        "bar",
        "gg/^@@<CR>ddG?^@@<CR>dd",
        BLOCKS.replace("foo", "bar", 2).replace("bar", "foo", 1),
    ),
    "the lines between two @@ lines gone": (
        BLOCKS,
        "foo",
        "bar",
        "gg/^@@<CR>jd/^@@<CR>",
        BLOCKS.replace("foo", "bar").replace("bar", "foo", 1),
    ),
    "one of two functions gone, the other edited": (
        FUNCTIONS,
        "json.load(file)",
        "json.loads(file.read())",
        "gg/^@@<CR>d/^@@<CR>/^+ <CR>A  # all<Esc>",
        FUNCTIONS.rpartition("json.load(file)")[0]
        + "json.loads(file.read())  # all"
        + FUNCTIONS.rpartition("json.load(file)")[2],
    ),
    "a line edited, then the other function gone": (
        FUNCTIONS,
        "json.load(file)",
        "json.loads(file.read())",
        "gg/^+ <CR>A  # all<Esc>/^@@<CR>dd",
        FUNCTIONS.replace("json.load(file)", "json.loads(file.read())  # all", 1),
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_parts_that_are_alike(claude: Editor, api: ScriptedAPI, file: Path, name: str) -> None:
    """Each is told by the @@ line above it."""
    old, this, that, keys, left = ALIKE[name]
    file.write_text(old)
    call = edit(file, this, that, replace_all=True)
    propose(claude, api, say(read(file)), say(call), say("So be it."))
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == left
    assert len(records(claude)) == 1


def test_of_lines_that_are_alike_none_is_guessed(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    """Which `}` stays can't be seen; a blank for its sign says so."""
    file.write_text("a\n}\nb\n}\nc\n")
    propose(claude, api, *calls("Write", file, "a\nc\n"))
    claude.keys("gg/^-}<CR>2dd" + ALLOW)
    claude.wait(lambda: "may be any of several lines" in claude.messages(), "why not")
    claude.keys("ugg/^-}<CR>r<Space>jr<Space>" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "a\n}\nb\nc\n"


def test_lines_that_look_alike_are_not_each_other(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    """One hides a character, the other spells it out."""
    propose(claude, api, *calls("Write", file, "a\n\x1b\nb\n\u241b\nc\n"))
    claude.keys("gg/^+\u241b<CR>dd" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "a\nb\n\u241b\nc\n"


# --- files that changed meanwhile ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "before", "keys"),
    [
        ("Write", "there", ""),
        ("Edit", "there", "gg/^+line twenty<CR>A!<Esc>"),
        ("Write", "new", ""),
    ],
)
def test_a_file_that_changed_is_not_overwritten(
    claude: Editor, api: ScriptedAPI, file: Path, tool: str, keys: str, before: str
) -> None:
    """Not even one that is only there since; the turn goes on."""
    if before == "there":
        file.write_text(OLD)
    propose(claude, api, *calls(tool, file, NEW))
    file.write_text("someone else's\n")
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == "someone else's\n"
    sentence = "changed on disk after this was asked."
    assert records(claude) == [f"✗ f.txt {sentence} Not written: {tool} f.txt"]
    assert after_record(claude) == f"▸ {tool} f.txt ✗"
    assert f"{file} {sentence} Nothing was written" in api.tool_result("t1")
    wait_idle(claude)


def test_a_file_that_is_gone_is_not_written(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, NEW))
    file.unlink()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert not file.exists()
    assert "changed on disk" in api.tool_result("t1")


# --- buffers -------------------------------------------------------------------------------------


def beside(claude: Editor, pattern: str) -> None:
    """`<CR>` on a line of the diff."""
    claude.keys(f"gg/{pattern}<CR><CR>")
    claude.wait(lambda: claude.lua("return vim.bo.filetype") != "winnow", "the file")


@pytest.mark.parametrize(
    ("pattern", "line"),
    [("^+line twenty", 20), ("^ line 21", 21), ("^@@ -47", 47)],
)
def test_go_opens_the_file_there(
    claude: Editor, api: ScriptedAPI, file: Path, pattern: str, line: int
) -> None:
    """The section stays as it is."""
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    beside(claude, pattern)
    assert claude.lua("return vim.api.nvim_buf_get_name(0)") == str(file)
    assert claude.cursor()[0] == line
    claude.keys("<C-w>p" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == THREE


@pytest.mark.parametrize("keys", [":setlocal winfixbuf<CR>", ":set nohidden<CR>iunsaved<Esc>"])
def test_go_leaves_a_window_that_keeps_its_file(
    claude: Editor, api: ScriptedAPI, file: Path, keys: str
) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    claude.keys(f":split {file.with_name('other')}<CR>{keys}<C-w>p")
    beside(claude, "^+line twenty")
    assert claude.lua("return vim.api.nvim_buf_get_name(0)") == str(file)
    assert claude.cursor()[0] == 20
    assert len(claude.lua("return vim.api.nvim_tabpage_list_wins(0)")) == 3
    claude.command("set hidden")


def shown(claude: Editor, file: Path) -> list[str]:
    """What the buffer of a file says."""
    code = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)"
    lines: list[str] = claude.lua(code, str(file))
    return lines


@pytest.mark.parametrize(("keys", "left"), [("", THREE), (DELETE_SECOND_HUNK, WITHOUT_SECOND)])
def test_a_clean_buffer_shows_what_was_written(
    claude: Editor, api: ScriptedAPI, file: Path, keys: str, left: str
) -> None:
    """Without a prompt, in the window where it is."""
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    beside(claude, "^+line twenty")
    claude.keys("<C-w>p" + keys + ALLOW)
    claude.wait_line("So be it.")
    assert shown(claude, file) == left.splitlines()
    assert not claude.blocking()
    assert not claude.lua("return vim.bo[vim.fn.bufnr(...)].modified", str(file))
    assert claude.lua("return vim.bo.filetype") == "winnow"
    assert "W1" not in claude.messages()


def test_a_new_file_in_an_open_buffer(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    propose(claude, api, *calls("Write", file, "a\nb\n"))
    beside(claude, "^+b")
    assert claude.lines() == [""]
    claude.keys("<C-w>p" + ALLOW)
    claude.wait_line("So be it.")
    assert shown(claude, file) == ["a", "b"]


@pytest.mark.parametrize("keys", ["", DELETE_SECOND_HUNK])
def test_unsaved_edits_stay_and_the_conflict_is_said(
    claude: Editor, api: ScriptedAPI, file: Path, keys: str
) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    beside(claude, "^+line twenty")
    claude.keys("ggOmine<Esc><C-w>p" + keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == (WITHOUT_SECOND if keys else THREE)
    assert shown(claude, file) == ["mine", *OLD.splitlines()]
    assert "Claude changed f.txt: :w! keeps your edits, :e! takes Claude's." in claude.messages()
    assert not claude.blocking()


def test_diff_shows_what_the_section_says_now(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    claude.keys(DELETE_SECOND_HUNK + "gg/^+line fifty<CR>A!<Esc>:Winnow diff<CR>")
    claude.wait(lambda: claude.lua("return vim.fn.tabpagenr('$')") == 2, "a tab")
    sides = claude.lua("""
      return vim.tbl_map(function(win)
        local buf = vim.api.nvim_win_get_buf(win)
        return { vim.wo[win].diff, vim.api.nvim_buf_get_lines(buf, 0, -1, true) }
      end, vim.api.nvim_tabpage_list_wins(0))
    """)
    assert sides == [
        [True, OLD.splitlines()],
        [True, WITHOUT_SECOND.replace("fifty", "fifty!").splitlines()],
    ]
    claude.keys(":tabclose<CR>" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == WITHOUT_SECOND.replace("fifty", "fifty!")


def test_diff_names_the_line_that_is_broken(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    file.write_text(OLD)
    propose(claude, api, *calls("Edit", file, THREE))
    claude.keys("gg/^ line 19<CR>A x<Esc>:Winnow diff<CR>")
    claude.wait(lambda: "was “line 19”: u brings it back" in claude.messages(), "what is broken")


# --- notebooks -----------------------------------------------------------------------------------


NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "one",
            "metadata": {},
            "outputs": [],
            "source": ["a = 1\n", "b = 2"],
        },
        {"cell_type": "markdown", "id": "two", "metadata": {}, "source": ["# T"]},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def notebook(claude: Editor, api: ScriptedAPI, second: str = "two", **input: object) -> Path:
    """A patch of a notebook; ``second`` is the id of its second cell."""
    path = claude.sandbox.project / "n.ipynb"
    path.write_text(json.dumps(NOTEBOOK, indent=1).replace("two", second))
    call = ToolUse("NotebookEdit", {"notebook_path": str(path), **input}, "t1")
    propose(claude, api, say(read(path)), say(call), say("So be it."), name="n.ipynb")
    return path


def sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"]]


@pytest.mark.parametrize(
    ("keys", "left", "edited"),
    [
        ("", "a = 1\nb = 3\nc = 4", False),
        ("gg/^+b = 3<CR>A + 1<Esc>", "a = 1\nb = 3 + 1\nc = 4", True),
        ("gg/^+b = 3<CR>dd", "a = 1\nc = 4", True),
    ],
)
def test_a_cell_is_replaced(
    claude: Editor, api: ScriptedAPI, keys: str, left: str, edited: bool
) -> None:
    path = notebook(claude, api, cell_id="one", new_source="a = 1\nb = 3\nc = 4")
    assert "-b = 2" in claude.lines()
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert sources(path) == [left, "# T"]
    assert records(claude)[0] == f"✓ Allow once{', edited' * edited}: NotebookEdit n.ipynb"
    assert after_record(claude).startswith("▸ NotebookEdit n.ipynb ✓")
    assert ("The user changed this edit" in told(api)) == edited


@pytest.mark.parametrize(
    ("keys", "left"), [("", "x\ny"), ("gg/^+y<CR>A!<Esc>o+z<Esc>", "x\ny!\nz")]
)
def test_a_cell_is_inserted(claude: Editor, api: ScriptedAPI, keys: str, left: str) -> None:
    input = {"cell_id": "one", "new_source": "x\ny", "cell_type": "code", "edit_mode": "insert"}
    path = notebook(claude, api, **input)
    assert "new code cell after one" in claude.text()
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert sources(path) == ["a = 1\nb = 2", left, "# T"]


def test_a_cell_gets_another_type_that_is_shown(claude: Editor, api: ScriptedAPI) -> None:
    path = notebook(claude, api, cell_id="one", new_source="c", cell_type="markdown")
    assert "· cell one as markdown" in claude.text()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert json.loads(path.read_bytes())["cells"][0]["cell_type"] == "markdown"


def test_an_id_that_looks_like_a_number_is_an_id(claude: Editor, api: ScriptedAPI) -> None:
    """The cell that is shown is the one that is written."""
    path = notebook(claude, api, "cell-0", cell_id="cell-0", new_source="c")
    assert "-# T" in claude.lines()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert sources(path) == ["a = 1\nb = 2", "c"]


def test_a_notebook_that_changed_is_not_written(claude: Editor, api: ScriptedAPI) -> None:
    path = notebook(claude, api, cell_id="one", new_source="c")
    path.write_text("{}")
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert path.read_text() == "{}"
    assert "changed on disk" in api.tool_result("t1")


# --- always --------------------------------------------------------------------------------------


@pytest.mark.fresh("chat")
def test_always_settles_the_other_patches(claude: Editor, api: ScriptedAPI) -> None:
    """But none that Claude Code asks for whatever is allowed: that one was not seen yet."""
    project = claude.sandbox.project
    writes = [say(write(project / f"f{n}", f"{n}\n", f"t{n}")) for n in range(3)]
    subagents(api, *writes, say(Gate(), write(project / ".gitmodules", "x\n", "t3")))
    start(claude)
    waits(claude, 3)
    api.release()
    waits(claude, 4)
    wait_section(claude, "Patch: f")
    claude.keys("gg/^Always allow edits<CR><CR><CR>")
    claude.wait(lambda: len(list(project.glob("f?"))) == 3, "the files")
    assert [(project / f"f{n}").read_text() for n in range(3)] == ["0\n", "1\n", "2\n"]
    claude.wait(lambda: len(records(claude)) == 3, "three records")
    assert sum("granted before: Write f" in line for line in records(claude)) == 2
    wait_section(claude, "Patch: .gitmodules")
    assert len(pending(claude)) == 1
    assert not (project / ".gitmodules").exists()


@pytest.mark.fresh("chat")
def test_after_always_the_next_edit_is_not_asked_for(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    second = edit(file, "line 20\n", "x\n", "t2")
    propose(claude, api, say(write(file, OLD)), say(second), say("Last."))
    claude.keys("gg/^Always allow edits<CR><CR><CR>")
    claude.wait_line("Last.")
    assert file.read_text() == OLD.replace("line 20\n", "x\n")
    assert records(claude) == ["✓ Always allow edits (this session): Write f.txt"]
    assert any(line.startswith("▸ Edit f.txt ✓") for line in lines(claude))


# --- bad input -----------------------------------------------------------------------------------


def test_a_symbolic_link_is_not_followed(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    """Claude Code refuses to write it, and the chat says why."""
    real = claude.sandbox.project / "real.txt"
    real.write_text(OLD)
    file.symlink_to("real.txt")
    api.add(*calls("Write", file, NEW))
    start(claude)
    claude.wait_line("So be it.")
    assert real.read_text() == OLD
    assert file.is_symlink()
    assert any(line.startswith("⚠ Refusing to write") for line in lines(claude))
    assert "▸ Write f.txt ✗" in lines(claude)


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_file_through_a_linked_folder(claude: Editor, api: ScriptedAPI, where: str) -> None:
    sandbox = claude.sandbox
    folder = (sandbox.project if where == "inside" else sandbox.root) / "folder"
    folder.mkdir()
    (sandbox.project / "link").symlink_to(folder)
    file = sandbox.project / "link" / "f.txt"
    file.write_text(OLD)
    api.add(*calls("Edit", file, THREE))
    start(claude)
    if where == "outside":
        wait_section(claude, "Permission: Read")
        claude.keys(ALLOW)
    wait_section(claude, "Patch: f.txt")
    claude.keys(DELETE_SECOND_HUNK + ALLOW)
    claude.wait_line("So be it.")
    assert (folder / "f.txt").read_text() == WITHOUT_SECOND


@pytest.mark.parametrize("keys", ["", DELETE_SECOND_HUNK])
def test_a_path_outside_says_so(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    file = claude.sandbox.root / "f.txt"
    file.write_text(OLD)
    api.add(*calls("Edit", file, THREE))
    start(claude)
    wait_section(claude, "Permission: Read")
    claude.keys(ALLOW)
    wait_section(claude, "Patch: f.txt")
    assert str(file) in claude.text().partition("```diff")[0].rpartition("━━ Patch")[2]
    claude.keys(keys + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_text() == (WITHOUT_SECOND if keys else THREE)


@pytest.mark.parametrize("old", [b"caf\xe9\n", b"a\0b\n"])
def test_a_file_that_is_no_text(claude: Editor, api: ScriptedAPI, file: Path, old: bytes) -> None:
    """It is said, and the arguments are shown; Claude Code refuses to write it."""
    file.write_bytes(old)
    api.add(say(read(file)), say(write(file, "one\ntwo\n")), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: Write")
    assert f"{file} is not UTF-8 text, so no diff can be shown" in claude.text()
    assert "content:" in claude.text()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes() == old
    assert after_record(claude) == "▸ Write f.txt ✗"
    assert "nothing was written" in api.tool_result("t1")


def test_a_file_in_utf_16(claude: Editor, api: ScriptedAPI, file: Path) -> None:
    """Claude Code does write that, so nothing else is said."""
    file.write_bytes("\ufeffü\n".encode("utf-16-le"))
    api.add(say(read(file)), say(edit(file, "ü", "ö")), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: Edit")
    assert f"{file} is not UTF-8 text, so no diff can be shown" in claude.text()
    claude.keys(ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes().decode("utf-16") == "ö\n"


HOSTILE = "\n".join(  # noqa: FLY002  a line each
    [
        "\x1b[31mred\x1b]0;title\x07",
        "a = '\u202egnp.exe'",
        "⟦ab=1=c⟧",
        "Allow once⟦ab=1=1⟧",
        "```",
        "`````` diff",
        "## You",
        "",
        "## Claude",
        "━━ Permission: Bash",
        "--- /dev/null",
        "+++ b",
        "@@ -1,1 +1,1 @@",
        "\\ No newline at end of file",
        "a\u200bb\u00a0c\u2028d\x0ce\x85f",
        "\u2066x\u2069 \u061c",
        "␛[31m and ‹U+202E›",
        "a\rb",
        "---",
        "✓ Allow once: Bash rm",
        "",
    ]
)


@pytest.mark.parametrize("keys", ["", "gg/^+@@<CR>o+mine<Esc>"])
@pytest.mark.parametrize("there", [False, True])
def test_what_looks_harmless_is_harmless(
    claude: Editor, api: ScriptedAPI, file: Path, there: bool, keys: str
) -> None:
    """What hides is shown; what is not touched is written as it was proposed."""
    if there:
        file.write_text(OLD)
    propose(claude, api, *calls("Write", file, HOSTILE))
    text = claude.text()
    assert "+␛[31mred␛]0;title␇" in text
    assert "+a = '‹U+202E›gnp.exe'" in text
    assert not set("\x1b\x07\u202e\u200b\u00a0\u2066\u2028\x0c\x85\r") & set(text)
    assert "+## You" in claude.lines()
    assert "+Allow once‹ab=1=1⟧" in claude.lines()
    claude.keys(keys)
    if there:  # then it does not fit
        allow_unseen(claude)
    else:
        claude.keys(ALLOW)
    claude.wait_line("So be it.")
    new = HOSTILE.replace("+1,1 @@\n", "+1,1 @@\nmine\n") if keys else HOSTILE
    assert file.read_bytes() == new.encode()
    assert len(records(claude)) == 1


def test_a_line_that_hides_something_is_edited(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    """What is shown for a hidden character means that character."""
    propose(claude, api, *calls("Write", file, "a\x1b[31m\u202e\nb\n"))
    claude.keys("gg/31m<CR>A!<Esc>:s/31m/32m/<CR>" + ALLOW)
    claude.wait_line("So be it.")
    assert file.read_bytes() == "a\x1b[32m\u202e!\nb\n".encode()


@pytest.mark.soak
@pytest.mark.fresh("chat")
@pytest.mark.parametrize(
    "content",
    first(1, ["".join(f"{n:06} {'x' * 42}\n" for n in range(20_000)), "x" * 1_000_000 + "\n"]),
    ids=["lines", "one line"],
)
def test_a_megabyte(claude: Editor, api: ScriptedAPI, file: Path, content: str) -> None:
    api.add(*calls("Write", file, content))
    start(claude)
    wait_section(claude, "Patch: f.txt")
    assert all(f"+{line}" in claude.text() for line in content.splitlines()[::5_000])
    allow_unseen(claude)
    claude.wait_line("So be it.", 30)
    assert file.read_bytes() == content.encode()


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_ten_thousand_lines_of_which_a_hunk_goes(
    claude: Editor, api: ScriptedAPI, file: Path
) -> None:
    old = [f"line {number}\n" for number in range(40_000)]
    new = [f"row {at}\n" if at % 12 == 6 else line for at, line in enumerate(old)]
    file.write_text("".join(old))
    api.add(say(read(file), ToolUse("Read", {"file_path": str(file), "limit": 10}, "r2")))
    propose(claude, api, say(write(file, "".join(new))), say("So be it."))
    assert sum(line.startswith("+row") for line in claude.lines()) > 3_000
    claude.keys("gg/^@@ -16<CR>d/^@@<CR>")
    allow_unseen(claude)
    claude.wait_line("So be it.", 30)
    new[18] = old[18]
    assert file.read_text() == "".join(new)
