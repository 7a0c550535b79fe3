"""Permission modes: what is asked at all, who changes that, and where it can be seen."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.api import Failure, Gate, ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle, wait_section
from tests.e2e.test_resume import chat_file
from tests.soaking import first, soak

FRUIT = question("Which fruit?", "Apple", "Pear", header="Fruit")
MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]


@pytest.fixture(autouse=True)
def wide(claude: Editor) -> None:
    """Room for a whole section."""
    claude.resize(110, 44)


def bash(command: str, id: str = "b1") -> ToolUse:
    return ToolUse("Bash", {"command": command}, id)


def write(claude: Editor, name: str = "made", id: str = "w1") -> ToolUse:
    path = str(claude.sandbox.project / name)
    return ToolUse("Write", {"file_path": path, "content": "x\n"}, id)


def made(claude: Editor, name: str = "made") -> bool:
    return (claude.sandbox.project / name).exists()


def set_mode(claude: Editor, name: str) -> None:
    """Set it, and wait until everybody knows it."""
    claude.keys(f":Winnow mode {name}<CR>")
    if name == "bypassPermissions":
        claude.keys("y")
    wait_mode(claude, name)


def wait_mode(claude: Editor, name: str) -> None:
    """The frontmatter and the statusline tell the mode."""
    claude.wait_line(f"mode: {name}")
    wait_status(claude, name)


def wait_status(claude: Editor, name: str) -> None:
    """The statusline tells the mode, unless it is the usual one."""

    def said() -> bool:
        words = claude.lua("return require('winnow').statusline()").split()
        return [word for word in words if word in MODES] == [name][name == "default" :]

    claude.wait(said, f"the mode {name} in the statusline")


def rules(claude: Editor, file: str, **permissions: object) -> None:
    """Write a settings file, whose path is the project's or starts at the user's folder."""
    path = claude.sandbox.project / ".claude" / file
    if file == "user":
        path = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"]) / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"permissions": permissions}))


# --- :Winnow mode -----------------------------------------------------------------------------


def test_modes_are_completed(claude: Editor) -> None:
    """All six, by their first letters, too."""
    claude.keys(":Winnow<CR>")
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert claude.lua(complete, "Winnow mode ") == MODES
    assert claude.lua(complete, "Winnow mode a") == ["acceptEdits", "auto"]
    assert claude.lua(complete, "Winnow mode plan ") == []
    claude.keys(":Winnow mode dont<Tab><CR>")
    wait_mode(claude, "dontAsk")


@pytest.mark.parametrize("name", first(1, ["bogus", "Plan", "plan now"]))
def test_an_unknown_mode_is_refused(claude: Editor, api: ScriptedAPI, name: str) -> None:
    """It says which there are, and nothing changes."""
    claude.keys(f":Winnow<CR>:Winnow mode {name}<CR>")
    claude.wait(lambda: f"there is no mode {name}: it is one of default" in claude.messages(), "it")
    assert "mode: default" in claude.lines()


@pytest.mark.parametrize("name", [MODES[1], MODES[-1], *soak(MODES[0], *MODES[2:-1])])
def test_every_mode_is_taken_and_told(claude: Editor, api: ScriptedAPI, name: str) -> None:
    """Claude Code takes it, and the frontmatter and the statusline show what it says."""
    api.add(say("One."), say("Two."), say("Three."))
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    set_mode(claude, name)
    claude.keys("G")
    send(claude, "next")
    claude.wait_line("Two.")
    wait_idle(claude)
    wait_mode(claude, name)
    set_mode(claude, "default")
    claude.keys("G")
    send(claude, "next")
    claude.wait_line("Three.")
    wait_idle(claude)
    wait_mode(claude, "default")
    assert "⚠" not in claude.text()


def test_a_mode_is_set_before_the_first_prompt(claude: Editor, api: ScriptedAPI) -> None:
    """While Claude Code is starting: what it starts with does not count any more."""
    api.add(say(write(claude)), say("Done."))
    claude.keys(":Winnow<CR>:Winnow mode acceptEdits<CR>")
    send(claude, "Hi")
    claude.wait_line("Done.")
    assert made(claude)
    wait_mode(claude, "acceptEdits")


def test_a_mode_is_set_when_connected(claude: Editor, api: ScriptedAPI) -> None:
    """But before the first prompt."""
    api.add(say(write(claude)), say("Done."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    set_mode(claude, "acceptEdits")
    send(claude, "Hi")
    claude.wait_line("Done.")
    assert made(claude)


@pytest.mark.soak
def test_a_mode_is_set_after_a_failure(claude: Editor, api: ScriptedAPI) -> None:
    """After one of the API, and after the end of Claude Code."""
    api.add(Failure(500), say(write(claude)), say("Done."))
    start(claude)
    claude.wait_line("⚠")
    wait_idle(claude)
    set_mode(claude, "acceptEdits")
    claude.keys("G")
    send(claude, "again")
    claude.wait_line("Done.")
    assert made(claude)
    wait_idle(claude)
    [cli] = [pid for pid, line in claude.sandbox.processes().items() if "_bundled/claude" in line]
    os.kill(cli, 9)
    claude.wait(
        lambda: claude.lua("return require('winnow.registry').current().state") != "idle", "its end"
    )
    set_mode(claude, "dontAsk")
    api.add(say(bash("touch no")), say("Refused."))
    claude.keys("G")
    send(claude, "run")
    claude.wait_line("Refused.")
    assert not made(claude, "no")
    wait_mode(claude, "dontAsk")


# --- what they do -----------------------------------------------------------------------------


@pytest.mark.soak
def test_default_asks(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say(write(claude)), say("Done."))
    start(claude)
    wait_section(claude, "Patch")
    assert not made(claude)
    claude.keys("<CR><CR>")
    claude.wait_line("Done.")
    assert made(claude)


@pytest.mark.soak
def test_accept_edits_asks_for_commands_only(claude: Editor, api: ScriptedAPI) -> None:
    api.add(
        say(write(claude)), say(bash(f'{sys.executable} -c \'open("run", "w")\'')), say("Done.")
    )
    claude.keys(":Winnow<CR>")
    set_mode(claude, "acceptEdits")
    send(claude, "Hi")
    wait_section(claude, "Permission: Bash")
    assert made(claude)
    assert not made(claude, "run")
    assert any(line.startswith("▸ Write") and "✓" in line for line in claude.lines())
    claude.keys("<CR><CR>")
    claude.wait_line("Done.")


def test_plan_tells_claude_to_plan(claude: Editor, api: ScriptedAPI) -> None:
    """And still asks before anything is written."""
    api.add(say(write(claude)), say("Done."))
    claude.keys(":Winnow<CR>")
    set_mode(claude, "plan")
    send(claude, "Hi")
    wait_section(claude, "Patch")
    assert "Plan mode is active" in json.dumps(api.requests[0])
    claude.keys(":Winnow deny<CR>")
    claude.wait_line("Done.")
    assert not made(claude)


def test_dont_ask_denies_and_says_so(claude: Editor, api: ScriptedAPI) -> None:
    """What a rule allows runs."""
    rules(claude, "user", allow=["Bash(touch ok)"])
    api.add(say(bash("touch ok", "b0")), say(bash("touch no")), say("Done."))
    claude.keys(":Winnow<CR>")
    set_mode(claude, "dontAsk")
    send(claude, "Hi")
    claude.wait_line("Done.")
    assert (made(claude, "ok"), made(claude, "no")) == (True, False)
    assert "denied" in api.tool_result("b1")
    claude.wait_line("⚠ Permission to use Bash has been denied because Claude Code is running in")
    assert "`:Winnow mode default` asks again" in claude.text()


def test_a_mode_changes_in_the_middle_of_a_turn(claude: Editor, api: ScriptedAPI) -> None:
    """What comes next goes by it; what waits still waits, and the frontmatter with it."""
    api.add(say(write(claude, "one", "w1")), say(write(claude, "two", "w2")), say("Done."))
    start(claude)
    wait_section(claude, "Patch")
    claude.keys(":Winnow mode acceptEdits<CR>")
    wait_status(claude, "acceptEdits")
    assert not made(claude, "one")
    claude.keys("gg/^Allow once<CR><CR><CR>")
    claude.wait_line("Done.")
    assert made(claude, "one")
    assert made(claude, "two")
    wait_mode(claude, "acceptEdits")


def test_a_mode_changes_while_claude_speaks(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say("Wait…", Gate(), write(claude)), say("Done."))
    start(claude)
    claude.wait_line("Wait…")
    set_mode(claude, "acceptEdits")
    api.release()
    claude.wait_line("Done.")
    assert made(claude)


def test_claude_enters_plan_mode_itself(claude: Editor, api: ScriptedAPI) -> None:
    """It needs no permission, but is shown; the plan that is approved ends it."""
    api.add(
        say(ToolUse("EnterPlanMode", {}, "e1")),
        say("Hm.", ToolUse("ExitPlanMode", {"plan": "1. go"}, "p1")),
        say("Go."),
    )
    start(claude)
    wait_section(claude, "Plan")
    wait_mode(claude, "plan")
    claude.keys("gg/^Approve, accept<CR><CR><CR>")
    claude.wait_line("Go.")
    wait_mode(claude, "acceptEdits")


# --- what stays -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "after"), first(1, [("acceptEdits", "acceptEdits"), ("bypassPermissions", "default")])
)
def test_the_mode_survives_reopening(
    claude: Editor, api: ScriptedAPI, name: str, after: str
) -> None:
    """Except the one that asks nothing."""
    api.add(say("One."), say(write(claude)), say("Done."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    set_mode(claude, name)
    send(claude, "Hi")
    claude.wait_line("One.")
    wait_idle(claude)
    claude.restart(str(chat_file(claude)))
    claude.keys("G")
    send(claude, "again")
    if after == "default":
        wait_section(claude, "Patch")
        assert not made(claude)
    else:
        claude.wait_line("Done.")
        assert made(claude)
    wait_mode(claude, after)


@pytest.mark.soak
def test_a_mode_that_does_not_exist_is_none(claude: Editor, api: ScriptedAPI) -> None:
    """Claude Code would not start with it."""
    api.add(say("One."))
    claude.keys(":Winnow<CR>Adraft<Esc>")
    wait_idle(claude)
    path = chat_file(claude)
    claude.restart()
    path.write_text(path.read_text().replace("mode: default", "mode: bogus"))
    claude.keys(f":edit {path}<CR>Gcc<Esc>")
    send(claude, "Hi")
    claude.wait_line("One.")
    wait_mode(claude, "default")


@pytest.mark.soak
def test_default_is_the_mode_that_was_chosen(claude: Editor, api: ScriptedAPI) -> None:
    """Though Claude Code's own settings name another one, also after reopening."""
    rules(claude, "user", defaultMode="acceptEdits")
    api.add(say(write(claude, "one")), say("One."), say(write(claude, "two", "w2")), say("Two."))
    start(claude)
    claude.wait_line("One.")
    assert made(claude, "one")
    wait_idle(claude)
    wait_mode(claude, "acceptEdits")
    set_mode(claude, "default")
    claude.restart(str(chat_file(claude)))
    claude.keys("G")
    send(claude, "again")
    wait_section(claude, "Patch")
    assert not made(claude, "two")
    wait_mode(claude, "default")


