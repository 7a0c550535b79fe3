"""`u` and `<C-r>` walk every step of the user's edits of the draft, whatever the host writes."""

from __future__ import annotations

import pytest

from tests.api import Gate, ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, said, send, start, wait_idle, wait_section
from tests.e2e.test_stream import finish, streaming

pytestmark = pytest.mark.fresh("nothing")

WORDS = "ione<Esc>A two<Esc>A three<Esc>A four<Esc>"
STEPS = ["one two three four", "one two three", "one two", "one", ""]


def walked(claude: Editor, key: str, count: int) -> list[str]:
    """The draft after each of so many keys."""
    found = []
    for _ in range(count):
        claude.keys(key)
        found.append(draft(claude))
    return found


def test_a_deleted_line_comes_back(claude: Editor, api: ScriptedAPI) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ione<CR>two<CR>three<Esc>kdd")
    finish(claude, api, "Done.")
    assert draft(claude) == "one\nthree"
    claude.keys("u")
    assert draft(claude) == "one\ntwo\nthree"
    claude.keys("<C-r>")
    assert draft(claude) == "one\nthree"
    assert said(claude) == "Begun. Done."


@pytest.mark.fresh("chat")
def test_no_option_of_the_users_is_in_the_way(claude: Editor, api: ScriptedAPI) -> None:
    """As in `nvim -M`: a new buffer can't be changed, the copy that steps go through is one."""
    claude.keys(":set nomodifiable<CR>")
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS)
    finish(claude, api, "Done.")
    assert walked(claude, "u", 4) == STEPS[1:]


def test_all_steps_are_walked(claude: Editor, api: ScriptedAPI) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS)
    finish(claude, api, "Done.")
    assert walked(claude, "u", 4) == STEPS[1:]
    assert walked(claude, "<C-r>", 4) == STEPS[-2::-1]
    assert walked(claude, "g-", 2) == STEPS[1:3]
    claude.keys(":undo 0<CR>")
    assert draft(claude) == ""
    assert said(claude) == "Begun. Done."


def test_what_is_undone_can_still_be_redone(claude: Editor, api: ScriptedAPI) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS + "uuu")
    finish(claude, api, "Done.")
    assert draft(claude) == "one"
    assert walked(claude, "<C-r>", 3) == STEPS[2::-1]
    assert walked(claude, "u", 4) == STEPS[1:]


def test_branches_are_kept(claude: Editor, api: ScriptedAPI) -> None:
    """What was undone before something else was written is where `g-` finds it."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ione<Esc>A two<Esc>uA three<Esc>")
    finish(claude, api, "Done.")
    assert walked(claude, "g-", 3) == ["one two", "one", ""]
    assert walked(claude, "g+", 3) == ["one", "one two", "one three"]


@pytest.mark.parametrize("keys", ["qqA x<Esc>q3@q", "A x<Esc>3."])
def test_a_macro_s_steps(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(keys)
    steps = claude.lua("return #vim.fn.undotree().entries")
    texts = walked(claude, "u", steps)
    claude.keys("<C-r>" * steps)
    finish(claude, api, "Done.")
    assert walked(claude, "u", steps) == texts


def test_a_running_insert_is_one_step(claude: Editor, api: ScriptedAPI) -> None:
    """It goes on while text streams, and is taken back as a whole."""
    pieces = [f"piece {number}" for number in range(5)]
    api.add(say("Begun.", *[block for piece in pieces for block in (Gate(), f" {piece}")]))
    start(claude)
    claude.wait_line("Begun.")
    claude.keys("ione<Esc>A two")
    for piece in pieces:
        api.release()
        claude.wait_line(piece)
        claude.keys(f" {piece}")
    wait_idle(claude)
    claude.keys(" more<Esc>")
    text = " ".join(["one two", *pieces, "more"])
    assert draft(claude) == text
    assert walked(claude, "u", 2) == ["one", ""]
    assert walked(claude, "<C-r>", 2) == ["one", text]


def test_the_cursor_goes_where_it_was(claude: Editor, api: ScriptedAPI) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ione two three<CR>four<Esc>k0wx$")
    finish(claude, api, "Done.")
    claude.keys("G0u")
    assert claude.line() == "one two three"
    assert claude.cursor()[1] == len("one ")


def test_a_message_that_was_sent_comes_back(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("One."), say("Two."))
    start(claude, "first try")
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys("u")
    assert draft(claude) == "first try"
    assert said(claude) == "One."
    claude.keys("<C-r>")
    assert draft(claude) == ""


def test_steps_outlive_a_section(claude: Editor, api: ScriptedAPI) -> None:
    """Its own edits are taken back while it is open, then those of the draft."""
    fruit = question("Which fruit?", "Apple", "Pear", header="Fruit")
    api.add(say("Begun.", Gate(), ask("toolu_1", fruit)), say("So be it."))
    start(claude)
    claude.wait_line("Begun.")
    claude.keys(WORDS)
    api.release()
    wait_section(claude, "Question: Fruit")
    claude.keys("gg/^Apple<CR>dd")
    assert "Apple" not in claude.text().rpartition("Which fruit?")[2]
    claude.keys("u")
    claude.wait_line("Apple")
    claude.keys("gg/^Apple<CR>dd<CR>")
    claude.wait_line("So be it.")
    wait_idle(claude)
    assert walked(claude, "u", 4) == STEPS[1:]


@pytest.mark.fresh("session")
def test_steps_outlive_the_host_and_reading_anew(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("One."), say("Two."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys("G" + WORDS + ":Winnow restart<CR>:w<CR>:e!<CR>")
    send(claude, " five")
    claude.wait_line("Two.")
    assert walked(claude, "u", 2) == [STEPS[0] + " five", STEPS[0]]
    claude.keys("u" * 3)  # `:e!` is a step, too
    assert draft(claude) in STEPS


def test_an_emptied_draft_comes_back(claude: Editor, api: ScriptedAPI) -> None:
    """Without a line below its heading it heals, which is no step to get stuck at."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS + "0kdG")
    assert draft(claude) == ""
    finish(claude, api, "Done.")
    assert walked(claude, "u", 5) == STEPS
    assert walked(claude, "<C-r>", 5) == [*STEPS[-2::-1], ""]


