"""``python -m winnow run``: a whole process, with the scripted agent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from winnow.core.ledger import ledger
from winnow.core.ledger.ledger import Decision

PYTHON = Path(__file__).parents[2] / "python"
ASKS = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
SCENARIO: dict[str, Any] = {
    "turns": [
        [
            {
                "type": "call",
                "name": "create_tasks",
                "input": {"tasks": [{"title": "Schema", "prompt": "Write it."}]},
            }
        ],
        [{"type": "say", "text": "I see."}],
    ],
    "when": [
        {
            "words": "“Schema” asks",
            "steps": [{"type": "say", "text": "[NEED_HUMAN: Which database shall it use?]"}],
        },
        {
            "words": "“Schema” is done",
            "steps": [{"type": "call", "name": "finish", "input": {"summary": "There it is."}}],
        },
    ],
    "workers": {
        "Schema": {
            "turns": [
                [
                    {"type": "call", "name": "ask_orchestrator", "input": ASKS},
                    {"type": "say", "text": "The schema is for {result}."},
                ]
            ]
        }
    },
}


class Shell:
    """A folder in which it is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("goal.txt", "Build the cart")
        self.write("scenario.json", json.dumps(SCENARIO))
        self.write("places.json", '[{"name": "a"}, {"name": "a"}]')

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def run(self, *arguments: str, input: str = "") -> tuple[int, list[dict[str, Any]], str]:
        """The exit code, what came on stdout, and stderr."""
        scripted = ("--agent", "scripted", "--scenario", "scenario.json", "--state", "state")
        done = subprocess.run(
            [sys.executable, "-m", "winnow", "run", *scripted, *arguments],
            cwd=self.folder,
            env={"PYTHONPATH": str(PYTHON), "PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, list(map(json.loads, done.stdout.splitlines())), done.stderr


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def kinds(events: Sequence[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


ANSWER = Decision(
    "Which database shall it use?",
    ("PostgreSQL", "SQLite"),
    kept=("SQLite",),
    dropped=("PostgreSQL",),
    header="t1 Schema",
)


def test_a_recorded_answer_takes_it_to_its_end(shell: Shell) -> None:
    """Each event is a line, in the order in which it happened."""
    shell.write("answers.json", "\n".join(ledger.to_json([ANSWER])))
    code, events, _ = shell.run("--goal", "goal.txt", "--answers", "answers.json")
    assert code == 0
    assert [kind for kind in kinds(events) if kind not in ("session_known", "spent")] == [
        *("run_started", "task_created", "task_started", "worker_asked", "human_query_requested"),
        *("human_query_answered", "task_resumed_after_human_query", "query_delivered"),
        *("task_done", "run_finished"),
    ]
    done = next(event for event in events if event["type"] == "task_done")
    assert done["summary"] == "The schema is for SQLite."
    assert events[0]["goal"] == "Build the cart"
    assert all(event["run"] == events[0]["run"] and event["at"] > 1e9 for event in events)


def test_a_question_without_an_answer_ends_it(shell: Shell) -> None:
    """It is the last line, and the run can be gone on with."""
    code, events, stderr = shell.run("--goal", "-", input="Build the cart")
    assert code == 3
    assert events[-1]["type"] == "unanswered"
    assert "Which database shall it use?" in events[-1]["text"]
    assert "Which database shall it use?" in stderr
    assert "human_query_requested" in kinds(events)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there is no goal"),
        (("--goal", "missing.txt"), "missing.txt can't be read: No such file"),
        (("--goal", "goal.txt", "--mode", "nonsense"), "invalid choice: 'nonsense'"),
        (("--run", "nonsense"), "there is no run nonsense"),
        (("--goal", "goal.txt", "--answers", "goal.txt"), ""),
        (("--goal", "goal.txt", "--places", "goal.txt"), "malformed"),
        (("--goal", "goal.txt", "--places", "places.json"), "a name of its own"),
        (("--goal", "goal.txt", "--merge"), "add --worktree"),
        (("--goal", "goal.txt", "--max-workers", "0"), "--max-workers must be at least 1"),
    ],
)
def test_wrong_arguments(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    """Nothing happens, and a line says why."""
    code, events, stderr = shell.run(*arguments)
    assert (code, events) == (2, [])
    assert said in stderr
    assert "Traceback" not in stderr


def test_without_a_login_nothing_begins(shell: Shell) -> None:
    code, events, stderr = shell.run("--goal", "goal.txt", "--agent", "claude")
    assert (code, events) == (1, [])
    assert "nothing to log in with" in stderr


def test_an_orchestrator_that_does_nothing_is_no_success(shell: Shell) -> None:
    turns = [[{"type": "say", "text": "Done, I think."}]]
    shell.write("scenario.json", json.dumps({"turns": turns}))
    code, events, stderr = shell.run("--goal", "goal.txt")
    assert code == 1
    assert kinds(events) == ["run_started"]
    assert stderr.count("without finishing the run") == 1


def test_each_task_has_a_worktree(shell: Shell) -> None:
    """Where places are, and a gate, is said, too; nothing was changed, so nothing is left."""
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@example.com"]
    for command in (["init", "-q"], ["add", "goal.txt"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], cwd=shell.folder, check=True)
    shell.write("answers.json", "\n".join(ledger.to_json([ANSWER])))
    shell.write("places.json", '[{"name": "here", "slots": 1}]')
    ends = {"words": "is left to be merged", "steps": SCENARIO["when"][1]["steps"]}
    shell.write("scenario.json", json.dumps({**SCENARIO, "when": [*SCENARIO["when"], ends]}))
    trees = ("--worktree", "--merge", "--gate", "true", "--places", "places.json")
    code, events, said = shell.run("--goal", "goal.txt", "--answers", "answers.json", *trees)
    assert (code, said) == (0, "")
    assert {"tree_made", "tree_removed"} < set(kinds(events))
    assert events[0]["limits"]["gate"] == "true"
    assert events[0]["limits"]["worker"]["worktree"] is True
    assert kinds(events)[-1] != "unmerged"


def test_what_waits_for_nothing_more_ends_it(shell: Shell) -> None:
    """A task failed, another one waits for it, and the orchestrator does nothing."""
    tasks = [{"title": "A", "prompt": "x"}, {"title": "B", "prompt": "x", "waits_for": ["A"]}]
    make = {"type": "call", "name": "create_tasks", "input": {"tasks": tasks}}
    cancel = {"type": "call", "name": "cancel_task", "input": {"task": "t1"}}
    shell.write("scenario.json", json.dumps({"turns": [[make, cancel]]}))
    code, _, stderr = shell.run("--goal", "goal.txt")
    assert code == 1
    assert "t2 “B” blocked(dependency): waits for t1, which was cancelled" in stderr