# --- rules ------------------------------------------------------------------------------------


def test_rules_are_shown_and_hold(claude: Editor, api: ScriptedAPI) -> None:
    """Of the user, the project, the project's user and the session, in a float."""
    rules(claude, "user", allow=["Bash(touch ok)"])
    rules(claude, "settings.json", deny=["Bash(touch no)"])
    rules(claude, "settings.local.json", ask=["Bash(echo *)"])
    api.add(
        say(bash("touch ok", "b1")),
        say(bash("touch no", "b2")),
        say(bash("echo x", "b3")),
        say(bash("touch other", "b4")),
        say("Done."),
    )
    start(claude)
    wait_section(claude, "Permission: Bash")
    assert made(claude, "ok")
    assert not made(claude, "no")
    assert "denied" in api.tool_result("b2")
    assert "echo x" in claude.lines()
    claude.keys("gg/^Allow once<CR><CR><CR>")
    claude.wait_line("touch other")
    wait_section(claude, "Permission: Bash")
    claude.keys(":Winnow mode<CR>")
    claude.wait_screen("│mode: default")
    for line in (
        "allow Bash(touch ok) · all your projects",
        "deny Bash(touch no) · this project, for everybody",
        "ask Bash(echo *) · this project, for you",
    ):
        claude.wait_screen(line)
    floats = "return #vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative"
    assert claude.lua(floats + " ~= '' end, vim.api.nvim_list_wins())") == 1
    claude.keys(":Winnow mode<CR>")
    claude.wait(lambda: claude.lines()[0] == "mode: default", "the cursor in the float")
    claude.keys("q")
    claude.keys(":Winnow always<CR>")
    claude.wait_line("Done.")
    wait_idle(claude)
    claude.keys(":Winnow mode<CR>")
    claude.wait_screen("allow Bash(touch other *) · this session")  # then by :Winnow trust


