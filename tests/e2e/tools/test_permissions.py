"""Permission sections: what stands there is what runs, and nothing runs that was not seen."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pytest
from winnow.core.text.text import MARKER

from tests.api import Gate, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import (
    pending,
    send,
    start,
    subagents,
    task,
    wait_idle,
    wait_section,
    waits,
)
from tests.soaking import first

pytestmark = pytest.mark.fresh("nothing")


def bash(id: str, command: str, **more: object) -> ToolUse:
    return ToolUse("Bash", {"command": command, **more}, id)


def permit(claude: Editor, api: ScriptedAPI, *blocks: str | ToolUse) -> None:
    """Wait until these are asked for, in a turn that ends with "So be it."."""
    api.add(say(*blocks), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: Bash")


def project(claude: Editor, name: str) -> Path:
    return claude.sandbox.project / name


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def records(claude: Editor) -> list[str]:
    return [line for line in claude.lines() if line[:1] in ("✓", "✗")]


# --- what is shown, and what runs -------------------------------------------------------------


def test_two_keys_grant_and_the_tools_line_follows_the_record(
    claude: Editor, api: ScriptedAPI
) -> None:
    permit(claude, api, "Now.", bash("t1", "echo one > made; echo done"))
    assert claude.lines()[-1] == ""
    assert not any(line.startswith("▸") for line in claude.lines())
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "one\n"
    assert "done" in api.tool_result("t1")
    command = "echo one > made; echo done"
    lines = [line for line in claude.lines() if line]
    at = lines.index(f"✓ Allow once: Bash {command}")
    assert lines[at + 1 : at + 3] == [f"▸ Bash {command} ✓", "│ done"]


def test_an_edited_command_runs_and_claude_is_told(claude: Editor, api: ScriptedAPI) -> None:
    permit(claude, api, bash("t1", "echo harm > made"))
    claude.keys("gg/^echo<CR>:s/harm/good/<CR>/^Allow once<CR>")
    claude.wait_screen("edited · keep one of")
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "good\n"
    assert "✓ Allow once, edited: Bash echo good > made" in records(claude)
    claude.keys(":Winnow decisions<CR>")
    claude.wait_line("echo good > made")
    assert "harm" not in claude.text()
    claude.command("bdelete")
    assert "▸ Bash echo good > made ✓" in claude.lines()
    told = json.dumps(api.requests[-1])
    assert "The user edited this call" in told
    assert "echo good > made" in told


def test_a_command_of_several_lines_is_edited_like_text(claude: Editor, api: ScriptedAPI) -> None:
    """dd takes a line, o adds one, u brings one back."""
    permit(claude, api, bash("t1", "echo 1 >> made\necho 2 >> made\necho 3 >> made"))
    claude.keys("gg/^echo 2<CR>ddoecho 4 >> made<Esc>gg/^echo 1<CR>ddu/^Allow once<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "1\n3\n4\n"


def test_arguments_that_are_no_text_are_shown_and_read(claude: Editor, api: ScriptedAPI) -> None:
    """One that was broken is refused, and named with its line."""
    permit(claude, api, bash("t1", "echo ran > made", timeout=5000))
    assert "timeout: 5000" in claude.lines()
    claude.keys("gg/^timeout<CR>:s/5000/soon/<CR>/^Allow once<CR><CR>")
    claude.wait_screen("“timeout” is not JSON any more")
    assert not project(claude, "made").exists()
    claude.keys("gg/^timeout<CR>:s/soon/7000/<CR>/^Allow once<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "ran\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202egnp.exe", "‹U+202E›gnp.exe"),
        ("a\u00a0b", "a‹U+00A0›b"),
        ("a\u200bb", "a‹U+200B›b"),
        ("⟦ab=1=1⟧", "‹ab=1=1⟧"),
        ("```\n## You\n````", "```\n## You\n````"),
    ],
)
def test_what_looks_harmless_is_harmless(
    claude: Editor, api: ScriptedAPI, text: str, shown: str
) -> None:
    """What hides is shown, and runs as it was proposed where nobody touched it."""
    permit(claude, api, bash("t1", f"printf %s '{text}' > made"))
    assert f"printf %s '{shown}' > made" in claude.text()
    assert text == shown or text not in claude.text()
    claude.keys("<CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == text


def test_a_command_that_lost_its_fence_does_not_run(claude: Editor, api: ScriptedAPI) -> None:
    """But it can be denied, and u brings it back."""
    permit(claude, api, bash("t1", "echo ran > made"))
    claude.keys("gg:g/^```$/d<CR>gg/^Allow once<CR><CR>")
    claude.wait_screen("fence that closes the sh is gone: u brings it back")
    claude.keys("u/^Allow once<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "ran\n"


@pytest.mark.parametrize(("typed", "told"), [(" not now", ": not now"), ("", ".")])
def test_a_denial_is_never_empty(claude: Editor, api: ScriptedAPI, typed: str, told: str) -> None:
    permit(claude, api, bash("t1", "echo ran > made"))
    claude.keys(f"gg/^Deny<CR>A{typed}<Esc><CR><CR>")
    claude.wait_line("So be it.")
    assert f"The user denied this use of Bash{told}" in api.tool_result("t1")
    assert not project(claude, "made").exists()
    assert "▸ Bash echo ran > made ✗" in claude.lines()


def test_own_words_are_a_reason_to_deny(claude: Editor, api: ScriptedAPI) -> None:
    permit(claude, api, bash("t1", "echo ran > made"))
    claude.keys("gg/^Deny<CR>ouse printf instead<Esc>")
    claude.wait_screen("Deny (note: use printf instead)")
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert "denied this use of Bash: use printf instead" in api.tool_result("t1")


def test_a_note_on_what_is_allowed_reaches_claude(claude: Editor, api: ScriptedAPI) -> None:
    permit(claude, api, bash("t1", "echo ran > made"))
    claude.keys("gg/^Allow once<CR>A but only this time<Esc><CR><CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "ran\n"
    assert "The user says: but only this time" in json.dumps(api.requests[-1])


# --- rules ------------------------------------------------------------------------------------


@pytest.mark.fresh("chat")
def test_always_is_kept_where_its_scope_says(claude: Editor, api: ScriptedAPI) -> None:
    """The record says the rule, and the same is not asked for again."""
    command = "touch made"
    api.add(say(bash("t1", f"{command}1")), say("Once."))
    api.add(say(bash("t2", f"{command}1")), say("Twice."))
    start(claude)
    wait_section(claude, "Permission: Bash")
    label = next(line for line in claude.lines() if line.startswith("Always allow"))
    assert label.startswith("Always allow “touch made1 …” (")
    claude.keys("gg/^Always<CR><CR><CR>")
    claude.wait_line("Once.")
    [record] = records(claude)
    assert record.startswith("✓ Always allow ")
    assert record.endswith(": Bash touch made1")
    wait_idle(claude)
    send(claude, "once more")
    claude.wait_line("Twice.")
    assert len(records(claude)) == 1
    assert not project(claude, ".claude").exists()  # where anybody could add to it
    label = MARKER.sub("", label)
    claude.keys(":Winnow trust<CR>")
    claude.wait_screen(f"✓ {label}" if label.endswith("(this project)") else "no settings")


@pytest.mark.fresh("chat")
def test_a_subagent_is_named(claude: Editor, api: ScriptedAPI) -> None:
    """And what it runs stands beside what was allowed."""
    run = "echo sub > made; echo out"
    call = task("find tests", "a1")
    call.input.update(run_in_background=False, subagent_type="Explore")
    api.add(say(call), say(bash("t1", run)), say("Found."), say("All."))
    start(claude)
    wait_section(claude, "Permission: Bash")
    assert "Subagent Explore: find tests wants to use Bash" in claude.text()
    claude.keys("gg/^Allow once<CR><CR><CR>")
    claude.wait_line("All.")
    assert content(project(claude, "made")) == "sub\n"
    lines = [line for line in claude.lines() if line]
    at = lines.index(f"✓ Allow once: Bash {run} (Explore: find tests)")
    assert lines[at + 1 : at + 3] == [f"▸ Bash {run} ✓", "│ out"]


@pytest.mark.fresh("chat")
def test_always_settles_those_that_it_covers(claude: Editor, api: ScriptedAPI) -> None:
    """And no other one, whichever comes first."""
    commands = ["touch same", "touch same", "touch other"]
    subagents(api, *(say(bash(f"t{n}", c)) for n, c in enumerate(commands)))
    start(claude)
    waits(claude, 3)
    wait_section(claude, "Permission: Bash")
    if "touch other" in claude.lines():
        claude.keys("gg/^Always<CR><CR><CR>")
        waits(claude, 2)
        wait_section(claude, "Permission: Bash")
        left = 0
    else:
        left = 1
    claude.keys("gg/^Always<CR><CR><CR>")
    waits(claude, left)
    claude.wait(lambda: project(claude, "same").exists(), "the file")
    if left:
        wait_section(claude, "Permission: Bash")
        assert "touch other" in claude.lines()
        assert not project(claude, "other").exists()
        claude.keys(":Winnow deny<CR>")  # the record of what came after it may wait for this
        waits(claude, 0)
    claude.wait(
        lambda: sum("granted before" in line for line in records(claude)) == 1,
        "one record of what the rule covers",
    )


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_always_settles_no_other_part_of_a_command(claude: Editor, api: ScriptedAPI) -> None:
    """Nor one that writes to another place: Claude Code would ask for both."""
    run = f"{sys.executable} -c 1"
    others = [say(Gate(), bash("t1", f"{run} | sh")), say(Gate(), bash("t2", f"{run} > made"))]
    subagents(api, say(bash("t0", run)), *others)
    start(claude)
    wait_section(claude, "Permission: Bash")
    api.release()
    api.release()
    waits(claude, 3)
    claude.keys("gg/^Always<CR><CR><CR>")
    waits(claude, 2)
    assert not any("granted before" in line for line in records(claude))
    assert not project(claude, "made").exists()


def ask_thirty_times(claude: Editor, api: ScriptedAPI, last: str = "Done.") -> None:
    """Ten subagents each read three files outside the project."""
    outside = claude.sandbox.root / "outside"
    outside.mkdir(exist_ok=True)
    replies = []
    for agent in range(10):
        reads = []
        for n in range(agent * 3, agent * 3 + 3):
            (outside / f"f{n}").write_text(f"secret {n}\n")
            reads.append(ToolUse("Read", {"file_path": str(outside / f"f{n}")}, f"r{n}"))
        replies.append(say(*reads))
    subagents(api, *replies, last=last)
    start(claude)
    waits(claude, 30)


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_thirty_at_once_are_each_settled_once(claude: Editor, api: ScriptedAPI) -> None:
    """None is denied by itself; what was allowed runs, and nothing else does."""
    ask_thirty_times(claude, api)
    allowed: set[int] = set()
    denied: set[int] = set()
    for left in range(30, 0, -1):
        wait_section(claude, "Permission: Read")
        waits(claude, left)
        number = int(
            claude.text().rpartition("file_path: ")[2].partition("\n")[0].rpartition("/f")[2]
        )
        (allowed if number % 2 else denied).add(number)
        claude.keys(f"gg/^{'Allow once' if number % 2 else 'Deny'}<CR><CR><CR>")
        waits(claude, left - 1)
    for number in range(30):
        result = api.tool_result(f"r{number}")
        assert (f"secret {number}" in result) is (number in allowed)
        assert ("denied this use of Read" in result) is (number in denied)
    assert len(allowed | denied) == 30
    assert len(records(claude)) == 30


@pytest.mark.fresh("chat")
def test_stop_closes_all_and_the_next_prompt_works(claude: Editor, api: ScriptedAPI) -> None:
    ask_thirty_times(claude, api, last="Again.")
    claude.keys(":Winnow stop<CR>")
    waits(claude, 0)
    wait_idle(claude)
    assert not re.search(r"secret \d", json.dumps(api.requests))
    assert "Permission: Read" not in claude.text()
    claude.keys("G")
    send(claude, "next")
    claude.wait_line("Again.")


# --- from anywhere ----------------------------------------------------------------------------


@pytest.mark.fresh("chat")
@pytest.mark.parametrize(
    ("command", "runs", "record"),
    first(
        1,
        [
            ("allow", True, "✓ Allow once: Bash"),
            ("always", True, "✓ Always allow"),
            ("deny not here", False, "✗ Denied: Bash touch made — not here"),
        ],
    ),
)
def test_from_anywhere(
    claude: Editor, api: ScriptedAPI, command: str, runs: bool, record: str
) -> None:
    """One thing waits, and it is answered without going there."""
    api.add(say(bash("t1", "touch made")), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: Bash")
    claude.keys(":new<CR>")
    claude.keys(f":Winnow {command}<CR>")
    claude.wait(lambda: api.tool_result("t1") is not None, "the result")
    assert project(claude, "made").exists() is runs
    assert claude.lua("return vim.bo.filetype") != "winnow"
    claude.keys("<C-w>p")
    claude.wait_line("So be it.")
    assert records(claude)[0].startswith(record)


def test_from_anywhere_what_stands_there_runs(claude: Editor, api: ScriptedAPI) -> None:
    permit(claude, api, bash("t1", "touch made"))
    claude.keys("gg/^touch<CR>A-else<Esc>:new<CR>:Winnow allow<CR>")
    api.tool_result("t1")
    assert project(claude, "made-else").exists()
    assert not project(claude, "made").exists()


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_from_anywhere_several_open_the_inbox(claude: Editor, api: ScriptedAPI) -> None:
    """Nothing is allowed that was not seen."""
    subagents(api, *(say(bash(f"t{n}", f"touch made{n}")) for n in range(2)))
    start(claude)
    waits(claude, 2)
    claude.keys("q:")
    claude.command("Winnow allow")  # no window can be opened from that one
    claude.wait(lambda: "2 things wait: answer in the chat." in claude.messages(), "why not")
    claude.keys(":q<CR>:new<CR>:Winnow allow<CR>")
    claude.wait(lambda: claude.lua("return vim.bo.filetype") == "winnowlist", "the inbox")
    assert len(pending(claude)) == 2
    assert not list(claude.sandbox.project.glob("made*"))


# --- places and sizes -------------------------------------------------------------------------


def test_a_path_outside_says_so(claude: Editor, api: ScriptedAPI) -> None:
    outside = claude.sandbox.root / "outside.txt"
    permit(claude, api, bash("t1", f"echo ran > {outside}"))
    assert "outside" in claude.text().partition("```sh")[0].rpartition("━━ Permission")[2]
    claude.keys("gg/^Allow once<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert content(outside) == "ran\n"


def test_a_long_command_is_shown_in_full(claude: Editor, api: ScriptedAPI) -> None:
    """Nearly as long as Linux takes one."""
    lines = "\n".join(f"# {n:05} {'x' * 40}" for n in range(2_000))
    permit(claude, api, bash("t1", f"{lines}\necho ran > made"))
    assert lines in claude.text()
    claude.keys("/^Allow once<CR><CR><CR>")
    claude.wait_screen("lines were not on the screen yet: read on, then <CR>")
    # On a busy machine Claude Code gives up on it, and then offers no rule.
    claude.keys(":silent! g/^Always\\|until this/d<CR>/^Deny<CR>dd<CR>")
    claude.wait_screen("lines were not on the screen yet: <CR> again allows it unseen")
    assert not project(claude, "made").exists()
    claude.keys("<CR>")
    claude.wait_line("So be it.")
    assert content(project(claude, "made")) == "ran\n"


# --- other tools ------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_an_address_that_was_edited_is_the_one_that_is_fetched(
    claude: Editor, api: ScriptedAPI
) -> None:
    settings = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"skipWebFetchPreflight": True}))  # else it asks anthropic.com
    call = ToolUse("WebFetch", {"url": "https://127.0.0.1:9/a", "prompt": "Sum it up."}, "t1")
    api.add(say(call), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: WebFetch")
    assert "url: https://127.0.0.1:9/a\nprompt: Sum it up." in claude.text()
    assert "Always allow WebFetch from 127.0.0.1 (this project" in claude.text()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        port = server.getsockname()[1]
        claude.keys(f"gg/^url<CR>:s/:9/:{port}/<CR>/^Allow once<CR><CR><CR>")
        connection, _ = server.accept()
        connection.close()
    claude.wait_line("So be it.")
    assert f"✓ Allow once, edited: WebFetch https://127.0.0.1:{port}/a" in records(claude)
    assert f"▸ WebFetch https://127.0.0.1:{port}/a ✗" in claude.lines()


# An MCP server without the package of that name, which takes seconds to import.
SERVER = """
import json, sys
from pathlib import Path

