"""A chat from `:Winnow` to the answer that the agent reads, by the keys that a user types."""

from __future__ import annotations

import pytest

from tests.api import Gate, Message, ScriptedAPI, Text, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle, wait_section
from tests.e2e.terminal import Terminal
from tests.soaking import soak

pytestmark = pytest.mark.fresh("nothing")

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", "MySQL", header="Database")
FEATURES = question("Which ones?", "Auth", "Logging", "Search", header="Features", multiple=True)
MARKER = "⟦"


def asked(editor: Editor, api: ScriptedAPI) -> Editor:
    """A chat in which Claude has asked two questions in one call, and says so when answered."""
    api.add(say("Two things.", ask("toolu_1", DATABASE, FEATURES)), say("Noted."))
    editor.resize(100, 40)  # the section and what comes above it fit in
    start(editor, "Which store?")
    wait_section(editor, "Question 1/2: Database")
    return editor


def options(editor: Editor) -> list[str]:
    """The labels that are left."""
    return [line.split(" — ")[0] for line in editor.lines() if " — " in line]


def test_opens_a_chat_to_write_in(editor: Editor) -> None:
    """`:Winnow` shows a draft at once, and shows the same one again."""
    editor.keys(":Winnow<CR>")
    assert editor.lines()[-3:] == ["## You", "", ""]
    editor.keys("ihello<Esc>:Winnow<CR>")
    assert editor.line() == "hello"
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1


def test_the_answer_streams_in_above_the_draft(claude: Editor, api: ScriptedAPI) -> None:
    """What Claude says appears piece by piece, and what the user types meanwhile stays theirs."""
    api.add(Message([Text(chunks=["Hel", "lo."]), Gate(), Text("Good", chunks=["Good", "bye."])]))
    claude.keys(":Winnow<CR>")
    send(claude, "Hi")
    claude.wait_line("Hello.")
    claude.keys("inext thing")
    api.release()
    claude.wait_line("Goodbye.")
    assert claude.mode() == "i"
    assert claude.line() == "next thing"
    claude.keys(" to do<Esc>")
    said, _, draft = claude.text().rpartition("## You")
    assert "## You\n\nHi\n\n## Claude\n\nHello." in said
    assert draft.strip() == "next thing to do"
    claude.keys("u")
    assert "Goodbye." in claude.text()


def test_what_is_left_is_the_answer(claude: Editor, api: ScriptedAPI) -> None:
    """Two questions, answered with `dd` and `<CR>`: Claude reads just what was kept."""
    asked(claude, api)
    claude.keys("jdddd<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the second question")
    claude.keys("jdd<CR>")
    claude.wait(lambda: claude.line().startswith("━━"), "the review")
    claude.wait_screen("Database → PostgreSQL · Features → Auth, Search")
    claude.keys("<CR>")
    answers = '"Which database?"="PostgreSQL", "Which ones?"="Auth,Search".'
    assert f"Your questions have been answered: {answers}" in api.tool_result("toolu_1")
    claude.wait_line("Noted.")
    assert any("✓" in row and "PostgreSQL" in row for row in claude.screen())
    assert not claude.was_shown(MARKER)


def test_undo_brings_an_option_back(claude: Editor, api: ScriptedAPI) -> None:
    """A deletion is a step of undo like any other, and the verdict follows."""
    asked(claude, api)
    claude.keys("2dd")
    claude.wait_screen("Database → MySQL")
    claude.keys("u")
    claude.wait_screen("Database → keep one of 3")
    assert options(claude)[:3] == ["PostgreSQL", "MongoDB", "MySQL"]


def test_an_undecided_question_stays(claude: Editor, api: ScriptedAPI) -> None:
    """`<CR>` with several single-choice options left sends nothing and says what is missing."""
    asked(claude, api)
    claude.keys("dd<CR>")
    claude.wait_screen("2 left")
    assert len(api.requests) == 1
    assert options(claude)[:2] == ["MongoDB", "MySQL"]


def test_escape_cancels(claude: Editor, api: ScriptedAPI) -> None:
    """`<Esc><Esc>` in the section ends the turn; the CLI tells Claude so with the next message."""
    asked(claude, api)
    claude.keys("<Esc><Esc>")
    claude.wait_gone("Question 1/2")
    assert len(api.requests) == 1
    claude.keys("G")
    send(claude, "Let us go on")
    claude.wait_line("Noted.")
    assert "doesn't want to proceed" in api.tool_result("toolu_1")
    assert "interrupted by user" in str(api.requests[1]["messages"])