@pytest.mark.soak
def test_rules_that_do_not_hold_are_not_shown(claude: Editor, api: ScriptedAPI) -> None:
    """What the user did not trust is not there, but what restricts."""
    rules(claude, "settings.json", allow=["Bash(touch ok)"], deny=["Bash(touch no)"])
    api.add(say(bash("touch ok")), say("Done."))
    start(claude)
    wait_section(claude, "Trust")
    claude.keys("gg/^Go on<CR><CR><CR>")
    wait_section(claude, "Permission: Bash")
    assert not made(claude, "ok")
    claude.keys(":Winnow mode<CR>")
    claude.wait_screen("│deny Bash(touch no) · this project, as you decided here")
    assert not any("│allow" in row for row in claude.screen())


def test_no_rules_are_said_too(claude: Editor) -> None:
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys(":Winnow mode<CR>")
    claude.wait_screen("│mode: default")
    claude.wait_screen("No rules are in force.")


def test_rules_of_a_chat_that_sleeps(claude: Editor) -> None:
    """They can be told only by Claude Code, which then does not run."""
    path = claude.sandbox.root / "elsewhere" / "winnow" / "chats" / "20200101-000000-a.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nwinnow: 1\n---\n\n## You\n\n")
    claude.restart(str(path))
    claude.keys(":Winnow mode<CR>")
    claude.wait_screen("Claude is not connected")


