"""What is missing, dies, hangs or refuses is told in one sentence in the chat, and <CR> retries."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.api import Drop, Failure, Gate, ScriptedAPI, ToolUse, ask, question, say
from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.sandbox import REPOSITORY
from tests.e2e.steps import draft, send, start, wait_idle
from tests.soaking import first, soak

DATABASE = question("Which database?", "PostgreSQL", "MongoDB", header="Database")
NOTICE = "⚠ "


def executable(path: Path, *lines: str) -> str:
    """A shell script."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def python_without(folder: Path, module: str) -> str:
    """A Python in which importing ``module`` fails as if it were not installed."""
    shadow = folder / "shadow"
    shadow.mkdir()
    error = f"ModuleNotFoundError(\"No module named '{module}'\", name='{module}')"
    (shadow / f"{module}.py").write_text(f"raise {error}\n")
    (shadow / "others.pth").write_text(sysconfig.get_path("purelib"))
    return virtual_environment(folder / "venv", shadow)


def virtual_environment(venv: Path, packages: Path) -> str:
    """A Python that has only these packages."""
    base = Path(getattr(sys, "_base_executable", sys.executable))
    library = venv / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    library.mkdir(parents=True)
    (library / "site-packages").symlink_to(packages)
    (venv / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(base)
    return str(venv / "bin" / "python")


def use_python(editor: Editor, path: str) -> None:
    """Choose the interpreter as a user does."""
    editor.lua("vim.g.winnow_python = ...", path)


def notices(editor: Editor) -> list[str]:
    """What the chat says about failures."""
    return [line for line in editor.lines() if line.startswith(NOTICE)]


def wait_notice(editor: Editor, *parts: str, state: str = "not connected") -> None:
    """Wait for the only notice, which holds ``parts`` and stays on one line, and for the state."""
    editor.wait(lambda: notices(editor), "a notice", timeout=20)
    editor.wait(lambda: any(state in row for row in editor.screen()), f"the state {state!r}")
    (notice,) = notices(editor)
    for part in parts:
        assert part in notice
    assert "Traceback" not in editor.text()


def retry(editor: Editor, text: str = "Hi") -> None:
    """The draft still holds ``text``; sent again it is answered."""
    assert draft(editor) == text
    editor.keys("G<CR>")
    editor.wait_line("Hello again.", timeout=20)


@pytest.mark.fresh("session")
@pytest.mark.parametrize(
    ("module", "parts"),
    [
        ("pynvim", ["No module named 'pynvim'", ":checkhealth winnow"]),
        ("claude_agent_sdk", ["No module named 'claude_agent_sdk'", ":checkhealth winnow"]),
        *soak(
            ("msgpack", ["No module named 'msgpack'", ":checkhealth winnow"]),
            ("msgspec", ["No module named 'msgspec'", ":checkhealth winnow"]),
        ),
    ],
)
def test_a_missing_package_is_named(
    claude: Editor, api: ScriptedAPI, tmp_path: Path, module: str, parts: list[str]
) -> None:
    """With the way to install it; once it is there, <CR> sends what was typed."""
    api.add(say("Hello again."))
    use_python(claude, python_without(tmp_path, module))
    start(claude)
    wait_notice(claude, *parts)
    use_python(claude, sys.executable)
    (tmp_path / "shadow" / f"{module}.py").unlink()
    retry(claude)


@pytest.mark.fresh("session")
@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (
            ['echo "no space left" >&2', "exit 3"],
            ["no space left", ":checkhealth winnow", ":Winnow restart"],
        ),
        (["echo nonsense", "exec sleep 600"], ["stopped"]),
        (["exec sleep 600"], ["does not answer"]),
    ],
    ids=["dies", "writes nonsense", "hangs"],
)
def test_a_host_that_does_not_start_is_told(
    claude: Editor, api: ScriptedAPI, tmp_path: Path, lines: list[str], parts: list[str]
) -> None:
    """Whatever stands in its place; once it is right, <CR> sends what was typed."""
    api.add(say("Hello again."))
    use_python(claude, executable(tmp_path / "python", *lines))
    if "does not answer" in parts:
        claude.lua("require('winnow.host').patience = 1000")
    start(claude)
    wait_notice(claude, *parts)
    claude.lua("require('winnow.host').patience = 10000")
    use_python(claude, sys.executable)
    retry(claude)


