"""What Claude says streams in above the draft, and takes nothing from whoever uses the editor."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from winnow.core.text.text import prose

from tests.api import Gate, Message, ScriptedAPI, Text, Thinking, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, said, send, start, wait_idle, wait_section
from tests.soaking import soak

pytestmark = pytest.mark.fresh("nothing")

LINES = "".join(f"line {number}\n" for number in range(100))


def streaming(claude: Editor, api: ScriptedAPI, first: str, rest: str) -> Editor:
    """A chat in which Claude has said ``first``; ``rest`` comes with `finish`."""
    api.add(say(first, Gate(), rest))
    start(claude)
    claude.wait_line(first.rpartition("\n")[2])
    return claude


def finish(claude: Editor, api: ScriptedAPI, last: str) -> None:
    """Let Claude say the rest, to its end."""
    api.release()
    claude.wait_line(last)
    wait_idle(claude)


def view(claude: Editor) -> dict[str, Any]:
    """Where the cursor and the top of the current window are."""
    found: dict[str, Any] = claude.lua("return vim.fn.winsaveview()")
    return found


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ("inext", " thing<Esc>", "next thing"),
        ("ione<CR>two<Esc>d", "d", "one"),
        ("ione<CR>two<Esc>V", "d", "one"),
        ("ione<CR>two<CR>three<Esc>Vk", "d", "one"),
        ("ione<CR>two<Esc>kd", "j", ""),
        ("ione<CR>two<Esc>k<C-v>", "jd", "on\ntw"),
        ("ione<CR>two<Esc>gh", "x<Esc>", "one\ntwx"),
        ("ione<CR>two<Esc>:s/two/", "2<CR>", "one\n2"),
        ("ione<CR>two<Esc>qqx", "q0@q", "one\nw"),
    ],
)
def test_commands_in_the_draft_mean_what_they_meant(
    claude: Editor, api: ScriptedAPI, before: str, after: str, left: str
) -> None:
    """Text that comes above in the middle of a command does not change what the command does."""
    streaming(claude, api, "Begun.", f"\n\n{LINES}")
    claude.keys(before)
    api.release()
    claude.wait(lambda: arrived(claude), "the text")
    claude.keys(after)
    claude.wait_line("line 99")
    wait_idle(claude)
    assert draft(claude) == left
    assert said(claude) == f"Begun.\n\n{LINES}".rstrip()


def arrived(claude: Editor) -> bool:
    """Whether the rest of the text has come to Neovim, shown or held back."""
    return bool(
        "line 99" in claude.text()
        or claude.lua("return require('winnow.dispatch').holds(vim.api.nvim_get_current_buf())")
    )


def test_undo_is_the_users(claude: Editor, api: ScriptedAPI) -> None:
    """`u` takes back what was typed, and never the text that came."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ibefore<Esc>")
    finish(claude, api, "Done.")
    claude.keys("A after<Esc>u")
    assert draft(claude) == "before"
    claude.keys("u")
    assert draft(claude) == ""
    claude.keys("<C-r>u")
    assert draft(claude) == ""
    assert said(claude) == "Begun. Done."


def test_undo_while_typing(claude: Editor, api: ScriptedAPI) -> None:
    """Text that comes while the user is in Insert mode does not split what one `u` takes back."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ibefore")
    finish(claude, api, "Done.")
    claude.keys(" after<Esc>")
    assert draft(claude) == "before after"
    claude.keys("u")
    assert draft(claude) == ""
    assert said(claude) == "Begun. Done."


@pytest.mark.parametrize("keys", ["gg", "10Gzt", "10GztV", "gg<C-d>zz"])
def test_nothing_moves_for_a_reader(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Who reads or selects further up stays there."""
    streaming(claude, api, LINES + "end", LINES + "done")
    claude.keys(keys)
    seen = view(claude)
    api.release()
    claude.wait(lambda: arrived(claude), "the text")
    assert view(claude) == seen
    claude.keys("<Esc>")
    claude.wait_line("done")
    assert view(claude) == seen


