"""``python -m winnow clarify``: with a fake Claude Code, and with the real one."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from winnow.cli import give, tell

from tests import api
from tests.app.playing import Player, result, speech, text
from tests.app.stage import Stage
from tests.unit.clarifying import SPEC, question, round_of

NONE = round_of()
ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """How it ended."""

    code: int
    out: str
    progress: str

    @property
    def told(self) -> dict[str, Any]:
        """The object on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found


class Shell:
    """A project, and a Claude Code on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        (self.project / "request.md").write_text("Make the cart faster")
        self.env = {
            "PATH": f"{folder}/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "PYTHONPATH": str(ROOT / "python"),
            "CLAUDE_CODE_API_KEY": "key",
        }
        self.player: Player | None = None

    def plays(self, *gives: object) -> Player:
        """Claude Code gives these, one after the other; a list is played as it is."""
        plays = [give if isinstance(give, list) else [result(give)] for give in gives]
        self.player = Player(self.folder / "bin", *plays)
        return self.player

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "winnow", "clarify", *arguments]

    def run(self, *arguments: str, stdin: str = "", **env: str) -> Ended:
        """Run it with the request in its file."""
        own = {"--request", "--resume"} & set(arguments)
        request = () if own else ("--request", "request.md")
        ran = subprocess.run(
            self.command(*request, *arguments),
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.project,
            env={**self.env, **env},
            check=False,
            timeout=100,
        )
        return Ended(ran.returncode, ran.stdout, ran.stderr)

    def answers(self, given: object) -> str:
        path = self.folder / "answers.json"
        path.write_text(json.dumps(given))
        return str(path)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


ROUNDS = [
    round_of(question("Which cart?", "All")),
    round_of(question("How fast?", "1 s"), question("Who waits?")),
    round_of(question("Who buys?", "Guests")),
]


def test_three_rounds_with_the_answers_from_a_file(shell: Shell) -> None:
    """Progress on stderr, one object on stdout, the specification in its file."""
    looks = [speech(text("I look at the cart.")), result(ROUNDS[0])]
    player = shell.plays(looks, *ROUNDS[1:], NONE, SPEC)
    given = shell.answers(["All", "1 s", "You decide", "everybody"])
    ended = shell.run("--answers", given, "--out", "out/spec.md")
    assert ended.code == 0
    assert ended.progress.strip() == "▸ I look at the cart."
    assert ended.told["state"] == "done"
    assert [entry["answer"] for entry in ended.told["log"]] == [
        *("All", "1 s", "The cart", "everybody"),
    ]
    spec = shell.project / "out" / "spec.md"
    assert ended.told["spec"] == str(spec)
    assert ended.told["text"] == spec.read_text()
    assert "- Who waits? → The cart (assumed)" in spec.read_text()
    starts = player.starts
    assert len(starts) == 5
    assert {start.value("--resume") for start in starts[1:]} == {starts[0].value("--session-id")}
    assert {start.env["ANTHROPIC_API_KEY"] for start in starts} == {"key"}
    assert {start.cwd for start in starts} == {str(shell.project)}


def test_without_answers_the_questions_come_out(shell: Shell) -> None:
    """And with them in a file by question, it goes on."""
    shell.plays(ROUNDS[0])
    ended = shell.run()
    assert (ended.code, ended.told["state"], ended.told["spec"]) == (0, "asking", None)
    (asked,) = ended.told["questions"]
    assert (asked["question"], asked["recommended"]["answer"]) == ("Which cart?", "The cart")
    shell.plays(ROUNDS[0], NONE, SPEC)
    ended = shell.run("--answers", shell.answers({"Which cart?": "All"}))
    assert ended.told["state"] == "done"
    (spec,) = (shell.project / "specs").iterdir()
    assert ended.told["spec"] == str(spec)


def test_plain_questions_are_bare_strings(shell: Shell) -> None:
    player = shell.plays({"questions": ["Which cart is it?"]})
    ended = shell.run("--plain")
    assert ended.told["questions"] == ["Which cart is it?"]
    schema = json.loads(player.starts[0].value("--json-schema"))
    assert schema["properties"]["questions"]["items"] == {"type": "string", "minLength": 5}


def test_no_question_is_a_notice(shell: Shell) -> None:
    shell.plays({"questions": []}, SPEC)
    ended = shell.run("--plain")
    assert "There is nothing to ask" in ended.progress
    assert ended.told["state"] == "done"


@pytest.mark.parametrize("key", [None, "", " "])
def test_without_a_key_nothing_is_shown(shell: Shell, key: str | None) -> None:
    """Before anything else, also before it is seen that there is no request."""
    player = shell.plays(NONE)
    shell.env.pop("CLAUDE_CODE_API_KEY")
    ended = shell.run(
        "--request", "gone.md", **({} if key is None else {"CLAUDE_CODE_API_KEY": key})
    )
    assert (ended.code, ended.out) == (3, "")
    assert ended.progress.startswith("There is nothing to log in with: set CLAUDE_CODE_API_KEY")
    assert player.starts == []


def test_another_key_serves_as_well(shell: Shell) -> None:
    player = shell.plays(ROUNDS[0])
    assert shell.run(CLAUDE_CODE_API_KEY="", ANTHROPIC_API_KEY="other").code == 0
    assert player.starts[0].env["ANTHROPIC_API_KEY"] == "other"


@pytest.mark.parametrize(
    ("arguments", "stdin", "why"),
    [
        (["--request", "gone.md"], "", "can't be read"),
        (["--request", "-"], " \n", "The request is empty"),
        (["--request", "-"], "x" * (1 << 20), "400,000 is the most"),
        (["--out", "request.md"], "", "exists"),
        (["--answers", "request.md"], "", "holds no answers"),
        (["--nonsense"], "", "unrecognized"),
    ],
)
def test_wrong_arguments(shell: Shell, arguments: list[str], stdin: str, why: str) -> None:
    player = shell.plays(NONE)
    ended = shell.run(*arguments, stdin=stdin)
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.progress
    assert player.starts == []


@pytest.mark.parametrize("arguments", [["nonsense"], ["--help"]])
def test_the_dispatcher(shell: Shell, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "winnow", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, env=shell.env, check=False)
    assert "clarify" in ran.stdout + ran.stderr
    assert ran.returncode == (0 if arguments == ["--help"] else 2)


def test_the_help_tells_the_exit_codes(shell: Shell) -> None:
    assert "exit codes:\n  0    done" in shell.run("--help").out


def test_claude_code_fails(shell: Shell) -> None:
    """In mid round; one sentence, and no object."""
    shell.plays(ROUNDS[0], [speech(text("I look.")), {"kill": signal.SIGKILL}])
    ended = shell.run("--answers", shell.answers(["All"]))
    assert (ended.code, ended.out) == (1, "")
    assert "Claude Code ended" in ended.progress


def test_the_file_can_t_be_written(shell: Shell) -> None:
    """What it would hold is told all the same."""
    shell.plays(NONE, SPEC)
    (shell.project / "specs").write_text("no folder")
    ended = shell.run()
    assert ended.code == 4
    assert "**AC-1**" in ended.told["text"]


def test_it_is_interrupted(shell: Shell) -> None:
    """Claude Code ends with it, and its file goes."""
    player = shell.plays([speech(text("I look.")), {"hang": 1}])
    running = subprocess.Popen(
        shell.command("--request", "request.md"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=shell.project,
        env=shell.env,
    )
    assert running.stderr is not None
    assert running.stderr.readline() == "▸ I look.\n"
    running.send_signal(signal.SIGINT)
    out, progress = running.communicate(timeout=60)
    assert (running.returncode, out, progress) == (130, "", "Interrupted.\n")
    assert not Path(player.starts[0].file).exists()


ASKED = "   A number or your own words; <Enter>: 1; enough: no more questions.\n"


def test_on_a_terminal_it_asks_one_by_one(shell: Shell) -> None:
    """A number, own words, or nothing for what is recommended; not what was typed before."""
    both = round_of(question("Which cart?", "All"), question("How fast?", "1 s"), question("Who?!"))
    shell.plays(both, NONE, SPEC)
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        shell.command("--request", "request.md"),
        stdin=theirs,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=shell.project,
        env=shell.env,
    )
    os.write(ours, b"too early\n")
    stderr = running.stderr
    assert stderr is not None
    shown = "".join(iter(stderr.readline, ASKED))
    os.write(ours, b"2\n\nonly guests\n")
    out, more = running.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    log = [entry["answer"] for entry in json.loads(out)["log"]]
    assert log == ["All", "The cart", "only guests"]
    assert "1/3 Scope: Which cart?\n   Why: It is big.\n   1  The cart — recommended: " in shown
    assert "   2  All — about All\n" in shown
    assert "   → All\n" in more


def test_progress_comes_at_once(shell: Shell) -> None:
    """Within a tenth of a second, from what Claude Code writes to the line."""

    def took() -> float:
        shell.plays([speech(text("at TIME")), {"hang": 1}])
        running = subprocess.Popen(
            shell.command("--request", "request.md"),
            stderr=subprocess.PIPE,
            text=True,
            cwd=shell.project,
            env=shell.env,
        )
        assert running.stderr is not None
        line = running.stderr.readline()
        seconds = time.time() - float(line.split()[-1])
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        return seconds

    assert any(took() < 0.1 for _ in range(3))  # the machine may be busy with something else


def test_three_rounds_with_the_real_cli(shell: Shell, real: Stage) -> None:
    """It reads the project, asks, and the specification is in its file."""
    (shell.project / "cart.py").write_text("slow = True\n")
    read = api.ToolUse("Read", {"file_path": str(shell.project / "cart.py")}, "toolu_r")
    real.server.add(api.say("I look.", read))
    for number, given in enumerate([*ROUNDS, NONE, SPEC]):
        real.server.add(api.say(api.ToolUse("StructuredOutput", given, f"toolu_{number}")))
    env = {**real.server.env(shell.home / "config"), "PATH": "/usr/bin:/bin"}
    env.pop("ANTHROPIC_API_KEY")
    answers = shell.answers(["All", "1 s", "You decide", "everybody"])
    ended = shell.run("--answers", answers, "--out", "spec.md", **env)
    assert ended.code == 0, ended.progress
    assert "▸ I look." in ended.progress
    assert "slow = True" in real.server.tool_result("toolu_r")
    assert "- Who waits? → The cart (assumed)" in (shell.project / "spec.md").read_text()


def test_what_was_answered_outlives_a_crash(shell: Shell) -> None:
    """Claude Code ends in mid round: with the id it goes on, and asks nothing twice."""
    player = shell.plays(ROUNDS[0], [{"exit": 3}], ROUNDS[1], NONE, SPEC)
    given = shell.answers(["All", "1 s", "You decide"])
    ended = shell.run("--answers", given, "--out", "spec.md")
    assert ended.code == 1
    kept = "What was answered is kept, and it goes on with --resume "
    (line,) = [line for line in ended.progress.split("\n") if line.startswith(kept)]
    id = line.rstrip(".").removeprefix(kept)
    assert "Which cart? → All" in (shell.project / "spec.md").read_text()
    ended = shell.run("--resume", id, "--answers", given)
    assert ended.code == 0
    assert [entry["answer"] for entry in ended.told["log"]] == ["All", "1 s", "The cart"]
    assert "Which cart?" in player.starts[2].prompt
    assert "AC-1" in (shell.project / "spec.md").read_text()


def test_with_nobody_to_answer_it_goes_on_later(shell: Shell) -> None:
    """The open questions are answered, not asked of the model again."""
    shell.plays(ROUNDS[1], NONE, SPEC)
    ended = shell.run()
    assert ended.told["state"] == "asking"
    again = shell.run("--resume", ended.told["id"], "--answers", shell.answers(["1 s", "All"]))
    assert again.code == 0
    assert [entry["answer"] for entry in again.told["log"]] == ["1 s", "All"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--resume", "nope"), "Nothing is known of nope"),
        (("--resume", "nope", "--request", "request.md"), "say what is wanted"),
    ],
)
def test_what_can_t_be_resumed(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    shell.plays()
    ended = shell.run(*arguments)
    assert ended.code == 2
    assert said in ended.progress


# Python itself looks for `importlib` and `pkgutil` before any of ours is run.
SHADOWED = (
    "json",
    "argparse",
    "asyncio",
    "sqlite3",
    "msgspec",
    "select",
    "uuid",
    "claude_agent_sdk",
)


@pytest.mark.parametrize("isolated", [("-I",), ()], ids=["isolated", "not"])
def test_no_module_of_the_project_is_run(shell: Shell, isolated: tuple[str, ...]) -> None:
    """One that is called as ours is runs without -I, where there is nothing that we could do."""
    ran = shell.folder / "ran"
    for name in (
        *SHADOWED,
        *(("winnow/__init__", "winnow/__main__", "importlib") if isolated else ()),
    ):
        path = shell.project / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(ran)!r}, 'w').close()\n")
    command = [sys.executable, *isolated, "-m", "winnow", "run", "--goal", "request.md"]
    told = subprocess.run(
        [*command, "--agent", "scripted", "--state", str(shell.folder / "state")],
        cwd=shell.project,
        env=shell.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"type":"run_started"' in told.stdout
    assert not ran.exists()


def test_what_a_model_says_acts_on_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither as text nor as JSON, which stays the same JSON."""
    evil = "\x1b]0;title\x07 \x9b31m \x7f \u202e\u2066 \r"
    tell(f"{evil}\nsecond")
    give(json.dumps({"text": evil}, ensure_ascii=False))
    out, err = capsys.readouterr()
    assert not set(evil) - {" ", *"0;title31m]"} & {*out, *err}
    assert err.endswith("\nsecond\n")
    assert json.loads(out) == {"text": evil}