@pytest.mark.fresh("session")
def test_a_host_that_was_told_nothing_need_not_answer(claude: Editor, api: ScriptedAPI) -> None:
    """With no chat there is nothing to say: it lives on, and has the first chat to itself."""
    api.add(say("Hello again."))
    claude.lua("require('winnow.host').patience = 300")
    claude.keys(":Winnow restart<CR>")
    claude.lua("vim.wait(600)")
    claude.lua("require('winnow.host').patience = 10000")
    start(claude)
    claude.wait_line("Hello again.")
    assert "host" not in (claude.sandbox.state / "winnow" / "winnow.log").read_text()


@pytest.mark.soak
@pytest.mark.fresh("session")
def test_an_interpreter_that_is_not_there_is_named(claude: Editor, api: ScriptedAPI) -> None:
    """The interpreter that the user chose is never passed over."""
    api.add(say("Hello again."))
    use_python(claude, "/nowhere/python")
    start(claude)
    wait_notice(claude, "/nowhere/python", "can't be executed", "g:winnow_python")
    use_python(claude, sys.executable)
    retry(claude)


@pytest.mark.soak
@pytest.mark.fresh("session")
def test_no_python_environment_at_all(claude: Editor, api: ScriptedAPI, tmp_path: Path) -> None:
    """A plugin that was never built says with which command to build it."""
    api.add(say("Hello again."))
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    for folder in ("lua", "python", "rplugin"):
        (plugin / folder).symlink_to(REPOSITORY / folder)
    claude.lua("""
      for name in pairs(package.loaded) do
        if vim.startswith(name, 'winnow') then
          package.loaded[name] = nil -- it knows where it lies
        end
      end
    """)
    claude.command(f"set runtimepath^={plugin} | unlet g:winnow_python")
    start(claude)
    wait_notice(claude, f":luafile {plugin}/build.lua")
    use_python(claude, sys.executable)
    retry(claude)


@pytest.mark.parametrize(
    ("lines", "parts"),
    first(
        2,
        [
            (None, ["no Claude Code at", "cli_path"]),
            (['echo "Invalid API key" >&2', "exit 1"], ["Invalid API key"]),
            (["exec sleep 600"], ["did not answer within 4 s"]),
            (["echo nonsense", "read line", "exit 0"], ["exit code 0"]),
        ],
    ),
    ids=["missing", "dies", "hangs", "writes nonsense"],
)
def test_a_cli_that_does_not_start_is_told(
    open_editor: Open, api: ScriptedAPI, tmp_path: Path, lines: list[str] | None, parts: list[str]
) -> None:
    """With its own last words; once it is right, <CR> sends what was typed."""
    api.add(say("Hello again."))
    cli = tmp_path / "claude"
    if lines:
        executable(cli, *lines)
    editor = open_editor(agent="claude", cli_path=str(cli), env=api.env(tmp_path / "config"))
    hangs = "did not answer" in parts[0]
    editor.lua("require('winnow.host').cli_patience = ...", 2 if hangs else 30)
    start(editor)
    wait_notice(editor, *parts)
    assert editor.was_shown("connecting… 3 s") or not hangs
    cli.unlink(missing_ok=True)
    cli.symlink_to(bundled_cli())
    if hangs:  # a busy machine needs more than those seconds
        editor.lua("require('winnow.host').cli_patience = 30")
        editor.keys(":Winnow restart<CR>")
    retry(editor)


def test_the_log_has_the_details(open_editor: Open, api: ScriptedAPI, tmp_path: Path) -> None:
    """All that Claude Code wrote to stderr; the chat only has the last line."""
    lines = ['echo "first of all" >&2', 'echo "no room left" >&2', "exit 1"]
    cli = executable(tmp_path / "claude", *lines)
    editor = open_editor(agent="claude", cli_path=cli, env=api.env(tmp_path / "config"))
    start(editor)
    wait_notice(editor, "no room left", ":Winnow log")
    assert "first of all" not in editor.text()
    editor.command("autocmd BufReadPost *.log let g:swap = get(g:, 'swap', '') .. swapname('%')")
    editor.keys(":Winnow log<CR>")
    assert "first of all" in editor.text()
    assert editor.lua("return vim.g.swap") == ""  # on a full disk there can be none


