"""Runs on the board and in the buffers of tasks, with the scripted orchestrator and its workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Open, Second
from tests.e2e.editor import Editor
from tests.e2e.steps import press_until

WAITS = "return #require('winnow.registry').current().pending"
RUN = Path(__file__).parents[2] / "python/winnow/scenarios/run.json"
WHOLE = """
  local section = require('winnow.registry').current().section
  return #require('winnow.section.seen').missing(section) == 0
"""


@pytest.fixture
def run(open_editor: Open) -> Editor:
    """A run in which one task asks the user, and another one wants a permission."""
    editor = open_editor(agent="scripted", scenario=str(RUN))
    editor.keys(":Winnow run Build the cart<CR>")
    editor.wait(lambda: editor.lua(WAITS) == 2, "two things wait")
    return editor


def board(editor: Editor) -> list[str]:
    """The lines of the board as they are seen."""
    lines = editor.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('winnow://board'), 0, -1, false)"
    )
    return [line.partition("⟦")[0] for line in lines]


def wait_board(editor: Editor, *texts: str) -> None:
    """Wait until one line of the board has all of these texts."""

    def shown() -> bool:
        return any(all(text in line for text in texts) for line in board(editor))

    editor.wait(shown, f"a line of the board with {texts}")


def test_the_board_shows_who_needs_the_user_first(run: Editor) -> None:
    """With the reason, and without markers."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "! t2 Tests · wants to: Bash pytest tests/cart")
    head, *tasks = board(run)
    assert head.startswith("━━ Build the cart · working · 2 need you · 0 of 3 done")
    assert [task[:4] for task in tasks] == ["? t1", "! t2", "○ t3"]
    assert "asks you: Which database shall the cart use?" in tasks[0]
    assert "blocked(dependency): waits for t1" in tasks[2]
    assert "⟦" not in "\n".join(run.screen())


def test_a_task_is_answered_in_its_buffer(run: Editor) -> None:
    """`<CR>` opens it; what is answered there is closed in the run's chat, and the task goes on."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg/t1<CR><CR>")
    run.wait_line("━━ Question: t1 Schema")
    run.wait_line("## Worker")
    text = run.text()
    assert text.index("━━ Question") < text.index("## Orchestrator") < text.index("## Worker")
    assert "Write the schema of the cart." in text
    run.keys("gg/SQLite<CR>dd")
    run.wait_line("━━")
    run.keys("<CR>")
    run.wait_line("The schema is for PostgreSQL.")
    text = run.text()
    assert "━━" not in text
    assert text.index("I need to know one thing.") < text.index("\nPostgreSQL\n")
    wait_board(run, "✓ t1 Schema · done: The schema is for PostgreSQL.")
    wait_board(run, "✓ t3 Docs · done")
    run.keys(":Winnow next<CR>")
    assert "Which database" not in "\n".join(
        line for line in run.text().split("\n") if line.startswith(("•", "━━"))
    )


def test_a_double_click_opens_a_task(run: Editor) -> None:
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg")
    row = next(at for at, line in enumerate(board(run)) if "t1 Schema" in line)
    win = run.lua("return vim.fn.win_screenpos(0)")
    for _ in range(2):
        run.request("nvim_input_mouse", "left", "press", "", 0, win[0] + row - 1, win[1] + 3)
        run.request("nvim_input_mouse", "left", "release", "", 0, win[0] + row - 1, win[1] + 3)
    run.wait_line("━━ Question: t1 Schema")


def test_a_permission_of_a_worker_stands_in_its_task_too(run: Editor) -> None:
    """Granted in the run's chat, it is gone from the task."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "! t2 Tests")
    run.keys("gg/t2<CR><CR>")
    run.wait_line("━━ Permission: Bash")
    run.wait(lambda: run.lua(WHOLE), "all of it on the screen")  # what was not seen is not allowed
    run.keys(":Winnow allow<CR>")
    run.wait_line("Tests are there.")
    assert "━━" not in run.text()
    wait_board(run, "✓ t2 Tests · done: Tests are there.")


