"""What a draft mentions goes along with it, and is shown before."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from winnow.core.text.fences import Fences

from tests.api import ScriptedAPI, say
from tests.e2e.conftest import Desks, Share
from tests.e2e.desk import ScriptedDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, wait_idle

MARKS = """
  local chat = require('winnow.registry').all()[1]
  local space = vim.api.nvim_get_namespaces()['winnow.context']
  local marks = vim.api.nvim_buf_get_extmarks(chat.buf, space, 0, -1, { details = true })
  local texts = vim.tbl_map(function(mark)
    local chunks = mark[4].virt_text or vim.iter(mark[4].virt_lines):flatten(1):totable()
    return vim.tbl_map(function(chunk) return vim.trim(chunk[1]) end, chunks)
  end, marks)
  return vim.iter(texts):flatten():totable()
"""
CART = [f"line {number}" for number in range(1, 61)]


def project(editor: Editor, files: dict[str, str | bytes]) -> None:
    """Write files."""
    for name, text in files.items():
        path = editor.sandbox.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def shown(editor: Editor, *words: str) -> list[str]:
    """What stands beside the mentions, once all these words do."""

    def look() -> Any:
        found = editor.lua(MARKS)
        said = " ".join(found)
        return said if said and all(word in said for word in words) else None

    said = str(editor.wait(look, f"{words} beside the mentions"))
    return [f"→ {part.strip()}" for part in said.split("→ ")[1:]]


def sent(api: ScriptedAPI) -> list[str]:
    """The blocks of the user's last message that the model got."""
    said = [one for one in api.requests[-1]["messages"] if one["role"] == "user"]
    content = said[-1]["content"]
    blocks = [content] if isinstance(content, str) else content
    return [block if isinstance(block, str) else json.dumps(block) for block in blocks]


def beside(editor: Editor, path: str) -> None:
    """A chat, and a file in the window beside it, where the cursor is."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    editor.keys(f":leftabove vsplit {path}<CR>")


def test_the_buffer_as_it_is_now_goes_along(claude: Editor, api: ScriptedAPI) -> None:
    """Unsaved text, lines, what is selected: each shown first, then told in the chat."""
    project(claude, {"src/cart.py": "\n".join(CART)})
    api.add(say("I see."))
    beside(claude, "src/cart.py")
    claude.keys("Ochanged<Esc>3GVj<Esc><C-w>p")
    claude.keys("iSee @buffer, @selection and @src/cart.py:5-6<Esc>")
    texts = shown(claude, "src/cart.py 5-6")
    assert texts[0] == "→ src/cart.py 1-61 (not saved), ~120 tokens"
    assert texts[1] == "→ src/cart.py 3-4 (not saved), ~4 tokens"
    claude.keys("<CR>")
    claude.wait_line("I see.")
    told = "\n".join(sent(api))
    for part in ("changed\\nline 1\\nline 2", "is src/cart.py 3-4", "line 2\\nline 3\\n```"):
        assert part in told
    assert json.loads(sent(api)[-1])["text"] == "See @buffer, @selection and src/cart.py:5-6"
    chat = claude.text()
    assert "See @buffer, @selection and @src/cart.py:5-6\n\n│ @buffer → src/cart.py 1-61" in chat
    claude.wait(lambda: not claude.lua(MARKS), "nothing beside an empty draft")


NAMES: dict[str, str | bytes] = {
    "x y.py": "blank",
    "a#b.py": "hash",
    "漢.py": "cjk",
    "bin.dat": b"\x7fELF\0\1",
    "src/a.py": "a",
}


def test_what_can_t_be_sent_says_why(claude: Editor, api: ScriptedAPI) -> None:
    """The draft stays, until <CR> again sends the rest; whatever a file is named."""
    project(claude, NAMES)
    with (claude.sandbox.project / "big.txt").open("wb") as file:
        file.write(b"words\n" * 2000)
        file.truncate(1 << 30)
    api.add(say("Fine."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys("i@gone.py @bin.dat @big.txt @src/a.py:9 @buffer @property me@x.org<CR>")
    claude.keys('@"x y.py" @a#b.py @漢.py @src <BS><Esc>')
    texts = shown(claude, "@gone.py is not there", "@big.txt is large: 1.1 GB", "→ x y.py")
    assert "→ @bin.dat is binary" in texts
    assert "→ @src/a.py:9 has only 1 line" in texts
    assert "→ @buffer means a buffer beside the chat, and there is none" in texts
    assert not any("property" in text or "x.org" in text for text in texts)
    assert texts[-3:] == ["→ a#b.py, ~1 token", "→ 漢.py, ~1 token", "→ src, folder"]
    before = draft(claude)
    claude.keys("<CR>")
    assert "@gone.py is not there" in claude.messages()
    assert draft(claude) == before
    claude.command("messages clear")
    claude.keys("<CR>")
    claude.wait_line("Fine.")
    told = json.dumps(api.requests[-1]["messages"], ensure_ascii=False)
    for part in ("blank", "hash", "cjk", "a.py"):
        assert part in told


SHOP = """local M = {}