def bundled_cli() -> Path:
    """The CLI that comes with the SDK."""
    (package,) = Path(sys.prefix).glob("lib/python*/site-packages/claude_agent_sdk/_bundled")
    return package / "claude"


@pytest.mark.parametrize(
    ("reply", "parts"),
    first(
        3,
        [
            (
                Failure(401, "authentication_error", "invalid x-api-key"),
                ["refused your credentials"],
            ),
            (Failure(403, "permission_error", "not yours"), ["refused your credentials"]),
            (Failure(400, "invalid_request_error", "too long"), ["refused this conversation"]),
            (Failure(404, "not_found_error", "model: nonesuch"), ["knows no such model"]),
            (Failure(429, "rate_limit_error", "too many"), ["takes no more requests for now"]),
            (Failure(500, "api_error", "Internal server error"), ["overloaded or broken"]),
            (Failure(529, "overloaded_error", "Overloaded"), ["overloaded"]),
        ],
    ),
    ids=["401", "403", "400", "404", "429", "500", "529"],
)
def test_an_api_that_refuses_is_told(
    claude: Editor, api: ScriptedAPI, reply: Failure, parts: list[str]
) -> None:
    """What was sent is the draft again, and only that; sent once more, it is answered."""
    api.add(*[reply] * 20)  # Claude Code tries some of them again
    start(claude)
    claude.wait(lambda: notices(claude), "a notice", timeout=20)
    (notice,) = notices(claude)
    for part in parts:
        assert part in notice
    api.clear()
    api.add(say("Hello again."))
    wait_idle(claude)
    assert claude.lines().count("Hi") == 1
    retry(claude)
    assert draft(claude) == ""
    assert claude.lines().count("Hi") == 1
    assert not notices(claude)  # that says something else than what is there
    assert claude.lines().count("## Claude") == 1
    api.add(*[reply] * 20)
    send(claude, "And now?")
    claude.wait(lambda: notices(claude), "the second notice", timeout=20)
    wait_idle(claude)
    heads = [line for line in claude.lines() if line.startswith("## ")]
    assert heads == ["## You", "## Claude", "## You"]


def test_a_message_that_was_partly_answered_is_no_draft(claude: Editor, api: ScriptedAPI) -> None:
    """Claude has it, whatever happens to the rest of the turn."""
    api.add(say("First a look.", ToolUse("Bash", {"command": "echo hi"}, "toolu_1")))
    api.add(*[Failure(400, "invalid_request_error", "too long")] * 20)
    start(claude)
    claude.wait(lambda: notices(claude), "a notice", timeout=20)
    wait_idle(claude)
    assert draft(claude) == ""