def test_a_cancelled_question_can_still_be_answered(claude: Editor, api: ScriptedAPI) -> None:
    """`<CR>` on the record of a cancelled question opens it again, and its answer goes out late."""
    asked(claude, api)
    claude.keys("<Esc><Esc>")
    claude.wait_gone("Question 1/2")
    claude.keys("gg/asks again<CR><CR>")
    wait_section(claude, "Question 1/2: Database")
    claude.keys("gg/^PostgreSQL<CR>jdddd")
    claude.wait_screen("Database → PostgreSQL")
    claude.keys("<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the second question")
    claude.keys("2dd<CR>")
    claude.wait(lambda: claude.line().startswith("━━"), "the review")
    claude.keys("<CR>")
    claude.wait_line("Noted.")
    late = "".join(part.get("text", "") for part in api.requests[1]["messages"][-1]["content"])
    assert "Which database?\n\nAnswer: PostgreSQL\n" in late
    assert "Which ones?\n\nAnswer: Search\n" in late


def test_escape_elsewhere_is_vims(claude: Editor, api: ScriptedAPI) -> None:
    """A reflexive <Esc> threw the question away, or what was typed (microsoft/vscode#319557)."""
    asked(claude, api)
    for keys in ("A note<Esc>", "v<Esc>", "d<Esc>", "/MySQL<Esc>", ":<Esc>", "f<Esc>", "G<Esc>"):
        claude.keys(keys)
        assert claude.mode() == "n"
    claude.keys("/^MySQL<CR>dd")
    claude.wait_screen("keep one of 2")
    assert len(options(claude)) == 5


def test_markers_are_never_seen(claude: Editor, api: ScriptedAPI) -> None:
    """Markers are hidden on the cursor's line, in every mode, in every window, after any edit."""
    asked(claude, api)
    for keys in ("j", "A note", "i", "V", "ddu", "yyp", "<C-w>s", "<C-w>vA", ":tab split<CR>"):
        claude.keys(keys)
        assert any("PostgreSQL" in row for row in claude.screen())
        assert not claude.was_shown(MARKER), keys
        claude.keys("<C-Bslash><C-n>")
    assert MARKER in claude.text()


def test_the_tour_in_a_terminal(terminal: Terminal) -> None:
    """In a real terminal the scripted agent asks, is answered, and no marker is ever seen."""
    terminal.keys(":Winnow<CR>")
    terminal.wait_screen("## You")
    terminal.keys("ihello<Esc>")
    terminal.wait_line("hello")
    terminal.keys("<CR>")
    wait_section(terminal, "Question 1/2: Database")
    terminal.keys("jdddd")
    terminal.wait_screen("Database → PostgreSQL")
    terminal.keys("<CR>")
    terminal.wait(lambda: terminal.line().startswith("Auth"), "the second question")
    terminal.keys("dd<CR>")
    terminal.wait(lambda: terminal.line().startswith("━━"), "the review")
    terminal.keys("<CR>")
    terminal.wait_line("Features: **Logging, Payments, Search**")
    terminal.wait_screen("Database: ")
    assert not terminal.was_shown(MARKER)


def test_text_on_the_heading_is_part_of_the_draft(claude: Editor, api: ScriptedAPI) -> None:
    """What was appended to `## You` itself is sent, too, and the heading is whole again."""
    api.add(say("Hello."))
    claude.keys(":Winnow<CR>")
    claude.keys("kkA one<Esc>jotwo<Esc><CR>")
    claude.wait_line("Hello.")
    assert r"one\n\ntwo" in str(api.request(0)["messages"])
    assert "## You\n\none\n\ntwo\n\n## Claude" in claude.text()


@pytest.mark.fresh("chat")
@pytest.mark.parametrize(
    "again",
    ["", *soak("edit!", "let chat = expand('%:p') | enew | bwipeout # | execute 'edit' chat")],
)
@pytest.mark.parametrize("turns", [0, 1])
def test_a_draft_with_a_heading_is_sent_whole(
    claude: Editor, api: ScriptedAPI, again: str, turns: int
) -> None:
    """Also when its chat was read anew."""
    claude.keys(":Winnow<CR>")
    for number in range(turns):
        api.add(say(f"Hello {number}."))
        send(claude, "Hi")
        claude.wait_line(f"Hello {number}.")
        wait_idle(claude)
    api.add(say("Goodbye."))
    claude.keys("Asee<CR>## You<CR>and that<Esc>")
    claude.command("silent write | " + again)
    claude.keys("G<CR>")
    claude.wait_line("Goodbye.")
    assert r"see\n## You\nand that" in str(api.request(turns)["messages"])


def test_an_explanation_goes_with_its_question(claude: Editor, api: ScriptedAPI) -> None:
    """What a <CR> explained does not stay on the message line when the next one has decided."""
    api.add(say(ask("toolu_1", DATABASE)), say("Noted."))
    claude.keys(":Winnow<CR>")
    send(claude, "Which store?")
    wait_section(claude, "Question")
    claude.keys("<CR>")
    claude.wait_screen("<CR> again keeps only PostgreSQL")
    claude.keys("<CR>")
    claude.wait_line("Noted.")
    assert not any("again keeps" in row for row in claude.screen())
