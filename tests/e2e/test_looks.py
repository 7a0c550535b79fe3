"""What is told apart at a glance, in whichever colours the user has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import start, wait_idle

LOOKS = """
  local looks = { Normal = vim.api.nvim_get_hl(0, { name = 'Normal', link = false }) }
  looks.Folded = vim.api.nvim_get_hl(0, { name = 'Folded', link = false })
  for _, name in ipairs(vim.fn.getcompletion('Winnow', 'highlight')) do
    looks[name] = vim.api.nvim_get_hl(0, { name = name, link = false })
  end
  return looks
"""
SCHEMES = """
  vim.cmd('set wildignore=')
  return vim.fn.getcompletion('', 'color')
"""


def luminance(colour: int) -> float:
    """How bright a colour is, as WCAG 2 counts it."""

    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour >> shift & 255) for shift in (16, 8, 0))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: int, b: int) -> float:
    """From 1 to 21, as WCAG 2 counts it."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def looks(editor: Editor, background: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The groups in each of Neovim's colour schemes that has this background."""
    for scheme in editor.lua(SCHEMES):
        editor.command("highlight clear")
        editor.command(f"set background={background}")
        editor.command(f"colorscheme {scheme}")
        if editor.lua("return vim.o.background") == background:
            yield scheme, editor.lua(LOOKS)


@pytest.mark.fresh("session")
@pytest.mark.parametrize("background", ["dark", "light"])
def test_every_group_can_be_read(editor: Editor, background: str) -> None:
    """In all of Neovim's colour schemes; and what must be told apart is so without hues, too."""
    editor.keys(":Winnow<CR>")
    plain = {"dark": (0xFFFFFF, 0), "light": (0, 0xFFFFFF)}[background]
    for scheme, groups in looks(editor, background):
        normal, folded = groups.pop("Normal"), groups.pop("Folded")
        text, ground = normal.get("fg", plain[0]), normal.get("bg", plain[1])
        least = {ground: min(4.5, contrast(text, ground))}
        fold = ground if folded.get("reverse") else folded.get("bg", ground)
        if contrast(text, fold) >= 4.5:  # else none can be read in a closed fold
            least[fold] = 4.5
        for name, look in groups.items():
            for behind, wanted in least.items():
                found = contrast(look.get("fg", text), look.get("bg", behind))
                assert found >= wanted, (scheme, name, behind, found)
            assert not look.get("reverse"), (scheme, name)
        for one, other in [("WinnowAdded", "WinnowRemoved"), ("WinnowYou", "WinnowClaude")]:
            flags = [{k for k, v in groups[name].items() if v is True} for name in (one, other)]
            assert flags[0] != flags[1], (scheme, one, other)


@pytest.mark.fresh("chat")
def test_a_group_of_the_user_s_stays(editor: Editor) -> None:
    """Set before the first chat or after it, in whichever colours; ours follow the scheme."""
    editor.command("highlight WinnowHint guifg=#123456")
    editor.keys(":Winnow<CR>")
    editor.command("highlight WinnowTool guifg=#654321")
    dark = editor.lua(LOOKS)["WinnowDecided"]
    editor.command("set background=light")
    groups = editor.lua(LOOKS)
    assert groups["WinnowHint"]["fg"] == 0x123456
    assert groups["WinnowTool"]["fg"] == 0x654321
    assert groups["WinnowDecided"] != dark
    editor.command("set background=dark")
    assert editor.lua(LOOKS)["WinnowDecided"] == dark
    editor.command("highlight clear WinnowHint | highlight clear WinnowTool")


CODE = {
    "go": ("func f() {} // {say}", "func"),
    "Dockerfile": ("RUN ls # {say}", "RUN"),
    "toml": ("[tool] # {say}", "[tool]"),
    "sh": ("done # {say}", "done"),
    "js": ("return 1 // {say}", "return"),
    "ts": ("return 1 // {say}", "return"),
    "nix": ("with a; 1 # {say}", "with"),
    "c++": ("return 1; // {say}", "return"),
    "tex": ("x % {say}", ""),
    "rb": ("end # {say}", ""),
}


def code(editor: Editor, *blocks: str) -> None:
    """Have Claude write these blocks."""
    text = "\n\n".join(blocks)
    editor.lua(
        """
      local chat = require('winnow.registry').current()
      require('winnow.chat.transcript').write(chat, ..., true)
    """,
        text,
    )