def answer(method, params):
    if method == "initialize":
        info = {"name": "notes", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        Path(sys.argv[1]).write_text(json.dumps(params["arguments"]))
        return {"content": [{"type": "text", "text": "added"}]}
    return {}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        reply = answer(asked["method"], asked.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": reply}), flush=True)
"""


@pytest.mark.fresh("chat")
def test_an_mcp_tool_runs_with_the_arguments_that_stand_there(
    claude: Editor, api: ScriptedAPI, tmp_path: Path
) -> None:
    """Numbers, lists and objects are JSON, and stay what they are."""
    (tmp_path / "server.py").write_text(SERVER)
    made = project(claude, "made")
    args = [str(tmp_path / "server.py"), str(made)]
    servers = {"notes": {"command": sys.executable, "args": args}}
    books = Path(claude.sandbox.env["CLAUDE_CONFIG_DIR"], ".claude.json")
    books.parent.mkdir(exist_ok=True)
    books.write_text(json.dumps({"mcpServers": servers}))
    given = {"title": "Fix\nit", "count": 3, "tags": ["a", "b"], "more": {"deep": [{"x": None}]}}
    api.add(say(ToolUse("mcp__notes__add", given, "t1")), say("So be it."))
    start(claude)
    wait_section(claude, "Permission: mcp__notes__add")
    shown = [
        "title:",
        "  Fix",
        "  it",
        "count: 3",
        'tags: ["a", "b"]',
        'more: {"deep": [{"x": null}]}',
    ]
    assert "\n".join(shown) in claude.text()
    claude.keys("gg/^title<CR>V/^more<CR>d/^Allow once<CR><CR>")  # Claude Code would run them
    claude.wait_screen("all arguments are gone: u brings them back")
    assert not made.exists()
    claude.keys("ugg/^count<CR>:s/3/4/<CR>/^tags<CR>:s/b/c/<CR>/^Allow once<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert json.loads(made.read_text()) == {**given, "count": 4, "tags": ["a", "c"]}
    assert api.tool_result("t1") == "added"
    assert "✓ Allow once, edited: notes: add Fix ⏎ it" in records(claude)
