"""What Claude asks of the editor, with the real CLI, and a language server inside Neovim."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

from tests.api import Gate, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, wait_section
from tests.e2e.test_context import beside, project

SERVER = (Path(__file__).parent / "server.lua").read_text()
CALLS = count(1)
FILES: dict[str, str | bytes] = {
    "cart.shop": "def total(x)\n漢字 😀 total(1)\n",
    "src/till.shop": "print total(2)\n",
    "big.shop": b"x" * 3_000_000,
    "bin.shop": b"\x7fELF\0\1",
}
TOTAL = {"path": "cart.shop", "line": 1, "symbol": "total"}


def call(name: str, **input: Any) -> ToolUse:
    return ToolUse(f"mcp__winnow_editor__{name}", input, f"toolu_editor_{next(CALLS)}")


def opened(editor: Editor, kind: str = "") -> None:
    """A chat, where the cursor is, and a file of which a language server of this kind knows."""
    editor.resize(120, 40)
    project(editor, FILES)
    editor.lua(SERVER, "shop", kind)
    beside(editor, "cart.shop")
    editor.keys("<C-w>p")


def test_what_an_editor_knows_is_told_unasked(claude: Editor, api: ScriptedAPI) -> None:
    """By lines and names; what is wrong with a call is an error that says so."""
    opened(claude)
    claude.keys("<C-w>pObad<Esc><C-w>p")
    outside = claude.sandbox.project.parent / "secret.shop"
    outside.write_text("secret = 1\n")
    (claude.sandbox.project / "link.shop").symlink_to(outside)
    at = {**TOTAL, "line": 3}
    places = "3 places:\ncart.shop:2: def total(x)\ncart.shop:3: 漢字 😀 total(1)"
    places += "\nsrc/till.shop:1: print total(2)"
    told = [
        (call("diagnostics", path="cart.shop"), "1 error:\ncart.shop:1: error: bad word"),
        (
            call("buffers"),
            "1 buffer:\ncart.shop · 3 lines · unsaved changes, the cursor is at line 1",
        ),
        (call("read_buffer", path="cart.shop", last=1), "lines 1–1 of 3 lines:\n1\tbad"),
        (call("definition", **at), "1 place:\ncart.shop:2: def total(x)"),
        (call("references", **at), places),
        (call("references", path="src/till.shop", line="1", symbol="total"), places),
        (call("symbols", path="cart.shop"), "1 symbol:\n2: function total"),
        (call("quickfix"), "0 entries"),
        (call("references", **{**TOTAL, "line": 9}), "cart.shop has 3 lines: there is no line 9."),
        (call("references", **TOTAL), "“total” is not on line 1 of cart.shop, which is: bad"),
        (call("references", path="big.shop", line=1, symbol="x"), "big.shop is too large"),
        (call("references", path="bin.shop", line=1, symbol="x"), "bin.shop is binary."),
        (call("references", path="no.shop", line=1, symbol="x"), "no.shop is not there."),
        (call("definition", path="src", line=1, symbol="x"), "src is a folder, not a file."),
        (call("read_buffer", path=str(outside)), f"{outside} is outside of the project"),
        (
            call("references", path="link.shop", line=1, symbol="secret"),
            "is outside of the project",
        ),
        (call("read_buffer", path="src/till.shop"), "src/till.shop has no unsaved changes"),
        (call("read_buffer", path="[No Name 99]"), "[No Name 99] is not open in Neovim."),
        (call("symbols", query="x"), "No language server that can do that"),
        (call("definition", path="cart.shop", line=0, symbol="x"), "can't be understood"),
    ]
    api.add(say(*(one for one, _ in told)), say("Seen."))
    send(claude, "go")
    for one, text in told:
        assert text in api.tool_result(one.id)
    claude.wait_line("Seen.")
    assert claude.lua("return _G.asked[1].character") == len("漢字 😀 ".encode("utf-16-le")) // 2
    text = claude.text()
    assert re.search(r"▸ Diagnostics cart.shop ✓ 1 error.*\n│ cart.shop:1: error: bad word\n", text)
    claude.keys("gg/References src<CR><CR>")
    assert claude.lua("return vim.fn.expand('%:t')") == "till.shop"


def test_what_changes_something_is_asked_for(claude: Editor, api: ScriptedAPI) -> None:
    """The section says what would happen, and that is what happens; unsaved text stays so."""
    claude.configure(test_command="echo {file} {line} {name}; exit 3")
    opened(claude)
    claude.keys("<C-w>pGonew<Esc><C-w>p")
    entries = [{"path": "cart.shop", "line": 2, "text": "here"}]
    calls = [
        call("rename", **TOTAL, new_name="sum"),
        call("fill_quickfix", title="Look", entries=entries),
        call("run_test", path="cart.shop", line=1),
        call("rename", path="src/till.shop", line=1, symbol="sum", new_name="moved"),
        call("jump", path="src/new/moved.shop"),
        call("rename", **{**TOTAL, "line": 7}, new_name="x"),
    ]
    api.add(*map(say, calls), say("Done all."))
    send(claude, "go")
    steps = [
        ("Rename", "total to sum: 3 places in 2 files", "3 places in 2 files renamed:\n"),
        ("Quickfix", "a quickfix list of 1 place: Look", "the user has 1 place in the"),
        (
            "Test",
            "echo 'cart.shop' '1' 'sum'; exit 3",
            "exit 3: echo 'cart.shop' '1' 'sum'; exit 3:\ncart",
        ),
        ("Rename", "moves to src/new/moved.shop", "3 places in 2 files renamed:\n"),
        ("Jump", "to take your cursor to src/new/moved.shop:1", "the user is there now"),
    ]
    for one, (title, wish, told) in zip(calls, steps, strict=False):
        wait_section(claude, f"Permission: {title}")
        assert wish in claude.text()
        claude.keys(":Winnow allow<CR>")
        assert api.tool_result(one.id).startswith(told)
    assert "there is no line 7" in api.tool_result(calls[-1].id)
    claude.wait(lambda: claude.lua("return vim.fn.expand('%:t')") == "moved.shop", "the jump")
    assert not (claude.sandbox.project / "src/till.shop").exists()
    assert (claude.sandbox.project / "src/new/moved.shop").read_text() == "print moved(2)\n"
    assert "total" in (claude.sandbox.project / "cart.shop").read_text()
    claude.keys(":b cart.shop<CR>")
    assert claude.text() == "def moved(x)\n漢字 😀 moved(1)\nnew"


def test_no_name_is_a_command_of_its_own(claude: Editor, api: ScriptedAPI) -> None:
    """Nor an option of the test command."""
    claude.configure(test_command=":let g:tested = '{file}'")
    opened(claude)
    names = ["a\nlet g:evil = 1 \n", "-pevil"]
    for name in names:
        (claude.sandbox.project / name).write_text("x\n")
    calls = [call("run_test", path=name, line=1) for name in names]
    api.add(*map(say, calls), say("Done."))
    send(claude, "go")
    assert "takes no name with a line break" in api.tool_result(calls[0].id)
    wait_section(claude, "Permission: Test")
    claude.keys(":Winnow allow<CR>")
    assert "It runs in Neovim" in api.tool_result(calls[1].id)
    assert claude.lua("return vim.g.tested") == "./-pevil"
    assert claude.lua("return vim.g.evil") is None


def test_nobody_is_disturbed(claude: Editor, api: ScriptedAPI) -> None:
    """Not with a menu open, nor in the command-line window; not by a server that hangs."""
    claude.lua(SERVER, "mortal", "dies")
    opened(claude, "hung")
    claude.lua("require('winnow.editor.server').patience = 0.2")
    elsewhere = {**TOTAL, "path": "src/till.shop"}  # which is not loaded
    calls = [
        call("references", **TOTAL),
        call("definition", **elsewhere),
        call("buffers"),
        call("rename", **TOTAL, new_name="sum"),
    ]
    last = call("definition", **elsewhere)
    api.add(say("One.", Gate(), *calls), say("Two.", Gate(), last), say("Done."))
    send(claude, "go")
    claude.wait_line("One.")
    claude.keys("<C-w>pOtotal total1 total2 tot<C-x><C-n>")
    now = "return {vim.fn.mode(1), vim.fn.pumvisible(), vim.fn.getcmdwintype(), vim.fn.bufnr()}"
    before = claude.lua(now)
    assert before[:3] == ["ic", 1, ""]
    api.release()
    told = [api.tool_result(one.id) for one in calls]
    assert "shop does not answer." in told[0]
    assert "mortal has ended." in told[0]
    assert told[1].startswith("The language server ")
    assert told[2].startswith("1 buffer:")
    assert told[3] == "shop can't do that (textDocument/rename)."
    assert claude.lua(now) == before
    claude.keys("<C-e><Esc>:bwipe! src/till.shop<CR>")
    claude.lua(SERVER, "other", "")
    claude.keys("q:")
    before = claude.lua(now)
    assert before[2] == ":"
    api.release()
    found = api.tool_result(last.id)  # of the one that answers
    assert found.startswith("1 place:\ncart.shop:2: def total(x)\n")
    assert "shop does not answer." in found
    assert claude.lua(now) == before
    claude.keys("<C-c><C-c>")