# --- bypassPermissions ------------------------------------------------------------------------


@pytest.mark.parametrize("answer", first(1, ["n", "<CR>", "<Esc>"]))
def test_bypass_asks_once_and_no_is_the_default(claude: Editor, answer: str) -> None:
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys(":Winnow mode bypassPermissions<CR>")
    claude.wait_screen("Claude will run everything without asking, questions excepted. Go on?")
    claude.keys(answer)
    wait_mode(claude, "default")


def test_bypass_runs_everything_but_questions(claude: Editor, api: ScriptedAPI) -> None:
    """Until it is left again."""
    api.add(
        say(bash("touch one", "b1"), write(claude)),
        say(ask("q1", FRUIT)),
        say("One."),
        say(bash("touch two", "b2")),
        say("Two."),
    )
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    set_mode(claude, "bypassPermissions")
    send(claude, "Hi")
    wait_section(claude, "Question: Fruit")
    assert made(claude, "one")
    assert made(claude)
    claude.keys("gg/^Apple<CR>dd<CR>")
    claude.wait_line("One.")
    assert "Pear" in api.tool_result("q1")
    wait_idle(claude)
    wait_mode(claude, "bypassPermissions")
    set_mode(claude, "default")
    claude.keys("G")
    send(claude, "Hi")
    wait_section(claude, "Permission: Bash")
    assert not made(claude, "two")
    claude.keys("<CR><CR>")
    claude.wait_line("Two.")
    assert "One." in json.dumps(api.requests[-1])  # still the same conversation


@pytest.mark.soak
def test_bypass_does_not_start_in_a_turn(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say(bash("touch one")), say("One."))
    start(claude)
    wait_section(claude, "Permission: Bash")
    claude.keys(":Winnow mode bypassPermissions<CR>y")
    claude.wait_screen("starts and ends between two turns")
    assert not made(claude, "one")
    wait_mode(claude, "default")


@pytest.mark.parametrize("file", first(1, ["settings.json", "settings.local.json"]))
def test_a_projects_file_does_not_bypass(claude: Editor, api: ScriptedAPI, file: str) -> None:
    """A checkout that names the mode gets none."""
    rules(claude, file, defaultMode="bypassPermissions")
    api.add(say(bash("touch one")), say("One."))
    start(claude)
    wait_section(claude, "Trust")
    claude.keys("gg/^Trust<CR><CR><CR>")
    wait_section(claude, "Permission: Bash")
    assert not made(claude, "one")


@pytest.mark.soak
def test_the_users_configuration_may_bypass(claude: Editor, api: ScriptedAPI) -> None:
    """It is theirs."""
    claude.configure(mode="bypassPermissions")
    api.add(say(bash("touch one")), say("One."))
    start(claude)
    claude.wait_line("One.")
    assert made(claude, "one")
    wait_mode(claude, "bypassPermissions")


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may not")
def test_root_is_told_how_to_go_on(open_editor: Open, api: ScriptedAPI, tmp_path: Path) -> None:
    """Outside of a sandbox; the message that was to be sent is kept."""
    claude = open_editor(agent="claude", env=api.env(tmp_path / "claude2"))
    claude.resize(110, 44)
    api.add(say(bash("touch one")), say("One."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.keys(":Winnow mode bypassPermissions<CR>y")
    claude.wait_line("⚠ Claude Code does not allow the mode bypassPermissions for root")
    claude.keys("G")
    set_mode(claude, "default")
    send(claude, "Hi")
    wait_section(claude, "Permission: Bash")
    assert not made(claude, "one")