@pytest.mark.parametrize("keys", ["ggdG", ":%d<CR>", "ggVGd"])
def test_all_of_a_chat_comes_back(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """Also after a save, which puts back the frontmatter alone, and it goes on as it was."""
    api.add(say("One."), say("Two."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    claude.keys(WORDS)
    before = claude.text()
    claude.keys(keys + ":w<CR>")
    assert "session:" in claude.text()
    assert "One." not in claude.text()
    claude.keys("u")
    assert claude.text() == before
    assert walked(claude, "u", 4) == STEPS[1:]
    assert walked(claude, "<C-r>", 4) == STEPS[-2::-1]
    claude.keys("G<CR>")
    claude.wait_line("Two.")
    assert STEPS[0] in str(api.requests[1]["messages"][-1]["content"])


@pytest.mark.parametrize("keys", ["ggdG", "GkdG"], ids=["with its heading", "the draft"])
def test_a_chat_is_emptied_while_text_streams(claude: Editor, api: ScriptedAPI, keys: str) -> None:
    """The draft's steps are there when the rest has come; that a heading came back is none."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS + keys)
    finish(claude, api, "Done.")
    assert walked(claude, "u", 5) == STEPS


def test_any_step_is_gone_to_by_its_number(claude: Editor, api: ScriptedAPI) -> None:
    """As `:undolist` and `undotree()` have them; keys that only move change nothing of it."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys(WORDS)
    finish(claude, api, "Done.")
    claude.keys("0wj<C-u>:let tree = undotree()<CR>")
    entries = claude.request("nvim_get_var", "tree")["entries"]
    numbers = [entry["seq"] for entry in entries[-4:]]  # after those of what was sent
    for number, text in ((1, "one two"), (3, STEPS[0]), (0, "one")):
        claude.keys(f":undo {numbers[number]}<CR>")
        assert draft(claude) == text
    claude.keys(":earlier 1<CR>")
    assert draft(claude) == ""
    claude.keys(":later 2<CR>")
    assert draft(claude) == "one two"
    assert said(claude) == "Begun. Done."


def test_what_was_joined_stays_one_step(claude: Editor, api: ScriptedAPI) -> None:
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ione<Esc>A two<Esc>:undojoin | normal A three<CR>A four<Esc>")
    finish(claude, api, "Done.")
    texts = ["one two three", "one", ""]
    assert walked(claude, "u", 3) == texts
    assert walked(claude, "<C-r>", 3) == [*texts[1::-1], STEPS[0]]


def test_steps_outlive_a_message_that_is_given_back(claude: Editor, api: ScriptedAPI) -> None:
    """What came back is a step of its own."""
    streaming(claude, api, "Begun.", " Done.")
    claude.keys("ione<Esc>A two<Esc>")
    claude.lua("""
      local chat = vim.api.nvim_get_current_buf()
      local refill = { type = 'refill', chat = chat, text = 'first', messages = {} }
      require('winnow.dispatch').apply({ refill })
    """)
    finish(claude, api, "Done.")
    back = "1▎first\n\none two"
    assert draft(claude) == back
    assert walked(claude, "u", 3) == ["one two", "one", ""]
    assert walked(claude, "<C-r>", 3) == ["one", "one two", back]