def colour(editor: Editor, group: str) -> int:
    found: int = editor.lua("return vim.api.nvim_get_hl(0, { name = ..., link = false }).fg", group)
    return found


def coloured(editor: Editor, text: str, group: str) -> None:
    """Wait until a text has the colour of this group."""
    wanted = colour(editor, group)
    editor.wait(lambda: editor.style(text).get("foreground") == wanted, f"{text} as {group}")


@pytest.mark.parametrize("background", ["dark", "light"])
def test_code_without_a_parser_has_vim_s_syntax(editor: Editor, background: str) -> None:
    """In whichever colours; what is no language of Vim's stays plain code."""
    editor.command(f"set background={background}")
    editor.resize(90, 80)
    editor.keys(":Winnow<CR>")
    blocks = [
        f"```{name}\n{line.replace('{say}', f'said in {name}')}\n```"
        for name, (line, _) in CODE.items()
    ]
    code(editor, *blocks, "```klingon\nqapla # so\n```", "```\nnone # at all\n```")
    for name, (_, word) in CODE.items():
        coloured(editor, f"said in {name}", "Comment")
        assert not word or editor.style(word) != editor.style("qapla"), name
    assert editor.style("# so") == editor.style("qapla") == editor.style("# at all")
    code(editor, "````markdown\n## A plan\n\n```go\nx() // within\n```\n````")
    coloured(editor, "// within", "Comment")
    before = colour(editor, "Comment")
    editor.command("colorscheme blue")
    assert colour(editor, "Comment") != before
    coloured(editor, "said in go", "Comment")
    editor.command("colorscheme default")
    editor.command("set background=dark")


@pytest.mark.fresh("session")
def test_what_is_no_language_is_not_loaded(editor: Editor) -> None:
    """What Vim keeps among its syntaxes to change colours, or to show them, no text loads."""
    editor.keys(":Winnow<CR>")
    editor.lua("vim.fn.setreg('a', 'mine')")
    names = ["hitest", "colortest", "Manual", "nosyntax", "synload", "syncolor", "syntax"]
    code(editor, *(f"```{name}\n1\n```" for name in names), "```go\nx() // last\n```")
    coloured(editor, "// last", "Comment")
    scripts = editor.lua("return vim.fn.execute('scriptnames')")
    assert [name for name in names[:4] if f"/syntax/{name.lower()}.vim" in scripts] == []
    assert editor.lua("return #vim.api.nvim_get_autocmds({ event = 'Syntax' })") > 0
    assert editor.lua("return vim.fn.getreg('a')") == "mine"


def test_code_is_coloured_when_it_is_finished(editor: Editor) -> None:
    """Nothing is looked through while it streams in; what is edited is looked through anew."""
    editor.keys(":Winnow<CR>")
    code(editor, "```go\n// one")
    plain = editor.style("// one")
    code(editor, "// two\n```")
    coloured(editor, "// one", "Comment")
    assert editor.style("// one") != plain
    editor.keys("gg/one<CR>ccreturn<Esc>")
    editor.wait(lambda: editor.style("return").get("bold"), "a keyword of Go")


def test_a_long_block_is_coloured_bit_by_bit(editor: Editor) -> None:
    """As far as that goes; nothing of its language but its syntax is run."""
    editor.keys(":Winnow<CR>")
    lines = [f"say({n}) // {n}." for n in range(10_000)]
    code(editor, "```go\n" + "\n".join(lines) + "\n```")
    editor.keys("gg/^say(0)<CR>zt")
    coloured(editor, "// 0.", "Comment")
    editor.keys("gg/^say(5000)<CR>zt")
    assert editor.style("// 5000.").get("foreground") != colour(editor, "Comment")
    scripts = editor.lua("return vim.fn.execute('scriptnames')")
    assert "/syntax/go.vim" in scripts
    assert "/ftplugin/go.vim" not in scripts


PARSED = """
  local tree = vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()].tree
  local region = tree:included_regions()[1][1]
  return region[4] - region[1]
"""