def test_lines_are_tasks(run: Editor) -> None:
    """`dd` cancels, a new line is a task, `ddp` changes the order; nothing before `:w`."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "○ t3 Docs")
    run.keys("gg/t3<CR>dd")
    run.keys("oWrite the changelog<Esc>")
    assert "○ t3" not in "".join(board(run))
    run.keys(":w<CR>")
    wait_board(run, "t3 Docs · cancelled: by you")
    wait_board(run, "t4 Write the changelog")
    assert run.lua("return vim.bo.modified") is False


def test_work_is_not_stopped_without_asking(run: Editor) -> None:
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.lua("vim.fn.confirm = function(text) _G.asked = text return _G.answer end")
    run.lua("_G.answer = 2")
    run.keys("gg/t1<CR>dd:w<CR>")
    run.wait(lambda: run.lua("return _G.asked") == "Stop t1 “Schema”?", "it is asked")
    run.settle()
    assert run.lua("return vim.bo.modified") is True
    run.keys("u")  # all is as it was: the board shows again what happens
    run.wait(lambda: run.lua("return vim.bo.modified") is False, "it goes on")
    run.lua("_G.answer = 1")
    run.keys("gg/t1<CR>dd:w<CR>")
    wait_board(run, "– t1 Schema · cancelled: by you")
    run.keys(":Winnow next<CR>")
    shown = str(run.lua("return require('winnow.registry').current().section:lines()"))
    assert "Which database" not in shown
    assert "pytest" in shown


def test_a_question_is_handed_to_another_task(run: Editor) -> None:
    """From its line on the board; its section is gone."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    assert run.lua("return require('winnow.command').complete('', 'Winnow hand ')") == [
        *("t1", "t2", "t3")
    ]
    run.keys("gg/t1<CR>:Winnow hand t2<CR>")
    wait_board(run, "t1 Schema · blocked(input): asks t2: Which database")
    run.wait(lambda: run.lua(WAITS.replace("current()", "all()[1]")) == 1, "one thing waits")
    run.keys(":Winnow hand t1<CR>")
    run.wait(lambda: "t1 itself asks it" in run.messages(), "it says why not")


def test_a_run_is_stopped_and_goes_on(run: Editor) -> None:
    """By `dd` on its line, and a yes; its questions wait, and are answered meanwhile."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "! t2 Tests")
    run.lua("vim.fn.confirm = function(text) _G.asked = text return 1 end")
    run.keys("ggdd:w<CR>")
    wait_board(run, "━━ Build the cart · stopped · by you")
    assert run.lua("return _G.asked") == "Stop the whole run “Build the cart”?"
    wait_board(run, "? t1 Schema · asks you: Which database")
    wait_board(run, "○ t2 Tests · ready: its run is stopped")
    run.keys("gg/t1<CR><CR>")
    run.wait_line("━━ Question: t1 Schema")
    run.keys("GASQLite<Esc><CR>")
    wait_board(run, "○ t1 Schema · ready")
    run.keys(":wincmd p<CR>gg:Winnow run ++continue<CR>")
    wait_board(run, "━━ Build the cart · working")
    run.keys(":wincmd p<CR>")
    run.wait(lambda: "goes on with your answer" in run.text(), "it has the answer")
    run.assert_no_errors()  # what a script says then it has said before


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("gg/t1<CR>yyp", "is in line 2, too"),
        ("gg/t1<CR>Ax<Esc>", "the line of t1 was changed"),
    ],
)
def test_nonsense_does_nothing(run: Editor, keys: str, problem: str) -> None:
    """`:w` says the line, `u` brings it back."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    before = [line.rpartition(" · ")[0] for line in board(run)]
    run.keys(keys)
    run.keys(":w<CR>")
    run.wait(lambda: problem in run.messages(), problem)
    assert run.lua("return vim.bo.modified") is True
    run.keys("u")
    run.wait(lambda: [line.rpartition(" · ")[0] for line in board(run)] == before, "as it was")