def test_an_api_that_is_not_there_is_told(open_editor: Open, api: ScriptedAPI) -> None:
    """As without a network."""
    nobody = {**api.env("claude"), "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    editor = open_editor(agent="claude", env=nobody)
    start(editor)
    editor.wait(lambda: notices(editor), "a notice", timeout=20)
    assert "could not be reached" in notices(editor)[0]
    assert "check the network" in notices(editor)[0]
    wait_idle(editor)
    assert draft(editor) == "Hi"


def test_a_connection_that_breaks_is_mended(claude: Editor, api: ScriptedAPI) -> None:
    """Claude Code asks again by itself; what had come already stays."""
    api.add(say("Half a sent", Drop()), say("Hello again."))
    start(claude)
    claude.wait_line("Hello again.", timeout=20)
    assert "Half a sent\n\nHello again." in claude.text()


@pytest.mark.soak
def test_no_credentials_at_all(open_editor: Open, api: ScriptedAPI, tmp_path: Path) -> None:
    """Claude Code says that nobody is logged in, and so does the chat."""
    env = {**api.env(tmp_path / "claude"), "ANTHROPIC_API_KEY": ""}
    editor = open_editor(agent="claude", env=env)
    start(editor)
    editor.wait(lambda: notices(editor), "a notice", timeout=20)
    assert "log in" in notices(editor)[0]
    wait_idle(editor)
    assert draft(editor) == "Hi"


def test_garbage_costs_a_sentence_each_way(claude: Editor, api: ScriptedAPI) -> None:
    """The host goes on with the next event, and Neovim with the next effect."""
    api.add(say("Hello."), say("Hello again."))
    start(claude)
    wait_idle(claude)
    process = claude.lua("return vim.fn.jobpid(...)", host_channel(claude))
    for garbage in ("", "7", "{}", "{ type = 'nonsense' }", "{ type = 'edit', chat = 'x' }, 5"):
        claude.lua("vim.cmd.messages('clear')")
        claude.lua(f"vim.rpcnotify(..., 'winnow', {garbage or 'nil'})", host_channel(claude))
        claude.wait(lambda: "The host did not understand" in claude.messages(), "a sentence")
    for garbage in ("nonsense", "tool"):
        claude.lua("vim.cmd.messages('clear')")
        claude.lua(
            """
            local chat = vim.api.nvim_get_current_buf()
            local write = { type = 'write', chat = chat, text = 'After ' .. ..., fresh = true }
            require('winnow.dispatch').apply({ { type = ..., chat = chat }, write })
            """,
            garbage,
        )
        assert "a part of the chat could not be shown" in claude.messages()
    assert "Hello.\n\nAfter nonsense\n\nAfter tool\n\n## You" in claude.text()
    send(claude, "Once more")
    claude.wait_line("Hello again.", timeout=20)
    assert claude.lua("return vim.fn.jobpid(...)", host_channel(claude)) == process
    assert not notices(claude)
    claude.command("messages clear")


def host_channel(editor: Editor) -> int:
    """How Neovim speaks to the host."""
    channel: int = editor.lua("""
      return vim.iter(vim.api.nvim_list_chans()):find(function(channel)
        return channel.mode == 'rpc' and channel.stream == 'job'
      end).id
    """)
    return channel


@pytest.mark.parametrize("waits", first(1, [False, True]), ids=["streaming", "question"])
def test_a_cli_that_is_killed_in_a_turn_is_told(
    claude: Editor, api: ScriptedAPI, waits: bool
) -> None:
    """What it said stays, an open question can be answered late, and the session goes on."""
    blocks = [ask("toolu_1", DATABASE)] if waits else [Gate()]
    api.add(say("Hello."), say("Thinking aloud.", *blocks), say("Hello again."))
    start(claude)
    wait_idle(claude)  # the session is on disk then
    send(claude, "Think")
    claude.wait_line("Question: Database" if waits else "Thinking aloud.")
    for process, command in claude.sandbox.processes().items():
        if "stream-json" in command:
            os.kill(process, signal.SIGKILL)
    wait_notice(claude, "Claude Code ended with exit code -9; send again")
    assert "## You\n\nThink\n\n## Claude\n\nThinking aloud." in claude.text()
    assert ("<CR> here asks again" in claude.text()) is waits
    claude.keys("G")
    send(claude, "Once more")
    claude.wait_line("Hello again.", timeout=20)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("'claude'", "the options must be a table, not a string"),
        ("{ colour = 'red' }", 'unknown option "colour"'),
        ("{ places = { { name = 'b', command = { 5 } } } }", "command and env of the place b must"),
        ("{ mode = 'bogus' }", 'mode must be one of "", "default", "acceptEdits"'),
        *soak(
            ("{ agent = 5 }", "agent must be a string, not a number"),
            ("{ places = { { name = 'a b' } } }", "each of the places must have a name"),
            ("{ places = { { name = 'big' } } }", 'every place but "here" must have a command'),
            ("{ places = { { name = 'b', slots = .5 } } }", "slots of the place b must be a whole"),
            ("{ places = { { name = 'here', size = 2 } } }", "size of the place here is nothing"),
        ),
    ],
)
def test_wrong_options_are_named_and_not_used(editor: Editor, options: str, problem: str) -> None:
    """A chat opens all the same, and the sentence takes no key of the user."""
    editor.lua(f"vim.g.winnow = {options}")
    editor.keys(":Winnow<CR>ihello<Esc>")
    assert editor.line() == "hello"
    assert problem[:40] in editor.messages()
    editor.keys(":checkhealth winnow<CR>")
    editor.wait_line(problem, timeout=30)
    editor.keys(f":lua require('winnow').setup({options})<CR>")
    assert editor.messages().count(problem[:40]) == 2
