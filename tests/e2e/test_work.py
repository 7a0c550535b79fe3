"""Subagents, commands in the background, and the list of what runs."""

from __future__ import annotations

import re

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle

HEARD = """
_G.ends = {}
vim.api.nvim_create_autocmd('User', { pattern = 'WinnowTaskEnd', callback = function(event)
  table.insert(_G.ends, event.data.how)
end })
"""
STATE = "return require('winnow.registry').current().state"
COUNTED = "return vim.iter(require('winnow.registry').current().tools):filter(function(_, tool)"
COUNTED += " return tool.since ~= nil end):totable()"
WAIT = "until [ -e stop ]; do sleep 0.1; done; echo whole"


def bash(id: str, command: str, **more: object) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": f"do {id}", **more}, id)


def plain(editor: Editor) -> list[str]:
    """The lines of the current buffer without markers."""
    return [line.partition("⟦")[0] for line in editor.lines()]


def test_what_runs_in_the_background_is_seen_stopped_and_told_once(
    claude: Editor, api: ScriptedAPI
) -> None:
    claude.configure(mode="bypassPermissions")
    claude.resize(100, 40)  # so that the statusline has room for all of it
    claude.lua(HEARD)
    api.on("Go on", say(bash("t1", f"echo up; {WAIT}", run_in_background=True)), say("It runs."))
    start(claude, "Go on")
    claude.wait_screen("idle · 1 in background")
    assert claude.lua("return require('winnow').statusline()").startswith("idle · 1 in background")
    claude.keys(":Winnow tasks<CR>")
    claude.wait(lambda: any("· up" in line for line in plain(claude)), "what it has said")
    assert re.match(r"▸ do t1 · \d+ s · up", plain(claude)[1])
    assert claude.lua("return vim.wo.wrap"), "what it has said is read whole"
    claude.keys("2GK")
    claude.wait_screen("│do t1 ")
    line = claude.line()
    claude.wait(lambda: claude.line() != line, "the next second")
    claude.keys("")
    assert "│do t1 " in "\n".join(claude.screen())
    claude.keys("2Gdd:w<CR>")
    claude.wait_screen("Stop do t1?")
    claude.keys("y")
    claude.wait(lambda: claude.lua("return _G.ends") == ["stopped"], "its end")
    claude.wait(lambda: any("✗ do t1" in line for line in plain(claude)), "what has ended")
    claude.keys(":Winnow<CR>")
    claude.wait_line("▸ Background do t1 · stopped after")
    wait_idle(claude)
    text = claude.text()
    assert text.count("Background do t1") == 1
    assert re.search(r"^▸ Bash echo up; .* ✗ \d+ s$", text, re.MULTILINE)
    assert "in background" not in "\n".join(claude.screen())


def test_a_running_command_is_sent_to_the_background(claude: Editor, api: ScriptedAPI) -> None:
    """The turn goes on, and its end is told."""
    claude.configure(mode="bypassPermissions")
    api.on("Go on", say(bash("t1", WAIT)), say("It runs."), say("I heard."))
    start(claude, "Go on")
    claude.wait_line("▸ Bash until")
    running = re.compile(r"▸ Bash until .* … \d s")
    claude.wait(lambda: any(running.match(row) for row in claude.screen()), "since when")
    claude.keys(":Winnow background<CR>")
    claude.wait_line("It runs.", timeout=30)
    claude.wait_screen("1 in background")
    (claude.sandbox.project / "stop").touch()
    claude.wait_line("▸ Background do t1 · done after")
    claude.wait_line("I heard.")
    wait_idle(claude)
    claude.keys(":Winnow background<CR>")
    claude.wait_screen("Nothing runs here")


def agent(id: str, prompt: str, **more: object) -> ToolUse:
    fields = {"description": f"do {id}", "prompt": prompt, "subagent_type": "general-purpose"}
    return ToolUse("Agent", {**fields, **more}, id)