def test_the_cursor_stays_on_its_task(run: Editor) -> None:
    """Also when that moves; and what the user edits stays until it is written."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "! t2 Tests")
    run.keys("gg/t1<CR><CR>")
    run.wait_line("━━ Question: t1 Schema")
    run.keys(":wincmd p<CR>gg/t3<CR>:wincmd p<CR>")
    run.keys("GASQLite<Esc><CR>")
    wait_board(run, "✓ t1 Schema · done")
    run.keys(":wincmd p<CR>")
    assert "t3 Docs" in run.line()


def test_what_is_written_in_a_task_goes_to_its_worker(run: Editor) -> None:
    """As an answer, if it is asked; the draft is empty then."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg/t1<CR><CR>")
    run.wait_line("━━ Question: t1 Schema")
    run.keys("GACassandra<Esc><CR>")
    run.wait_line("The schema is for Cassandra.")
    assert run.text().rstrip().endswith("## You")


def test_peeking_does_not_leave_the_board(run: Editor) -> None:
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg/t1<CR>K")
    run.wait_screen("I need to know one thing.")
    assert run.lua("return vim.api.nvim_buf_get_name(0)") == "winnow://board"


def test_the_line_of_a_run_leads_to_its_chat(run: Editor) -> None:
    name = run.lua("return vim.api.nvim_buf_get_name(0)")
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg<CR>")
    run.wait(lambda: run.lua("return vim.api.nvim_buf_get_name(0)") == name, "the run's chat")


def test_a_task_s_buffer_is_whole_after_a_restart(run: Editor) -> None:
    """Its conversation, what waits, and a draft."""
    run.keys(":Winnow board<CR>")
    wait_board(run, "? t1 Schema")
    run.keys("gg/t1<CR><CR>")
    run.wait_line("━━ Question: t1 Schema")
    run.keys("GAlater")
    run.keys("<Esc>:Winnow restart<CR>")
    run.wait(lambda: run.text().count("Write the schema of the cart.") == 1, "its transcript")
    run.wait_line("━━ Question: t1 Schema")
    assert run.text().count("━━ Question") == 1
    assert run.text().rstrip().endswith("later")


def test_a_file_from_elsewhere_is_no_task(run: Editor) -> None:
    """Whatever its frontmatter says: it is a chat of its own, and leads nothing."""
    id = run.lua("return require('winnow.views.timeline').run()")
    path = run.sandbox.project / "winnow/chats/stranger.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nwinnow: 1\nrun: {id}\ntask: t1\n---\n\n## You\n\nHello\n")
    run.keys(f":tabedit {path}<CR>")
    run.wait(lambda: run.lua("return require('winnow.registry').current() ~= nil"), "a chat")
    assert run.lua("return require('winnow.registry').current().task") is None
    run.keys("G<CR>")
    run.wait_line("## Claude")
    assert "Hello" in run.text()
    assert "Write the schema of the cart." not in run.text()


def test_a_second_neovim_reads_the_run(run: Editor, second: Second) -> None:
    """It says so, starts nothing and asks nothing; what it takes over goes on there, asked once."""
    path = run.lua("return require('winnow.registry').current().path")
    twin = second(run, path)
    twin.wait_screen("has this chat; :Winnow take takes over.")
    twin.keys("G<CR>:Winnow board<CR>")
    wait_board(twin, "? t1 Schema · asks you")
    twin.keys(":bdelete<CR>:Winnow take<CR>")
    twin.wait(lambda: twin.lua(WAITS) == 2, "two things wait")
    run.wait_screen("has this chat; :Winnow take takes over.")
    assert twin.text().count("━━ Question: t1 Schema") == 1
    twin.keys("gg/^SQLite<CR>dd")
    press_until(twin, "Selected: PostgreSQL")
    twin.wait_line("━━ Permission: Bash · t2 Tests")
    run.wait_line("Selected: PostgreSQL")
    assert run.lua(WAITS) == 0