def test_a_long_chat_is_coloured_where_it_is_seen(editor: Editor) -> None:
    """Only there it is parsed, and it looks as if all of it were."""
    editor.keys(":Winnow<CR>")
    prose = [f"Some **bold {n}** text." for n in range(600)]
    lines = "\n".join(f"local name_{n} = {n}" for n in range(900))
    code(editor, *prose[:300], f"```lua\n{lines}\n```", *prose[300:])
    editor.keys("G")

    def seen(text: str) -> dict[str, Any]:
        editor.keys(f"gg/{text}<CR>zz")
        return editor.style(text)

    def until(text: str, **look: Any) -> None:
        editor.wait(lambda: look.items() <= seen(text).items(), f"{text} as {look}")

    editor.keys("gg/bold 599<CR>zz")
    editor.screen()
    assert editor.lua(PARSED) < 400
    editor.wait(lambda: seen("local name_450") != seen("name_450 ="), "a keyword of Lua")
    keyword = seen("local name_450")
    for row in (0, 899):
        until(f"local name_{row} ", **keyword)
    for number in (0, 299, 300, 450, 599):
        until(f"bold {number}", bold=True)
    editor.keys(":write<CR>:edit!<CR>")
    until("local name_450", **keyword)
    editor.keys(":vertical split<CR>gg<C-w>pG")
    editor.wait(lambda: editor.style("bold 0").get("bold"), "what the other window shows")
    editor.wait(lambda: editor.style("bold 599").get("bold"), "what this window shows")


GROWS = """
  local chat = require('winnow.registry').current()
  local tree = vim.treesitter.highlighter.active[chat.buf].tree
  local parsed, grew = 0, 0
  tree:register_cbs({ on_changedtree = function() parsed = parsed + 1 end })
  local function write(text)
    parsed = 0
    require('winnow.chat.transcript').write(chat, text, false)
    vim.cmd.redraw()
    return parsed
  end
  for _ = 1, 100 do
    grew = grew + write(' and **more**')
  end
  write('\\n\\nThe next **one**')
  write('\\n```lua\\nlocal one')
  write(' = 1')
  return grew
"""


def test_what_grows_is_parsed_less_often_than_drawn(editor: Editor) -> None:
    """But when a paragraph is complete, and soon when nothing more comes."""
    editor.keys(":Winnow<CR>")
    code(editor, *["Some **bold** text."] * 100, "\n".join(["A **long** paragraph"] * 30))
    editor.keys("G")
    editor.wait(lambda: editor.style("long").get("bold"), "bold text")
    assert editor.lua(GROWS) < 50
    editor.wait(lambda: editor.style("one").get("bold"), "the next paragraph")
    plain = editor.style("one = 1")
    editor.wait(lambda: editor.style("local one") != plain, "a keyword of Lua")
    editor.lua(f"""
      local chat = require('winnow.registry').current()
      require('winnow.chat.transcript').write(chat, '\\n```\\n\\n{"bold " * 500}', false)
      vim.cmd.redraw()
      require('winnow.chat.transcript').write(chat, ' and **soon**', false)
    """)
    editor.wait(lambda: editor.style("soon").get("bold"), "what nothing comes after")


TOO_LONG = """
  local tree = vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()].tree
  local count = 0
  for _, range in ipairs(tree:included_regions()[1]) do
    for _, line in ipairs(vim.api.nvim_buf_get_lines(0, range[1], range[4], false)) do
      count = count + (#line > 4000 and 1 or 0)
    end
  end
  return count
"""


@pytest.mark.parametrize("place", ["first", "between", "last"])
def test_a_line_too_long_to_parse_has_no_colours(editor: Editor, place: str) -> None:
    """On such a line Neovim's parser works for a minute and longer; others have theirs."""
    long = "`" * 100_000
    prose = [*["Some **bold** text."] * 10, ""]
    lines = {
        "first": [long, long, *prose],
        "between": [*prose, long, *prose],
        "last": [*prose, long],
    }
    editor.keys(":Winnow<CR>")
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", lines[place])
    editor.keys("gg")
    editor.wait(lambda: editor.style("bold").get("bold"), "bold text")
    editor.keys("Gihi<Esc>")
    editor.wait_screen("hi")
    assert editor.lua(TOO_LONG) == 0


@pytest.mark.fresh("nothing")
def test_a_failed_tool_says_why(claude: Editor, api: ScriptedAPI) -> None:
    """In red, with its last lines in view; what it said before is folded above them."""
    run = ToolUse("Bash", {"command": "seq 100 112; echo last words; false"}, "t1")
    api.add(say(run), say("So it goes."))
    start(claude)
    claude.wait_line("So it goes.")
    wait_idle(claude)
    claude.wait_screen("│ last words")
    assert not any("│ 100" in row for row in claude.screen())
    red = claude.lua("return vim.api.nvim_get_hl(0, { name = 'WinnowFailed' }).fg")
    assert claude.style("▸ Bash seq")["foreground"] == red
    assert claude.style("## You") != claude.style("## Claude")