def test_a_subagent_is_read_to_any_depth_and_becomes_a_chat(
    claude: Editor, api: ScriptedAPI
) -> None:
    """Live, up and sideways; and what it said is not in the chat."""
    claude.configure(mode="bypassPermissions")
    first, second = agent("a1", "MIDDLE", run_in_background=False), agent("a2", "DOVE")
    api.on("Go on", say(first, second), say("All done."), say("Heard."))
    api.on("MIDDLE", say("I pass it on.", agent("a3", "DEEP", run_in_background=False)))
    api.on("MIDDLE", say("Middle report."))
    api.on("DOVE", say("Other report."))
    api.on(
        "DEEP",
        say("Deep words.", bash("t1", f"echo found; {WAIT}")),
        say("Deep report: notes.txt:2."),
    )
    start(claude, "Go on")
    claude.wait_line("▸ Agent do a1")
    claude.keys("gg/Agent do a1<CR><CR>")
    claude.wait_line("▸ Agent do a3")
    assert claude.lines()[:3] == ["# do a1 · general-purpose", "", "## Claude"]
    assert claude.screen()[0].count("general-purpose") == 1
    assert claude.lua("return vim.fn.maparg('gf', 'n')") == "<Plug>(winnow-open-file)"
    claude.keys("gg/Agent do a3<CR><CR>")
    claude.wait_line("Deep words.")
    claude.wait_line("▸ Bash echo found")
    (claude.sandbox.project / "stop").touch()
    claude.wait_line("Deep report: ")
    (claude.sandbox.project / "notes.txt").write_text("one\ntwo\n")
    for key in ("gf", "<CR>"):
        claude.keys(f"/notes<CR>{key}")
        claude.wait(lambda: claude.line() == "two", "the place in the file")
        claude.keys(":close<CR>")
    claude.keys("-")
    claude.wait_line("Middle report.")
    assert next(line for line in claude.lines() if "do a3" in line).startswith("▸ Agent do a3 ✓")
    claude.keys("]a")
    claude.wait_line("Other report.")
    claude.keys(":Winnow up<CR>")
    claude.wait_line("▸ Background do a2 · done")
    assert "▸ Agent do a2" in claude.line()
    assert claude.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 1
    claude.wait_line("▸ Agent do a1 ✓")
    text = claude.text()
    assert "Deep" not in text
    assert "I pass it on." not in text
    (line,) = re.findall(r"^▸ Agent do a1 .*", text, re.MULTILINE)
    assert re.fullmatch(r"▸ Agent do a1 ✓ general-purpose · \S+ · 1 call · .*", line)
    claude.wait_line("│ Other report.")


def test_what_a_subagent_said_is_there_after_the_chat_was_closed(
    claude: Editor, api: ScriptedAPI
) -> None:
    """And made a chat, it goes on with what it knew."""
    claude.configure(mode="bypassPermissions")
    same = agent("a2", "DOVE", run_in_background=False, description="do a1")
    api.on("Go on", say(agent("a1", "RAVEN", run_in_background=False)), say(same), say("Done."))
    api.on("RAVEN", say("First report."))
    api.on("DOVE", say("Other report."))
    start(claude, "Go on")
    claude.wait_line("Done.")
    wait_idle(claude)
    claude.keys(":let path = expand('%:p')<CR>:bwipeout<CR>:execute 'edit' path<CR>")
    claude.wait_line("Done.")
    claude.keys("G?Agent do a1<CR><CR>")
    claude.wait_line("# do a1")
    assert claude.lines()[-1] == "Other report."
    api.on("DOVE", say("I know."))  # which the new chat has in its words, too
    claude.keys(":Winnow promote<CR>")
    claude.wait_line("## You")
    claude.wait(lambda: "Other report." in claude.text(), "the transcript as a chat")
    send(claude, "Say more")
    claude.wait_line("I know.")
    told = str(api.requests[-1]["messages"])
    assert "DOVE" in told
    assert "Other report." in told


def test_the_todo_list_is_one_block_that_the_user_can_change(
    claude: Editor, api: ScriptedAPI
) -> None:
    """The agent reads exactly what was changed, with the next message, whatever ends before."""

    def make(id: str, subject: str) -> ToolUse:
        return ToolUse("TaskCreate", {"subject": subject, "description": "x"}, id)

    api.add(say(ToolUse("ToolSearch", {"query": "select:TaskCreate,TaskUpdate"}, "t0")))
    api.add(say(make("t1", "Write tests"), make("t2", "Write code"), make("t3", "Ship")))
    started = ToolUse("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "t4")
    api.add(say(started), say("Begun."), say("As you want."), say("Really."))
    start(claude)
    claude.wait_line("▸ Todo 0 of 3 done · Write tests …")
    claude.wait_line("Begun.")
    wait_idle(claude)
    assert claude.text().count("▸ Todo") == 1
    assert [row for row in claude.lines() if row.endswith("Write tests")] == ["│ ▸ Write tests"]
    assert "▸ TaskCreate" not in claude.text()
    assert claude.lua(COUNTED) == [], "no step of it took as long as all of it"
    claude.keys("gg/▸ Todo<CR><CR>")
    claude.wait(lambda: plain(claude)[:1] == ["[-] Write tests"], "the list")
    claude.keys("2GddGorelease notes<Esc>:w<CR>")
    assert claude.lua("return vim.wo.wrap")
    claude.wait_screen("with your next message")
    claude.keys(":Winnow<CR>")
    path = claude.lua("return vim.api.nvim_buf_get_name(0)")
    claude.keys(":Winnow restart<CR>")  # neither that nor the next line loses it
    claude.wait(lambda: claude.lua(STATE) == "idle", "another host")
    claude.restart(path)
    claude.keys("G")
    send(claude, "Go on")
    claude.wait_line("I changed the todo list: ")
    claude.wait_line("As you want.")
    wait_idle(claude)
    words = "removed #2 “Write code”; added “release notes” after #3 “Ship”"
    told = str(api.requests[-1]["messages"][-1])
    assert words in told
    assert "Go on" in told
    heads = [line for line in claude.lines() if line.startswith("## ")]
    assert heads[-4:] == ["## You", "## You", "## Claude", "## You"]
    assert str(api.requests[-1]["messages"]).count("I changed the todo list") == 1
