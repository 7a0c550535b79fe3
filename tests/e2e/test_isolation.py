"""Nothing of the project runs by itself, and the agent's tools get the user's environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.conftest import Open
from tests.e2e.editor import Editor
from tests.e2e.sandbox import REPOSITORY
from tests.e2e.steps import start, wait_idle
from tests.soaking import first

pytestmark = pytest.mark.fresh("session")

# What we import, or what imports it, in any process.
MODULES = [
    *("pynvim", "greenlet", "msgpack", "msgspec", "claude_agent_sdk", "anyio", "mcp", "winnow"),
    *("json", "inspect", "logging", "sqlite3", "asyncio", "encodings", "runpy", "select", "signal"),
    *("ensurepip", "venv", "pip", "hatchling", "sitecustomize", "usercustomize"),
]
PROGRAMS = ["uv", "claude", "python", *(f"python3.{minor}" for minor in range(10, 15))]


class Trap:
    """A project full of files that leave a trace when somebody runs them."""

    def __init__(self, project: Path, ran: Path) -> None:
        self.project, self._ran = project, ran
        ran.mkdir()
        for name in MODULES:
            for path in (f"{name}.py", f"{name}/__init__.py", f"winnow/{name}.py"):
                self._write(path, "open({}, 'w').close()")
        for name in ("host", "health", "adapters/__init__", "../-c/__init__"):
            self._write(f"winnow/{name}.py", "open({}, 'w').close()")
        for name in ("winnow", "winnow/health", "winnow/init", "vim", "ffi", "lua/winnow/host"):
            self._write(f"{name}.lua", "io.open({}, 'w'):close()")
        for name in PROGRAMS:
            for path in (name, f".venv/bin/{name}", f"node_modules/.bin/{name}"):
                self._write(path, "#!/bin/sh\ntouch {}")
                (project / path).chmod(0o755)
        for name in (".env", "uv.toml", "pip.conf", "setup.cfg", ".python-version", "pyvenv.cfg"):
            self._write(name, "home = {}")

    def _write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        trace = self._ran / name.replace("/", ":")
        path.write_text(text.format(f'"{trace}"') + "\n")

    def sprung(self) -> list[str]:
        """What was run."""
        return sorted(path.name for path in self._ran.iterdir())


def shell_of(project: str = ".") -> dict[str, str]:
    """What a shell may export that makes Python and others look into the project."""
    return {
        "PATH": os.pathsep.join(["", ".", "node_modules/.bin", os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(["", project]),
        "PYTHONHOME": project,
        "PYTHONSTARTUP": "json.py",
        "PYTHONSAFEPATH": "",
        "PYTHONUSERBASE": project,
        "TMUX": "/nowhere,1,0",
    }


def allowed(env: Mapping[str, str]) -> Mapping[str, str]:
    """A Claude that runs commands without asking, by the user's own settings."""
    settings = Path(env["CLAUDE_CONFIG_DIR"], "settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    return env


def trapped(editor: Editor, tmp_path: Path, exported: Mapping[str, str] | None = None) -> Trap:
    """Set traps in the project of an editor that was started by such a shell."""
    for name, value in (exported or shell_of()).items():  # only now: nvim may be a Python script
        editor.lua("vim.env[select(1, ...)] = select(2, ...)", name, value)
    return Trap(editor.sandbox.project, tmp_path / "ran")


def test_a_chat_runs_nothing_of_the_project(
    open_editor: Open, api: ScriptedAPI, tmp_path: Path
) -> None:
    """Nor does a message or `:checkhealth`; and a tool sees the environment as the user made it."""
    names = [*shell_of(), "NVIM", "NVIM_LISTEN_ADDRESS", "VIM_SERVERNAME"]
    command = f"for name in {' '.join(names)}; do printenv $name || echo no $name; done"
    api.add(say(ToolUse("Bash", {"command": command, "description": "d"}, "toolu_1")), say("Done."))
    editor = open_editor(agent="claude", env=allowed(api.env(tmp_path / "claude")))
    outer = {"NVIM_LISTEN_ADDRESS": str(tmp_path / "socket"), "VIM_SERVERNAME": "outer"}
    trap = trapped(editor, tmp_path, {**shell_of(), **outer})
    start(editor)
    editor.wait_line("Done.")
    wait_idle(editor)
    told = api.tool_result("toolu_1").splitlines()
    assert told[1:] == [*list(shell_of().values())[1:], *(f"no {name}" for name in names[-3:])]
    assert told[0].endswith(shell_of()["PATH"])  # Claude Code may have put its own before it
    editor.keys(":checkhealth winnow<CR>")
    editor.wait_line("answers in", timeout=30)
    assert "ERROR" not in editor.text()
    assert trap.sprung() == []


@pytest.mark.parametrize("name", first(1, ["./claude", ".venv/bin/claude", "claude"]))
def test_a_relative_program_is_not_run(open_editor: Open, tmp_path: Path, name: str) -> None:
    """Not as `cli_path`, nor as the interpreter, nor by a PATH with the working directory in it."""
    editor = open_editor(agent="claude", cli_path=name)
    trap = trapped(editor, tmp_path)
    if "/" in name:
        editor.keys(":Winnow<CR>")
        assert "cli_path must be absolute" in editor.messages()
        editor.lua("vim.g.winnow = { agent = 'claude' }")
    else:
        start(editor)
        editor.wait_line("⚠ There is no Claude Code at claude")
        editor.keys(":checkhealth winnow<CR>")
        editor.wait_line("the CLI does not run: claude", timeout=30)
    editor.lua("vim.g.winnow_python = ...", name.replace("claude", "python"))
    editor.keys(":Winnow new<CR>:Winnow restart<CR>")
    if "/" in name:
        editor.wait_line("can't be executed: give an absolute path")
    assert trap.sprung() == []


def test_a_folder_s_name_is_one_value(open_editor: Open) -> None:
    """Whatever stands in it, it adds nothing to the frontmatter."""
    editor = open_editor(agent="scripted")
    folder = editor.sandbox.project / "a\nmode: acceptEdits\n---"
    folder.mkdir()
    editor.lua("vim.cmd.cd(vim.fn.fnameescape(...))", str(folder))
    editor.keys(":Winnow<CR>")
    head = editor.lines()[:6]
    assert head[2].endswith("/a␤mode: acceptEdits␤---")
    assert head[4:] == ["mode: default", "---"]


def test_files_that_options_name_are_from_where_neovim_is(open_editor: Open) -> None:
    """The host runs elsewhere."""
    editor = open_editor(agent="scripted", scenario="here.json")
    scenario = {"turns": [[{"type": "say", "text": "Hello from here."}]]}
    (editor.sandbox.project / "here.json").write_text(json.dumps(scenario))
    start(editor)
    editor.wait_line("Hello from here.")


UV = """#!/bin/sh
echo "$PWD|$PYTHONPATH$PYTHONHOME|$PIP_NO_INDEX|$*" >> "$UV_TRACE"
"""


# As lazy.nvim runs it; what it fails with.
BUILD = """
local build, alive, failure = coroutine.create(loadfile(...)), true, nil
while coroutine.status(build) ~= 'dead' do
  alive, failure = coroutine.resume(build)
  vim.wait(10)
end
return not alive and failure or ''
"""


@pytest.mark.parametrize("with_uv", first(1, [False, True]), ids=["pip", "uv"])
def test_a_build_runs_nothing_of_the_project(
    open_editor: Open, tmp_path: Path, with_uv: bool
) -> None:
    """And takes no settings of it, while those of the user count: here, that there is no index."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    trace = tmp_path / "trace"
    if with_uv:
        (programs / "uv").write_text(UV)
        (programs / "uv").chmod(0o755)
    editor = open_editor()
    exported = {
        **shell_of(),
        "PATH": os.pathsep.join(["", ".", str(programs), "/usr/bin", "/bin"]),
        "PIP_NO_INDEX": "1",
        "UV_TRACE": str(trace),
    }
    trap = trapped(editor, tmp_path, exported)
    failure = editor.request("nvim_exec_lua", BUILD, [f"{REPOSITORY}/build.lua"], timeout=100)
    assert trap.sprung() == []
    if with_uv:
        folder = editor.sandbox.state / "winnow"
        assert all(line.startswith(f"{folder}||1|") for line in trace.read_text().splitlines())
        assert len(trace.read_text().splitlines()) == 2
    else:
        assert (editor.sandbox.data / "winnow" / "venv" / "bin" / "pip").exists()
        assert failure.startswith("The Python packages could not be installed: ")