def test_nothing_moves_in_another_window(claude: Editor, api: ScriptedAPI) -> None:
    """Neither the other window nor a chat window that is scrolled up moves."""
    claude.command("edit other | call setline(1, range(200)) | 100")
    streaming(claude, api, LINES + "end", LINES + "done")
    chat = claude.lua("return vim.api.nvim_get_current_win()")
    claude.keys("10Gzt<C-w>p")
    here = view(claude)
    there = claude.lua("return vim.fn.getwininfo(...)[1].topline", chat)
    api.release()
    claude.wait(
        lambda: (
            "done"
            in claude.lua("return vim.fn.getbufline(vim.api.nvim_win_get_buf(...), 1, '$')", chat)
        ),
        "the text",
    )
    assert view(claude) == here
    assert claude.lua("return vim.fn.getwininfo(...)[1].topline", chat) == there


@pytest.mark.parametrize("keys", ["", "i", "G"])
def test_the_view_follows_at_the_end(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Who is in the draft keeps seeing it, and the end of the text above it."""
    streaming(claude, api, LINES + "end", LINES + "done")
    claude.keys(keys)
    finish(claude, api, "done")
    rows = [row for row in claude.screen() if row]
    assert "done" in rows
    assert "## You" in rows
    assert "~" not in rows


@pytest.mark.parametrize(
    "text",
    [
        "One.\n\nTwo.\n\n\nThree.",
        "```lua\nlocal a = 1   \n\n\n  return a\n```\n\n- one  \n  - two",
        "    indented code\n\tand a tab",
        "x" * 20_000,
        "## You\n\nnot a draft\n\n## Claude\n\nnot a turn",
        "| a | b |\n|---|---|\n| 漢字 | e\u0301 |\n",
        "▸ not a tool\n│ not its output",
    ],
)
def test_the_text_is_exact(claude: Editor, api: ScriptedAPI, text: str) -> None:
    """The buffer has what Claude said, but for blank edges and lines that look like ours."""
    api.add(say(f"\n\n{text} \n\n"))
    start(claude)
    claude.wait_line(text.rstrip().split("\n")[-1][:50])
    wait_idle(claude)
    shown = claude.text().partition("## Claude\n\n")[2].rpartition("\n\n## You")[0]
    assert shown == prose(text.rstrip())


def test_two_thousand_chunks(claude: Editor, api: ScriptedAPI) -> None:
    """Thousands of pieces arrive complete and in order, while the user types."""
    chunks = [f"{number}{' ' if number % 10 else chr(10)}" for number in range(2000)]
    api.add(Message([Text(chunks=["Begun. "]), Gate(), Text(chunks=chunks)]))
    start(claude)
    claude.wait_line("Begun.")
    api.release()
    claude.keys("i")
    for word in range(50):
        claude.keys(f"word{word} ")
    claude.keys("<Esc>")
    claude.wait_line("1999")
    wait_idle(claude)
    assert said(claude) == "Begun. " + "".join(chunks).rstrip()
    assert draft(claude) == " ".join(f"word{word}" for word in range(50))


def test_a_marker_in_the_text_stays_text(claude: Editor, api: ScriptedAPI) -> None:
    """What looks like a marker is neither hidden nor taken for one, however it is cut."""
    forged = "see ⟦ab12=1=1⟧ there"
    api.add(Message([Text(chunks=["see ⟦ab", "12=1=1", "⟧ there"])]), say(forged))
    for number in range(2):
        start(claude)
        claude.wait(lambda: claude.text().count("there") > number, "the text")  # noqa: B023
        wait_idle(claude)
    rows = [row for row in claude.screen() if "there" in row]
    assert len(rows) == 2
    assert all("ab12=1=1" in row for row in rows)
    claude.command("edit")
    wait_idle(claude)
    assert claude.text().count("ab12=1=1") == 2


@pytest.mark.parametrize("keys", ["f", '"', ":echo 1 | echo 2<CR>", *soak("r", "g", "m", "<C-w>")])
def test_a_blocked_neovim_loses_nothing(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """While Neovim waits for a key the turn goes on; then the text is there, in order."""

    def written() -> int:
        return sum(path.read_text().count("499 end") for path in claude.sandbox.sessions())

    before = written()
    chunks = [f"{number} " for number in range(500)]
    api.add(Message([Text(chunks=["Begun. "]), Gate(), Text(chunks=[*chunks, "end"])]), say("Two."))
    start(claude)
    claude.wait_line("Begun.")
    claude.keys(keys)
    assert claude.blocking()
    api.release()
    claude.wait(lambda: written() > before, "the end of the turn")
    claude.dismiss()
    claude.wait_line("499 end")
    assert said(claude) == "Begun. " + "".join(chunks) + "end"
    claude.keys("<Esc>G")
    send(claude, "And now?")
    claude.wait_line("Two.")


@pytest.mark.fresh("chat")
@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
def test_a_locked_buffer_loses_nothing(claude: Editor, api: ScriptedAPI, option: str) -> None:
    """A buffer that the user locked takes in the text, without a warning that takes a second."""
    streaming(claude, api, "Begun.", " Done.")
    claude.command(f"setlocal {option}")
    finish(claude, api, "Done.")
    assert said(claude) == "Begun. Done."
    assert "W10" not in claude.messages()
    assert claude.request("nvim_eval", "&modifiable") == (option == "readonly")


def test_code_in_a_long_chat(claude: Editor, api: ScriptedAPI) -> None:
    """A fenced block that streams in raises no error, whatever is deleted meanwhile."""
    code = "```lua\n" + "local function f(a) return { a, 'b' } end\n" * 60 + "```"
    pieces = re.findall(r"(?s).{1,3}", code)
    api.add(say(LINES * 3 + "end"), Message([Text(chunks=pieces)], pace=0.0005))
    start(claude)
    claude.wait_line("end")
    wait_idle(claude)
    send(claude, "Code, please")
    claude.keys("ione<CR>two<CR>three<CR>four<CR>five<Esc>")
    for _ in range(4):
        claude.keys("dd")
        claude.screen()
    claude.wait(lambda: said(claude) == code, "the code")
    wait_idle(claude)
    assert draft(claude) == "one"


def test_fences_and_backticks_stay_visible(claude: Editor, api: ScriptedAPI) -> None:
    """Only markers and the signs of emphasis are hidden, wherever the cursor is."""
    api.add(say("Use `cart` and **this**:\n\n```lua\nreturn 1\n```\n\n[a link](https://x.test)"))
    start(claude)
    claude.wait_line("a link")
    wait_idle(claude)
    for keys in ("", "?lua<CR>", "kk"):
        claude.keys(keys)
        rows = claude.screen()
        for text in ("Use `cart` and this:", "```lua", "```", "[a link](https://x.test)"):
            assert text in rows


# --- thinking and tools -----------------------------------------------------------------------


def folds(claude: Editor) -> list[str]:
    """The first line of each closed fold of the current window, below the frontmatter's."""
    found: list[str] = claude.lua("""
      local found = {}
      for row = 2, vim.fn.line('$') do
        if vim.fn.foldclosed(row) == row then
          table.insert(found, vim.fn.getline(row))
        end
      end
      return found
    """)
    return found


def read(claude: Editor, id: str, name: str, text: str) -> ToolUse:
    """A call of Read, of a file that is there."""
    path = claude.sandbox.project / name
    path.write_text(text)
    return ToolUse("Read", {"file_path": str(path)}, id)


def test_thinking_folds(claude: Editor, api: ScriptedAPI) -> None:
    """Reasoning is one line, with the rest folded beneath it."""
    api.add(say(Thinking("First this.\n\nThen that."), "Answer."))
    start(claude)
    claude.wait_line("Answer.")
    wait_idle(claude)
    assert said(claude) == "✻ Thinking\n│ First this.\n│ \n│ Then that.\n\nAnswer."
    assert folds(claude) == ["✻ Thinking"]
    assert not any("Then that." in row for row in claude.screen())


def test_tools_are_lines(claude: Editor, api: ScriptedAPI) -> None:
    """Tools that run side by side are a line each, in order, with their output folded beneath."""
    calls = [read(claude, f"toolu_{name}", name, f"{name} 1\n{name} 2\n") for name in "abc"]
    api.add(say("Reading.", *calls), say("Read."))
    start(claude)
    claude.wait_line("Read.")
    wait_idle(claude)
    lines = said(claude).split("\n")
    tools = [line for line in lines if line.startswith("▸")]
    assert [tool[: len("▸ Read a ✓")] for tool in tools] == [f"▸ Read {n} ✓" for n in "abc"]
    assert folds(claude) == tools
    for name, tool in zip("abc", tools, strict=True):
        assert f"{name} 1" in lines[lines.index(tool) + 1]
        assert f"{name} 2" in lines[lines.index(tool) + 2]
    claude.keys(":vsplit<CR>")
    assert folds(claude) == tools
    claude.keys("gg/^▸<CR>zo<C-w>p")
    assert folds(claude) == tools


def test_a_tool_that_is_denied(claude: Editor, api: ScriptedAPI) -> None:
    """Its line comes below the record and says that it failed; its command has not run."""
    command = "touch made"
    api.add(say("Now.", ToolUse("Bash", {"command": command}, "toolu_1")), say("As you like."))
    start(claude)
    wait_section(claude, "Permission")
    claude.keys("gg/^Allow once<CR>d/^Deny<CR><CR>")
    claude.wait_line("As you like.")
    wait_idle(claude)
    row = claude.lines().index(f"▸ Bash {command} ✗")
    assert claude.lines()[row + 1].startswith("│ ")
    assert claude.lua("return vim.fn.foldclosed(...)", row + 2) == -1  # why, in view
    assert not (claude.sandbox.project / "made").exists()


def test_a_tool_that_ends_after_the_next_message_keeps_its_line(editor: Editor) -> None:
    """The draft is taken between two tools: the one that still runs is not shown twice."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.lua("""
      local chat = require('winnow.registry').current()
      local apply = require('winnow.dispatch').apply
      local function tool(line)
        apply({ { type = 'tool', chat = chat.buf, id = 't', line = line, output = {} } })
      end
      tool('▸ Bash make …')
      vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'and then?' })
      chat:commit()
      tool('▸ Bash make ✓')
    """)
    assert [line for line in editor.lines() if line.startswith("▸")] == ["▸ Bash make ✓"]


BUSY = """
  local chat = require('winnow.registry').current()
  local batch, number = {}, ...
  for i = 1, 50 do
    local name = ('%d.%d'):format(number, i)
    local function add(type, effect)
      table.insert(batch, vim.tbl_extend('error', { type = type, chat = chat.buf }, effect))
    end
    add('write', { text = 'text ' .. name, fresh = true })
    add('tool', { id = name, line = '▸ Bash ' .. name .. ' …', output = { '│ a', '│ b' } })
    add('tool', { id = name, line = '▸ Bash ' .. name .. ' ✓', output = { '│ a', '│ b' } })
    add('meta', { values = { model = 'x' .. name } })
    add('save', {})
  end
  require('winnow.dispatch').apply(batch)
"""


def test_ctrl_c_is_for_what_is_typed(editor: Editor) -> None:
    """Whatever the chat does at the time is done nonetheless."""
    editor.keys(":Winnow new<CR>")
    wait_idle(editor)
    with ThreadPoolExecutor(1) as pool:
        for number in range(10):
            editor.keys("Gix")
            writing = pool.submit(editor.lua, BUSY, number)
            time.sleep(0.005 * number)
            editor.request("nvim_input", "<C-c>")
            writing.result()
            editor.wait(lambda: editor.mode() == "n", "Normal mode")
    assert "could not be" not in editor.messages()
    said = [line for line in editor.lines() if line.startswith(("text", "▸"))]
    names = [f"{number}.{i}" for number in range(10) for i in range(1, 51)]
    assert said == [line for name in names for line in (f"text {name}", f"▸ Bash {name} ✓")]
    folded = "return vim.fn.foldclosed(vim.fn.search(...))"
    assert all(editor.lua(folded, f"^▸ Bash {name} ") > 0 for name in names[::25])
