"""Decisions: shown, exported, offered again, discussed and replayed, by a user's keys."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ask, question, say
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox
from tests.e2e.steps import send, start, wait_idle, wait_section

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", "MySQL", header="Database")
FEATURES = question("Which ones?", "Auth", "Logging", "Search", header="Features", multiple=True)
FOOT = r"gg/=0=f<CR>"  # keys that go to the foot of the open section
ANSWER: dict[str, object] = {
    "question": "Which database?",
    "options": ["PostgreSQL", "MongoDB", "MySQL"],
    "kept": ["MySQL"],
    "notes": "as ever",
}
ASKS = {"turns": [[{"type": "ask", "questions": [DATABASE]}, {"type": "say", "text": "End."}]]}

# Sends a message without any terminal, and prints the chat when the turn is over.
HEADLESS = """
vim.api.nvim_create_autocmd('User', { pattern = 'WinnowTurnEnd', callback = function(event)
  vim.schedule(function()
    io.stdout:write(table.concat(vim.api.nvim_buf_get_lines(event.data.buf, 0, -1, false), '\\n'))
    vim.cmd(event.data.stopped and 'cquit' or 'qall!')
  end)
end })
vim.cmd.Winnow()
vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'Hi' })
vim.cmd.Winnow('send')
"""


def answered(editor: Editor, api: ScriptedAPI, note: str = "") -> Editor:
    """A chat in which the user has chosen PostgreSQL."""
    api.add(say(ask("toolu_1", DATABASE)), say("Noted."))
    editor.resize(120, 40)  # a verdict with its offer fits on the foot
    start(editor)
    wait_section(editor, "Question: Database")
    editor.keys("jddddk")
    if note:
        editor.keys(f"A{note}<Esc>")
    editor.wait_screen("━━ PostgreSQL")
    editor.keys("<CR>")
    editor.wait_line("Noted.")
    wait_idle(editor)
    return editor


def ask_again(editor: Editor, api: ScriptedAPI, id: str = "toolu_2") -> None:
    """Let Claude ask the same question once more."""
    api.add(say(ask(id, DATABASE)), say("Again."))
    editor.keys("G")
    send(editor, "Once more")
    wait_section(editor, "Question: Database")


def options(editor: Editor) -> list[str]:
    """The labels that are left."""
    return [line.split(" — ")[0] for line in editor.lines() if " — about" in line]


def show(editor: Editor, args: str = "") -> str:
    """What `:Winnow decisions` shows; its window is closed again."""
    editor.keys(f":Winnow decisions {args}<CR>")
    editor.wait_line("# Decisions")
    editor.settle()
    shown = editor.text()
    assert editor.request("nvim_buf_get_name", 0) == "winnow://decisions"
    assert editor.lua("return vim.bo.filetype") == "markdown"
    editor.keys(":bwipeout<CR>")
    return shown


def test_an_answer_is_in_the_ledger(claude: Editor, api: ScriptedAPI) -> None:
    """With what was kept, dropped and noted, for the next Neovim, too."""
    answered(claude, api, note=" v16 only")
    chat = claude.lua("return vim.api.nvim_buf_get_name(0)")
    shown = show(claude, "POSTGRES")
    assert "\n> Which database?\n\n- ✓ PostgreSQL\n- ~~MongoDB~~\n- ~~MySQL~~\n" in shown
    assert "\nNote: v16 only\n" in shown
    assert f" in {chat}" in shown
    claude.keys(":Winnow<CR>")
    assert "PostgreSQL" in show(claude, "%")
    assert "PostgreSQL" not in show(claude, "no such thing")
    claude.restart()
    claude.keys(":Winnow decisions<CR>")
    claude.wait_line("- ✓ PostgreSQL")
    assert claude.lua("return #vim.api.nvim_list_wins()") == 1
    # No word is cut, and what was dropped has no signs around it.
    assert claude.lua("return { vim.wo.linebreak, vim.wo.conceallevel }") == [True, 2]


def test_permissions_are_in_the_ledger(editor: Editor) -> None:
    """With the call that was permitted or not."""
    permit = {"type": "permit", "name": "Bash", "input": {"command": "rm x"}, "output": ""}
    scenario(editor, [[permit]])
    start(editor)
    wait_section(editor, "Permission: Bash")
    editor.keys("gg/^Allow<CR>dd<CR>")
    wait_idle(editor)
    shown = show(editor)
    assert "## Permission: Bash\n" in shown
    assert "> rm x\n" in shown
    assert "- ✓ Deny\n- ~~Allow once~~\n" in shown


@pytest.mark.soak
def test_the_earlier_answer_is_offered(claude: Editor, api: ScriptedAPI) -> None:
    """The foot shows it; <CR> there takes it, `u` gives it back, and the next <CR> sends it."""
    answered(claude, api, note=" v16 only")
    ask_again(claude, api)
    claude.wait_screen("PostgreSQL (note: v16 only), <CR> here takes it")
    claude.keys("<CR>")  # on an option: the offer is not for there
    claude.wait_screen("3 left")
    claude.keys(FOOT + "<CR>")
    claude.wait_screen("━━ PostgreSQL (note: v16 only) ━")
    assert options(claude) == ["PostgreSQL"]
    assert claude.line().startswith("━━")
    assert len(api.requests) == 3
    claude.keys("u")
    claude.wait_screen("keep one of 3 · as on")
    assert options(claude) == ["PostgreSQL", "MongoDB", "MySQL"]
    claude.keys("<C-r>")
    claude.wait_screen("━━ PostgreSQL (note: v16 only) ━")
    claude.keys(FOOT + "<CR>")
    claude.wait_line("Again.")
    result = api.tool_result("toolu_2")
    assert '"Which database?"="PostgreSQL"' in result
    assert "notes: v16 only" in result
    assert not claude.was_shown("⟦")


def test_only_what_is_undecided_is_filled(claude: Editor, api: ScriptedAPI) -> None:
    """Of two questions one is decided anew, the other one takes the earlier answer."""
    both = ask("toolu_1", DATABASE, FEATURES)
    api.add(say(both), say("Noted."), say(ask("toolu_2", DATABASE, FEATURES)), say("Again."))
    claude.resize(120, 40)
    start(claude)
    wait_section(claude, "Question 1/2: Database")
    claude.keys("jdddd<CR>")
    claude.wait(lambda: claude.line().startswith("Auth"), "the second question")
    claude.keys("dd<CR>")
    claude.wait(lambda: claude.line().startswith("━━"), "the review")
    claude.keys("<CR>")
    claude.wait_line("Noted.")
    wait_idle(claude)
    send(claude, "Once more")
    wait_section(claude, "Question 1/2: Database")
    claude.keys("dddd")
    claude.wait_screen("Database → MySQL")
    claude.keys(FOOT + "<CR>")
    claude.wait_screen("Database → MySQL · Features → Logging, Search ━")
    claude.keys("<CR>")
    assert '"Which database?"="MySQL", "Which ones?"="Logging,Search"' in api.tool_result("toolu_2")


def test_a_question_is_discussed(claude: Editor, api: ScriptedAPI) -> None:
    """Claude reads the text and how far the user is, and asks again; the edits are offered."""
    api.add(
        say("Hm.", ask("toolu_1", DATABASE)), say("It is", ask("toolu_2", DATABASE)), say("Ok.")
    )
    claude.resize(120, 40)
    start(claude)
    wait_section(claude, "Question: Database")
    claude.keys("jddkA needs a server<Esc>")
    claude.wait_screen("keep one of 2")
    claude.keys(":Winnow discuss what about SQLite?<CR>")
    assert api.tool_result("toolu_1").startswith(
        "The user responded: The user wants to discuss this before deciding:\n\n"
        "what about SQLite?\n\nSo far:\n"
        "- Which database? not decided; dropped: MongoDB; PostgreSQL: needs a server\n\n"
        "Please clarify, then ask again. Keep the wording of whatever stays the same."
    )
    claude.wait_line("… Discussed: Database — what about SQLite?")
    claude.wait_line("It is")
    wait_section(claude, "Question: Database")
    claude.wait_screen("as you left it: PostgreSQL, MySQL, <CR> here takes it")
    claude.keys(FOOT + "<CR>")
    claude.wait_screen("keep one of 2")
    assert options(claude) == ["PostgreSQL", "MySQL"]
    claude.keys("gg/^MySQL<CR>dd")
    claude.wait_screen("━━ PostgreSQL (note: needs a server) ━")
    claude.keys("<CR>")
    claude.wait_line("Ok.")
    assert '"Which database?"="PostgreSQL" notes: needs a server' in api.tool_result("toolu_2")


def test_a_question_is_skipped_and_all_are_commented_on(claude: Editor, api: ScriptedAPI) -> None:
    """By deleting all of it, and by text at the foot; Claude reads both."""
    api.add(say("Hm.", ask("toolu_1", DATABASE, FEATURES)), say("Ok."))
    claude.resize(120, 40)
    start(claude)
    wait_section(claude, "Question 1/2: Database")
    claude.keys("gg/^MongoDB<CR>2dd")
    claude.wait_screen("Database → PostgreSQL")
    claude.keys("gg/^Which ones<CR>jd4d")
    claude.wait_screen("Features → nothing left: <CR> skips it")
    claude.keys("<CR>")
    claude.wait_screen("nothing left: <CR> again skips it")
    claude.keys("<CR>")
    claude.wait_screen("Features → skipped")
    claude.keys("Akeep it small<Esc>")
    claude.wait_screen("all of it: “keep it small”")
    claude.keys("<CR>")
    claude.wait_line("Ok.")
    result = api.tool_result("toolu_1")
    assert '"Which ones?"="(The user skipped this question.)"' in result
    assert "about all of these questions: keep it small" in json.dumps(api.requests[-1])
    at = claude.lines().index("✗ Skipped")
    assert claude.lines()[at - 1] == "**Features** Which ones?"
    assert "✎ All of it: “keep it small”" in claude.lines()


def test_what_can_not_be_discussed_is_said(editor: Editor) -> None:
    """One sentence; and the <Plug> map asks for the text."""
    editor.keys(":Winnow<CR>:Winnow discuss why<CR>")
    editor.wait_screen("there is no open section to discuss")
    send(editor, "Hi")
    wait_section(editor, "Question 1/2")
    editor.keys(":Winnow discuss<CR>")
    editor.wait_screen("say what to discuss")
    editor.lua("vim.keymap.set('n', '<F2>', '<Plug>(winnow-discuss)')")
    editor.keys("<F2><Esc><F2>why so?<CR>")
    editor.wait_line("… Discussed: Database, Features — why so?")


def test_decisions_are_exported(claude: Editor, api: ScriptedAPI, tmp_path: Path) -> None:
    """As numbered records, none overwritten or written twice, and as one JSON file."""
    answered(claude, api, note=" v16 only")
    folder = tmp_path / "adr"
    folder.mkdir()
    (folder / "0007-use-records.md").write_text("ours\n")
    claude.keys(f":Winnow decisions export {folder}<CR>")
    claude.wait_screen("1 new of 1 decisions exported")
    names = ["0007-use-records.md", "0008-database.md"]
    assert sorted(path.name for path in folder.iterdir()) == names
    record = (folder / names[1]).read_text()
    assert record.startswith("# Database: PostgreSQL\n\nStatus: accepted\n")
    assert record.endswith("## Alternatives\n\n- MongoDB\n- MySQL\n")
    claude.keys(f":Winnow decisions export {folder}<CR>")
    claude.wait_screen("0 new of 1 decisions exported")
    assert sorted(path.name for path in folder.iterdir()) == names

    file = tmp_path / "new" / "answers.json"
    claude.keys(f":Winnow decisions export {file}<CR>")
    claude.wait_screen("All decisions exported")
    (made,) = json.loads(file.read_text())
    assert (made["kept"], made["notes"]) == (["PostgreSQL"], "v16 only")
    claude.keys(f":Winnow decisions export {file}<CR>")
    claude.wait_screen("Not exported: EEXIST")
    assert json.loads(file.read_text()) == [made]


def test_an_export_that_can_not_be_written_is_told(editor: Editor) -> None:
    """Where a file is in the way of a folder, say so."""
    (editor.sandbox.project / "file").write_text("")
    for path in ("file", "file/all.json"):
        editor.command("messages clear")
        editor.keys(f":Winnow decisions export {path}<CR>")
        editor.wait_screen("Not exported: Cannot create directory")


def scenario(editor: Editor, turns: object) -> None:
    """Let the scripted agent play these turns."""
    editor.sandbox.scenario.write_text(json.dumps({"turns": turns}))


def headless(folder: Path, answers: object) -> subprocess.CompletedProcess[str]:
    """A chat in `nvim --headless` whose questions are answered from a file."""
    for name, value in {"answers.json": answers, "scenario.json": ASKS}.items():
        (folder / name).write_text(json.dumps(value))
    (folder / "run.lua").write_text(HEADLESS)
    options = {
        "agent": "scripted",
        "scenario": str(folder / "scenario.json"),
        "replay": str(folder / "answers.json"),
    }
    sandbox = Sandbox(folder / "headless", options)
    try:
        return subprocess.run(
            sandbox.argv("--headless", "-c", f"luafile {folder / 'run.lua'}"),
            env=sandbox.env,
            cwd=sandbox.project,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    finally:
        sandbox.close()


def test_a_replay_answers_in_a_headless_run(tmp_path: Path) -> None:
    """As the user had, with the usual record."""
    run = headless(tmp_path, [ANSWER])
    assert run.returncode == 0, run.stderr
    record = "✓ Selected: MySQL — as ever\n~~PostgreSQL~~ · ~~MongoDB~~\n↻ Replayed.\n\nEnd."
    assert record in run.stdout


@pytest.mark.parametrize(
    ("answers", "problem"),
    [([{**ANSWER, "question": "Which one?"}], ""), ({}, "The replay can't be read")],
    ids=["unknown", "broken"],
)
def test_a_replay_fails_on_an_unknown_question(
    tmp_path: Path, answers: object, problem: str
) -> None:
    """The turn stops, and both the chat and the error stream name the question."""
    run = headless(tmp_path, answers)
    assert run.returncode == 1
    sentence = "The replay has no answer to “Which database?”"
    assert f"⚠ {sentence}" in run.stdout
    assert "■ Stopped." in run.stdout
    assert sentence in run.stderr
    assert problem in run.stderr


@pytest.mark.fresh("session")
def test_old_questions_can_be_forgotten(editor: Editor) -> None:
    """With `keep_hours`, a question that was not answered is gone after that time."""
    scenario(editor, ASKS["turns"])
    start(editor)
    wait_section(editor, "Question: Database")
    editor.keys("<Esc><Esc>")
    editor.wait_line("asks again")
    editor.sandbox.options["keep_hours"] = 1e-9
    editor.restart()
    editor.keys(":Winnow<CR>")
    editor.keys("gg/asks again<CR><CR>")
    editor.wait_screen("not on record any more")


def test_decisions_complete(editor: Editor) -> None:
    """What the subcommand takes, and paths after `export`."""
    (editor.sandbox.project / "records").mkdir()
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert editor.lua(complete, "Winnow deci") == ["decisions"]
    assert editor.lua(complete, "Winnow decisions ") == ["%", "export"]
    assert editor.lua(complete, "Winnow decisions export rec") == ["records/"]
    assert editor.lua(complete, "Winnow discuss ") == []