function M.total(cart)
  return cart.sum
end

return M
"""


def test_what_only_an_editor_knows_goes_along(claude: Editor, api: ScriptedAPI) -> None:
    """The function at the cursor, what is in sight, all buffers, diagnostics and quickfix."""
    project(claude, {"shop.lua": SHOP, "long.txt": "\n".join(CART)})
    api.add(say("All of it."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys("i@diagnostics, @quickfix, @symbol<Esc>")
    none = shown(claude, "@diagnostics means", "@quickfix means", "@symbol means")
    assert len(none) == 3
    claude.keys(":leftabove vsplit long.txt<CR>40Gzt:edit shop.lua<CR>4G")
    claude.lua(
        """
        local space, buf = vim.api.nvim_create_namespace('linter'), vim.fn.bufnr('shop.lua')
        local found = { lnum = 3, col = 9, message = 'cart\\nmay be nil', severity = 2 }
        vim.diagnostic.set(space, buf, { found })
        vim.fn.setqflist({ { filename = 'long.txt', lnum = 7, col = 2, text = '  look here' } })
        """
    )
    claude.keys("<C-w>pcc@symbol @visible @buffers @diagnostics @quickfix<Esc>")
    texts = shown(claude, "shop.lua 3-5 (M.total)", "1 diagnostic", "1 entry of the quickfix list")
    assert texts[1].startswith("→ shop.lua 1-7, ")
    assert texts[2].startswith("→ 2 files, ")
    claude.keys("<CR>")
    claude.wait_line("All of it.")
    told = "\n".join(sent(api))
    assert told.count("function M.total(cart)") == 3
    assert "line 60" in told
    assert "shop.lua:4:10: warn: cart may be nil" in told
    assert "long.txt:7:2: look here" in told
    claude.command("lua vim.diagnostic.reset() vim.fn.setqflist({})")
    claude.keys(":bwipeout! shop.lua long.txt<CR>")


@pytest.mark.fresh("session")
def test_a_diff_is_waited_for(claude: Editor, api: ScriptedAPI) -> None:
    """It takes git's time, in which the user may go on."""
    import subprocess  # noqa: PLC0415

    folder = claude.sandbox.project
    project(claude, {"a.txt": "one\n"})
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm a"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    Path(folder, "a.txt").write_text("two\n")
    api.add(say("A change."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys("iSee @diff<Esc>")
    shown(claude, "→ 1 file (git diff HEAD)")
    claude.keys("<CR>")
    claude.wait_line("A change.")
    assert "-one\\n+two" in "\n".join(sent(api))


def test_the_operator_adds_and_stays(editor: Editor) -> None:
    """With a motion, again with a dot; one line says what."""
    project(editor, {"a.lua": "local one = 1\nlocal two = 2\n"})
    editor.keys(":Winnow<CR>:edit a.lua<CR>")
    editor.command("nmap gz <Plug>(winnow-add)")
    editor.keys("gg0gzwj.")
    assert "Added to the draft: a.lua 2, ~2 tokens." in editor.messages()
    assert editor.lua("return vim.api.nvim_buf_get_name(0)").endswith("a.lua")
    editor.keys(":Winnow<CR>")
    assert draft(editor).count("```lua\nlocal \n```") == 2


def test_a_long_paste_is_folded(editor: Editor) -> None:
    """And opens as any fold; a dropped image is a mention."""
    project(editor, {"my pic.png": b"\x89PNG"})
    editor.keys(":Winnow<CR>")
    text = "\n".join(f"line {number}" for number in range(60))
    editor.lua(
        """
        vim.paste(vim.split(..., '\\n'), -1)
        local chat = require('winnow.registry').current()
        local effect = { type = 'meta', chat = chat.buf, values = { effort = 'low' } }
        require('winnow.dispatch').apply({ effect }) -- before any event tells of it
        """,
        text,
    )
    folded = "return vim.fn.foldclosedend(vim.fn.line('.')) - vim.fn.foldclosed(vim.fn.line('.'))"
    editor.wait(lambda: editor.lua(folded) == 59, "the fold")
    editor.wait_screen("line 0 │ 59 lines")
    editor.wait_screen("## You")
    editor.keys("zoo<Esc>")
    assert editor.lua("return vim.fn.foldclosed(vim.fn.line('.'))") == -1
    path = editor.sandbox.project / "my pic.png"
    editor.request("nvim_paste", str(path).replace(" ", "\\ "), True, -1)
    assert draft(editor).endswith(f'@"{path}"')


def test_a_link_that_leads_out_says_so(share: Share, desks: Desks) -> None:
    """A project may call a file of the user's README.md."""
    editor = share(desks(ScriptedDesk), size=(200, 30))
    project = editor.sandbox.project
    secret = project.parent / "secret"
    secret.write_text("key\n")
    (project / "README.md").symlink_to(secret)
    (project / "all").symlink_to(project.parent)
    (project / "here").write_text("x\n")
    (project / "near").symlink_to("here")
    editor.keys(":Winnow<CR>iSee @README.md @all/secret @near<Esc>")
    editor.wait_screen(f"→ README.md (leads to {secret}), ~1 token")
    editor.wait_screen(f"→ all/secret (leads to {secret}), ~1 token")
    editor.wait_screen("→ near, ~1 token")


def test_nothing_that_is_pasted_runs(editor: Editor) -> None:
    """Neither text that looks like the path of an image, nor a file of such a name."""
    mark = editor.sandbox.project / "mark"
    image = editor.sandbox.project / f"`touch {mark.name}`.png"
    image.write_bytes(b"x")
    editor.command("cd " + str(editor.sandbox.project))
    editor.keys(":Winnow<CR>i")
    for text in (f"~/`touch {mark}`.png", f"/{{a`touch {mark}`,b}}.png", str(image)):
        editor.request("nvim_paste", text, True, -1)
        editor.keys("<CR>")
    assert not mark.exists()
    assert f"~/`touch {mark}`.png" in editor.lines()
    assert f'@"{image}"' in draft(editor)


def test_the_list_has_what_is_sent(claude: Editor, api: ScriptedAPI) -> None:
    """`dd` takes a mention out of the draft; `gf` opens the instructions in force."""
    project(claude, {"CLAUDE.md": "Be brief.", "a.txt": "a", "b c.txt": "b"})
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys('iSee @a.txt and @"b c.txt":1<Esc>:Winnow context<CR>')
    claude.wait_line("@a.txt → a.txt, ~1 token")
    file = str(claude.sandbox.project / "CLAUDE.md")
    claude.wait_line(file)
    claude.wait_line("This session: ")
    claude.keys("gg/a.txt<CR>dd:w<CR>")
    claude.wait_gone("@a.txt")
    claude.keys("/CLAUDE.md<CR>gf")
    claude.wait(lambda: claude.text() == "Be brief.", "the file")
    claude.keys(":bwipeout<CR>:Winnow context<CR>gg/b c<CR><CR>")
    claude.wait(lambda: claude.text() == "b", "the file that is mentioned")
    claude.keys(":bwipeout<CR>:Winnow<CR>")
    claude.wait(lambda: draft(claude) == 'See and @"b c.txt":1', "a draft without it")


def test_what_is_drawn_below_a_line_comes_into_sight(editor: Editor) -> None:
    """At the end of the window, too, where it would cover the line's own last rows."""
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    words = " ".join(f"@{name}.txt" for name in "abcdef")
    editor.keys(f"30o<Esc>Gzbi{words} {'and so on ' * 6}")
    editor.wait_screen("@f.txt is not there")
    assert any(row.endswith("and so on") for row in editor.screen())


def test_what_is_handed_over_mentions_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """Neither a stranger's code nor the name of a file gets one of the user's sent along."""
    secret = claude.sandbox.project.parent / "secret.txt"
    secret.write_text("mine alone\n")
    code = f"# see @{secret} there\n"
    project(claude, {"evil.py": code, "a @../secret.txt": "x", "b.txt": "yes"})
    api.add(say("One."), say("Two."))
    for file, said in (("evil.py", "One."), ("a @../secret.txt", "Two.")):
        claude.lua("vim.cmd.edit({ ..., magic = { file = false } })", file)
        claude.keys(":1Winnow explain this, and @b.txt<CR>")
        claude.wait_line(said)
        wait_idle(claude)
    sent = json.dumps(api.requests[-1]["messages"])
    assert f"# see @{secret} there" in sent
    assert "yes" in sent
    assert "mine alone" not in sent


CODE = """~~~
@src/secret.py ```
~~~
- ```py
  @src/secret.py
  ```
- ```x``` and @src/a.py
```py
    ```py
    @src/secret.py
    ```
@src/secret.py
```
then @src/b.py"""


def test_all_that_is_a_block_of_code_mentions_nothing(claude: Editor, api: ScriptedAPI) -> None:
    """What stands outside does, below the mark of a list, and after code in a line."""
    project(claude, {f"src/{name}.py": f"of {name}" for name in ("a", "b", "secret")})
    api.add(say("I see."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.lua("vim.api.nvim_put(vim.split(..., '\\n'), 'c', true, true)", CODE)
    assert shown(claude, "src/a.py", "src/b.py") == ["→ src/a.py, ~1 token", "→ src/b.py, ~1 token"]
    claude.keys("<CR>")
    claude.wait_line("I see.")
    told = "\n".join(sent(api))
    assert "of a" in told
    assert "of b" in told
    assert "of secret" not in told


LINES = [
    *("x @m", "x", "> x @m", "```", "````", "~~~", "  ```", "    ```", "\t```", "- ```", "1. ~~~"),
    *("> ```", ">", "``` py", "```x``` @m", "~~~ `a` @m", "   x @m", "- x @m", "* - ```"),
]
MENTIONED = """
return vim.tbl_map(function(lines)
  return vim.tbl_map(function(one)
    return one.row
  end, require('winnow.context.mention').all(lines))
end, ...)
"""


def test_what_is_code_is_so_on_both_sides(editor: Editor) -> None:
    """Neovim draws what is mentioned, and the host has Claude Code look for no more."""
    chance = Random(7)
    texts = [chance.choices(LINES, k=chance.randrange(1, 12)) for _ in range(2000)]
    for lines, rows in zip(texts, editor.lua(MENTIONED, texts), strict=True):
        code = Fences.code(lines)
        assert rows == [n for n, line in enumerate(lines) if "@m" in line and not code[n]], lines
